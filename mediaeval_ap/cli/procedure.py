"""Options of how runs are compared, which several commands have."""

from __future__ import annotations

from mediaeval_ap import choices
from mediaeval_ap.cli import options
from mediaeval_ap.definitions import LARGEST_CUTOFF


def procedure_options(correction: choices.Correction) -> options.Decorator:
    """Return the options of intervals and tests, with a default for the correction."""
    return options.together(
        options.option(
            '--baseline',
            heading='Scoring',
            metavar='RUN',
            help='Run to compare the others with, by its name.  [default: none]',
        ),
        options.choice(
            '--correction',
            choices.CORRECTIONS,
            correction,
            'Correction of p for many pairs: {words}; tukey also forms groups.',
        ),
        options.choice(
            '--interval',
            choices.INTERVALS,
            'bca',
            'Confidence intervals: {words} (BCa bootstrap, Student).',
        ),
        options.valued(
            '--level',
            default=choices.LEVEL,
            help='Level of confidence, between 0 and 1.',
            heading='Scoring',
            type=float,
            metavar='NUMBER',
            callback=options.checked(choices.check_level),
        ),
        options.choice(
            '--cluster',
            choices.CLUSTERS,
            'none',
            'What is resampled and flipped together: {words}; none is each query by itself.',
        ),
        options.integer(
            '--resamples',
            default=choices.RESAMPLES,
            largest=LARGEST_CUTOFF,
            heading='Scoring',
            help='Number of resamples of the bootstrap.',
        ),
        options.integer(
            '--permutations',
            default=choices.PERMUTATIONS,
            largest=LARGEST_CUTOFF,
            heading='Scoring',
            help='Number of random permutations of a test.',
        ),
        options.integer(
            '--seed', default=0, least=0, heading='Scoring', help='Seed of all random numbers.'
        ),
    )

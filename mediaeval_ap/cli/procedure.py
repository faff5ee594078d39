"""Options of how runs are compared, which several commands have."""

from __future__ import annotations

from collections.abc import Iterable

import click

from mediaeval_ap import choices
from mediaeval_ap.cli import options
from mediaeval_ap.definitions import LARGEST_CUTOFF
from mediaeval_ap.errors import ParameterError


def procedure_options() -> options.Decorator:
    """Return the options of tests and intervals."""
    return options.together(_tests(), _intervals(), _random_numbers())


def _tests() -> options.Decorator:
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
            'holm',
            'Correction of p for many pairs: {words}.',
        ),
    )


def _intervals() -> options.Decorator:
    return options.together(
        options.choice(
            '--interval',
            choices.INTERVALS,
            'plus2',
            'Confidence intervals of differences: {words}; those of means are bca, or t.',
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
            None,
            'What is resampled and flipped together: {words}; none is each query by itself.  '
            '[default: video, where there are 50 or more]',
        ),
    )


def _random_numbers() -> options.Decorator:
    return options.together(
        options.integer(
            '--resamples',
            default=choices.RESAMPLES,
            largest=LARGEST_CUTOFF,
            heading='Scoring',
            help='Number of resamples of the bootstrap.',
        ),
        options.integer(
            '--permutations',
            default=None,
            largest=LARGEST_CUTOFF,
            heading='Scoring',
            help='Number of random permutations of a test.  [default: 100,000; tukey 10,000]',
        ),
        options.integer(
            '--seed', default=0, least=0, heading='Scoring', help='Seed of all random numbers.'
        ),
    )


def named_runs(runs: Iterable[str], baseline: str | None) -> dict[str, str]:
    """Return runs by the names that tell them apart, and refuse a baseline that is none of them."""
    from mediaeval_ap.campaign.run_names import named
    from mediaeval_ap.comparison.settings import check_baseline

    try:
        runs_by_name = named(runs)
    except ParameterError as error:
        raise click.UsageError(str(error)) from error
    try:
        check_baseline(baseline, runs_by_name)
    except ParameterError as error:
        raise click.UsageError(f'--{error}') from error
    return runs_by_name

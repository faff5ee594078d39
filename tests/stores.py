"""Stores of a few rows."""

import warnings

from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store.indexing import write_store
from mediaeval_ap.store.manifest import Input
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, read


def stored(rows, path, subset=None):
    """A store of the rows of a run that are in a subset."""
    table = read(rows, HYPOTHESIS)
    inputs = [Input(table.source.name, table.source.sha256, len(table))]
    if subset is not None:
        subset = read(subset, SUBSET)
        table = table.select(table.within(subset))
    return write_store(Ranking(table), path, subset=subset, inputs=inputs)


def told(function, *arguments, **settings):
    """What a function returns, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        result = function(*arguments, **settings)
    return result, [(type(each.message), str(each.message)) for each in caught]


def about(evaluation, warned, run):
    """All that an evaluation says, but for the name of the run.

    A store has no row outside its subset, so it cannot tell why none is inside.
    """
    texts = [(kind, text.partition(', so it returns nothing')[:2]) for kind, text in warned]
    return (
        evaluation.queries,
        evaluation.ap.tobytes(),
        evaluation.n_relevant.tolist(),
        dict(evaluation.counts),
        evaluation.notes,
        [(kind, ''.join(parts).replace(run, '<hypothesis>')) for kind, parts in texts],
    )

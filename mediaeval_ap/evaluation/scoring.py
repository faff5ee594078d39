"""Average precision of queries on one run, from their listings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.definitions import Cutoff, depths
from mediaeval_ap.errors import DataWarning, printable
from mediaeval_ap.evaluation import data_warnings
from mediaeval_ap.evaluation.listing import Lister
from mediaeval_ap.evaluation.prepared_run import PreparedRun, SelectedQueries
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.notes import SKIPPED, count_of_skipped
from mediaeval_ap.tables import Provenance


class Scores(NamedTuple):
    ap: Floats  # (n_queries, n_cutoffs)
    n_relevant: NDArray[np.int64]
    judged: Floats | None = None  # the judged share of the first k, as `ap`


def score(
    lister: Lister, queries: Sequence[str], K: Sequence[Cutoff], *, with_shares: bool = False
) -> Scores:
    cutoffs = depths(K)
    listings = lister.listings(queries, max(cutoffs), only_hits=not with_shares)
    ranks = []
    n_relevant = []
    n_ranked = []
    shares = []
    for _, listing in zip(tracked(queries, 'scoring', ' queries'), listings, strict=True):
        ranks.append(listing.hits + 1)
        n_relevant.append(listing.n_relevant)
        n_ranked.append(listing.n_ranked)
        if with_shares:
            shares.append(lister.share_judged(listing, cutoffs))
    hits = RankedHits.of(ranks, n_relevant, n_ranked)
    judged = np.array(shares).reshape(-1, len(cutoffs)) if with_shares else None
    return Scores(hits.ap(cutoffs, lister.definition), hits.n_relevant, judged)


def evaluate_run(
    run: PreparedRun, queries: SelectedQueries, scores: Scores | None = None
) -> Evaluation:
    """Evaluate a run on all selected queries; `scores` are their values if they are known."""
    evaluation = score_names(run, queries.names, queries.source, scores)
    return finish_evaluation(evaluation, queries.n_skipped, run.warnings_with(queries.warnings))


def score_names(
    run: PreparedRun,
    names: list[str],
    source: Provenance | None,  # of the queries; None if they are the names of the reference
    scores: Scores | None = None,
) -> Evaluation:
    """Score a run on names, all queries or a block of them, without warnings."""
    criteria = run.criteria
    if scores is None:
        with_shares = criteria.judgements is not None
        scores = score(run.lister, names, criteria.K, with_shares=with_shares)
    counts = {
        'queries': len(names),
        'queries_without_relevant': int(np.count_nonzero(scores.n_relevant == 0)),
        **count_of_skipped(criteria.queries_without_relevant, 0),
        'placeholders': criteria.reference.n_placeholders if source is None else 0,
        **run.counts,
    }
    reference, *further_inputs = criteria.sources(source).items()
    inputs = dict([reference, ('hypothesis', run.ranking.source), *further_inputs])
    return Evaluation(
        names,
        list(criteria.K),
        ap=scores.ap,
        n_relevant=scores.n_relevant,
        definition=criteria.definition,
        inputs=inputs,
        counts=counts,
        parameters=criteria.parameters,
        judged=scores.judged,
    )


def finish_evaluation(
    evaluation: Evaluation, n_skipped: int, warnings: Sequence[DataWarning] = ()
) -> Evaluation:
    """Add the number of queries left out, and warnings: no block of queries knows all of them."""
    counts = evaluation.counts
    inputs = evaluation.inputs
    definition = evaluation.definition
    if SKIPPED in counts:
        counts = {**counts, SKIPPED: n_skipped}
    reference = printable(inputs['reference'].name)
    run = inputs['hypothesis'].name
    above_one = data_warnings.queries_above_one(evaluation.ap, evaluation.queries)
    about_values = data_warnings.scores_above_one(
        above_one, len(evaluation.queries), run, definition
    )
    if evaluation.n_relevant.any():  # else a warning says that no query is a name
        about_values += data_warnings.without_relevant(reference, evaluation.n_relevant, definition)
    return replace(evaluation, counts=counts, warnings=(*warnings, *about_values))

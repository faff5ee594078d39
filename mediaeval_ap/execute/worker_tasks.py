"""Tasks of workers: pack a run, open it once in each worker, cache it there, and score it."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.prepared_run import PreparedRun, SelectedQueries, select_queries
from mediaeval_ap.evaluation.scoring import score_names
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Provenance, Table
from mediaeval_ap.tables.table import Names

if TYPE_CHECKING:
    from mediaeval_ap.store.store import Store

N_OPENED_RUNS = 4  # in the cache of a worker


@dataclass(frozen=True, eq=False)
class EvaluationRequest:
    """The criteria, queries and measures by which each run is scored."""

    criteria: Criteria
    selected_queries: SelectedQueries
    query_table: Table | None
    measures: tuple[str, ...]  # of ir_measures

    @classmethod
    def of(
        cls, criteria: Criteria, queries: Names | None, measures: str | Iterable[str]
    ) -> EvaluationRequest:
        """Read the queries, and check the measures."""
        texts: tuple[str, ...] = ()
        if measures:
            from mediaeval_ap.trec.measures import check_columns, parse_measures, refuse_nonrelevant

            parsed_measures = parse_measures(measures)
            if criteria.judgements is None:
                refuse_nonrelevant(parsed_measures)
            check_columns(parsed_measures, criteria.K)
            texts = tuple(map(str, parsed_measures))
        table = criteria.read_queries(queries)
        return cls(criteria, select_queries(criteria, table), table, texts)

    def pack(self, run: Ranking | Store | None = None) -> bytes:
        """Pickle the data that all tasks share; a store as path and digest, a ranking as arrays."""
        if isinstance(run, Ranking):
            run = copy(run)
            vars(run).pop('_table', None)  # scoring does not need it
        shared = self.criteria, run, self.selected_queries.source, self.measures
        return pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)


class OpenedRun(NamedTuple):
    """A run that a worker has opened, with the other data that tasks share."""

    run: PreparedRun
    queries_source: Provenance | None
    measures: Sequence[str]


def score_block(packed: bytes, names: Sequence[str]) -> Evaluation:
    """Score a packed run on the names of a block; runs in a worker."""
    return score_queries(unpack_run(packed), names)


@lru_cache(N_OPENED_RUNS)
def unpack_run(packed: bytes) -> OpenedRun:
    """Unpack and open a run; later tasks of this worker get it from the cache."""
    from mediaeval_ap.store.store import Store

    criteria, run, queries_source, measures = pickle.loads(packed)
    ranking = run.ranking if isinstance(run, Store) else run
    return OpenedRun(PreparedRun(criteria, ranking, len(ranking)), queries_source, measures)


def score_queries(opened: OpenedRun, names: Sequence[str]) -> Evaluation:
    """Score a run on names, also by measures of ir_measures, without warnings."""
    run, queries_source, measure_texts = opened
    evaluation = score_names(run, list(names), queries_source)
    if not measure_texts:
        return evaluation
    from mediaeval_ap.trec.measures import (
        counts_nonrelevant,
        depth_of,
        parse_measures,
        with_measures,
    )
    from mediaeval_ap.trec.topics import topics

    measures = parse_measures(measure_texts)
    with_all_judged = any(map(counts_nonrelevant, measures))
    ranked_topics = topics(run, list(names), depth_of(measures), with_all_judged=with_all_judged)
    return with_measures(evaluation, ranked_topics, measures)

"""Topics of TREC as names: qrels are a reference, and runs are rankings, read by all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.errors import DataWarning, ParameterError, shown
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.judged import Judged
from mediaeval_ap.evaluation.prepared_run import PreparedRun, prepare_run
from mediaeval_ap.evaluation.relevance import Reference
from mediaeval_ap.ranking.topic_ranking import TopicRanking
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, REFERENCE, Column, Layout, Provenance, Table
from mediaeval_ap.tables.layouts import JUDGED
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.table import Names
from mediaeval_ap.trec.entries import Entries, comparable_scores
from mediaeval_ap.trec.matched_run import JudgedTopics, MatchedRun
from mediaeval_ap.trec.other_tools import file_in
from mediaeval_ap.trec.sorted_terms import UNORDERED


class TopicReference(Reference):
    """The relevant documents of topics, also of topics without one."""

    def __init__(self, table: Table, counts_again: bool, topics: Sequence[str]) -> None:
        super().__init__(table, counts_again, topics)
        self.queries = list(self.names)  # a topic may begin with ?
        self.n_placeholders = 0

    def about_unknown(self, queries: Sequence[str]) -> list[DataWarning]:
        """Raise ParameterError for a topic that the qrels lack."""
        for query in queries:
            if not self.has(query):
                found = f'{self.name}: found no topic {shown(query)}'
                remedy = 'evaluate-trec --queries FILE counts it 0; compare or report its JSON'
                raise ParameterError(f'{found}; {remedy}', 'query')
        return []


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicCriteria(Criteria):
    """Evaluation criteria from qrels; their rows are judgements if some are of relevance 0."""

    has_names = False
    judged_by = ('pair',)
    columns = MappingProxyType({'person_name': 'qid', 'shot_id': 'docno', 'confidence': 'score'})

    topics: JudgedTopics
    part: str | None  # of runs of MTEB

    @classmethod
    def of(cls, topics: JudgedTopics, part: str | None) -> TopicCriteria:
        """Raise ParameterError for settings that put ties in no order, or leave topics out."""
        if topics.judged.stratum is not None:
            expected = 'all judgements: evaluate-trec and compare estimate xinfAP from a sample'
            raise topics.judged.source.error('strata, as of a sample', expected)
        topics.about_skipped()
        settings = topics.settings
        if settings.ties in UNORDERED:
            ordered = 'an order: trec_eval, trec_eval-9, stable, best or worst'
            raise ParameterError(f'found {settings.ties}, expected {ordered}', 'ties')
        if settings.policy.missing == 'skip':
            reason = 'as all runs need the same topics'
            raise ParameterError(f'found skip, expected error or zero, {reason}', 'missing')
        counted = topics.counted
        rows = counted.select(topics.is_relevant)
        topic = rows.topic
        if settings.skip_or_count == 'skip':  # without the topics that lack a relevant document
            topic = topic.select(np.ones(len(rows), dtype=np.bool_))
        reference = _as_table(rows, topic, REFERENCE)
        judgements = None
        is_nonrelevant = topics.is_judged & ~topics.is_relevant
        if settings.unjudged == 'skip' or is_nonrelevant.any():
            topics.expect_nonrelevant()
            rows = counted.select(topics.is_judged)
            numbers = topics.is_relevant[topics.is_judged].astype(np.float64)
            judgements = Judged(_as_table(rows, rows.topic, JUDGED, numbers), settings.unjudged)
        # Listings leave unjudged documents out, so runs are read with all documents.
        settings = settings._replace(unjudged='nonrelevant')
        return cls(
            reference=TopicReference(
                reference, settings.definition.counts_again, topics.judged.topic.values
            ),
            K=settings.cutoffs,
            definition=settings.definition,
            subset=None,
            queries_without_relevant=settings.skip_or_count,
            judgements=judgements,
            topics=JudgedTopics(settings, topics.judged),
            part=part,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {**self.topics.settings.parameters, **super().parameters}

    def checked_near(self, near: float) -> float:
        return 0

    def sources(self, queries: Provenance | None) -> dict[str, Provenance]:
        qrels = self.topics.judged.source
        return super().sources(None if queries == qrels else queries)

    def read_queries(self, queries: Names | None) -> Table:
        """Read the given topics; None stands for all topics of the qrels."""
        if queries is not None:
            table = super().read_queries(queries)
            assert table is not None
            self.reference.about_unknown(table['person_name'].values)
            return table
        topics = self.topics.judged.topic.values
        codes = np.arange(len(topics), dtype=np.int32)
        columns = {'person_name': Column(codes, topics)}
        return Table(QUERIES, columns, None, self.topics.judged.source)


def _as_table(
    entries: Entries, topic: Column, layout: Layout, numbers: NDArray[np.float64] | None = None
) -> Table:
    """Return topics as names, and documents, sorted, as shots without corpus and video."""
    documents, codes = np.unique(entries.document, return_inverse=True)
    nothing = Column(np.zeros(len(entries), dtype=np.int32), [''])
    document = Column(codes.astype(np.int32), list(map(bytes.decode, documents.tolist())))
    columns = {'corpus_id': nothing, 'video_id': nothing, 'shot_id': document}
    columns['person_name'] = topic
    return Table(layout, columns, numbers, entries.source, entries.lines)


@dataclass(frozen=True, eq=False)
class TopicRun(PreparedRun):
    """A run of TREC, ready to be ranked and scored."""

    matched: MatchedRun

    def warnings_with(self, about_queries: Sequence[DataWarning]) -> list[DataWarning]:
        return [*self.matched.warnings, *about_queries]

    @cached_property
    def counts(self) -> dict[str, int]:
        return self.matched.counts


@prepare_run.register
def _(criteria: TopicCriteria, run: Any) -> TopicRun:
    table_input = TableInput.of(file_in(run), 'run')
    matched = MatchedRun.read(criteria.topics, table_input, criteria.part)
    rows = matched.rows
    ties = criteria.topics.settings.ties
    score = comparable_scores(rows.entries.number, ties).astype(np.float64)
    topic = rows.entries.topic.select(np.ones(len(score), dtype=np.bool_))
    table = _as_table(rows.entries, topic, HYPOTHESIS, score)
    tie_keys = -table['shot_id'].codes  # the first is the last document by its bytes
    if ties == 'stable':
        tie_keys = np.arange(len(score), dtype=np.int32)
    elif ties in ('best', 'worst'):
        tie_keys = (rows.is_hit != (ties == 'best')).astype(np.int32)
    return TopicRun(criteria, TopicRanking(table, tie_keys), len(matched.returned), matched)

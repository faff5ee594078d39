"""A run of a campaign as TREC sees it: topics, documents, and a ranking for each topic."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.atomic_files import write_all_whole
from mediaeval_ap.choices import LARGEST_TREC_DEPTH, check_tag
from mediaeval_ap.errors import MissingIdsWarning, ParameterError, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS

SHOT = HYPOTHESIS.texts[:3]

_encode_in_parts = re.compile(r'[\s%/]').sub
_encode = re.compile(r'[\s%]|\A#').sub  # a line that begins with # is a comment


def _percent(match: re.Match[str]) -> str:
    return quote(match[0], safe='')


def as_word(text: str) -> str:
    """Return text as one word: white space, %, and a # at its beginning are percent-encoded."""
    return _encode(_percent, text)


class Topic(NamedTuple):
    """A query as a topic: its documents, each once."""

    query: str
    relevant: list[str]
    returned: list[str]  # best first

    @property
    def qid(self) -> str:
        """The query as one word."""
        return as_word(self.query)


def topics(criteria: Criteria, ranking: Ranking, queries: Sequence[str], k: int) -> Iterator[Topic]:
    """Yield each query once as a topic, its shots ranked as by the definition ``trec``."""
    if k > LARGEST_TREC_DEPTH:
        raise ParameterError(f'k: found {k}, expected at most {LARGEST_TREC_DEPTH}')
    reference = criteria.reference
    scorer = Scorer(ranking, Relevance(reference, ranking.shots), [k], definitions.get('trec'))
    rows_of = defaultdict(list)
    for row, name in enumerate(reference.table.texts('person_name')):
        rows_of[name].append(row)
    distinct = list(dict.fromkeys(queries))
    for query, top in zip(distinct, scorer.top(distinct, k), strict=True):
        rows = np.array(rows_of[query], dtype=np.int64)
        relevant = _documents({field: reference.table.texts(field, rows) for field in SHOT})
        returned = _documents(ranking.shots.ids_of(ranking.shot_at[top.places]))
        yield Topic(query, list(dict.fromkeys(relevant)), returned)


def _documents(shots: Mapping[str, Sequence[str]]) -> list[str]:
    """Return shots, by field, as documents: corpus/video/shot, each percent-encoded."""
    parts = ([_encode_in_parts(_percent, text) for text in shots[field]] for field in SHOT)
    return list(map('/'.join, zip(*parts, strict=True)))


def export(
    topics: Sequence[Topic],
    qrels: str | os.PathLike[str],
    run: str | os.PathLike[str],
    tag: str,
) -> None:
    """Write topics as qrels and as a run: both files, or none."""
    if os.path.realpath(qrels) == os.path.realpath(run):
        raise ParameterError(f'run: found {shown(os.fspath(run))} again, expected another file')
    tag = check_tag(tag)
    qrels_text = ''.join(f'{topic.qid} 0 {shot} 1\n' for topic in topics for shot in topic.relevant)
    # Scores are integers that decrease strictly, so that no reader orders the lines anew.
    run_text = ''.join(
        f'{topic.qid} Q0 {shot} {rank} {len(topic.returned) + 1 - rank} {tag}\n'
        for topic in topics
        for rank, shot in enumerate(topic.returned, 1)
    )
    if n_without := sum(not topic.relevant for topic in topics):
        without = f'{n_without} of {len(topics)} queries have no relevant shot'
        warn_caller([MissingIdsWarning(f'{without}, and are not in the qrels')])
    write_all_whole({qrels: qrels_text, run: run_text})

"""A run of a campaign as TREC sees it: topics, documents, and a ranking for each topic."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.atomic_files import write_all_whole
from mediaeval_ap.choices import LARGEST_TREC_DEPTH, check_tag
from mediaeval_ap.errors import MissingIdsWarning, ParameterError, shown, warn_caller
from mediaeval_ap.evaluation.scoring import CountedRun, Scorer
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, Table
from mediaeval_ap.tables.table import texts_at

SHOT = HYPOTHESIS.texts[:3]
NO_SHOTS = np.empty(0, dtype=np.int32)

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


def topics(run: CountedRun, queries: Sequence[str], k: int) -> list[Topic]:
    """Return each query once as a topic, its shots ranked as by the definition ``trec``."""
    if k > LARGEST_TREC_DEPTH:
        raise ParameterError(f'k: found {k}, expected at most {LARGEST_TREC_DEPTH}')
    distinct = list(dict.fromkeys(queries))
    scorer = Scorer(run.ranking, run.scorer.relevance, [k], definitions.get('trec'))
    shot_at = run.ranking.shot_at
    returned = _returned([shot_at[top.places] for top in scorer.top(distinct, k)], run.ranking)
    return list(map(Topic, distinct, _relevant(distinct, run.criteria.reference.table), returned))


def _relevant(queries: list[str], reference: Table) -> list[list[str]]:
    """Return the documents of each query in the order of the reference, each once."""
    name = reference['person_name']
    codes = name.positions(queries)
    rows = np.isin(name.codes, codes).nonzero()[0]
    columns = [reference[field] for field in SHOT]
    documents = _documents((column.values, column.codes[rows]) for column in columns)
    of_name: dict[int, dict[str, None]] = {code: {} for code in codes}
    for code, document in zip(name.codes[rows].tolist(), documents, strict=True):
        of_name[code][document] = None
    return [list(of_name[code]) for code in codes]


def _returned(ranked: list[NDArray[np.integer]], ranking: Ranking) -> list[list[str]]:
    """Return ranked shots as documents: most are ranked for more than one query."""
    shots, numbers = np.unique(np.concatenate([NO_SHOTS, *ranked]), return_inverse=True)
    ids, codes = ranking.shots.ids, ranking.shots.codes_of(shots)
    documents = _documents((ids[field], codes[field]) for field in SHOT)
    ends = list(accumulate(map(len, ranked)))
    of_rank = [documents[number] for number in numbers.tolist()]
    return [of_rank[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def _documents(shots: Iterable[tuple[Sequence[str], NDArray[np.integer]]]) -> list[str]:
    """Return shots as documents, corpus/video/shot, from distinct texts and codes of each field.

    Each text that occurs is percent-encoded once.
    """
    fields = []
    for texts, codes in shots:
        distinct, numbers = np.unique(codes, return_inverse=True)
        words = [_encode_in_parts(_percent, text) for text in texts_at(texts, distinct)]
        fields.append([words[number] for number in numbers.tolist()])
    return list(map('/'.join, zip(*fields, strict=True)))


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
    of_qid = [(topic.qid, topic) for topic in topics]
    qrels_text = ''.join(f'{qid} 0 {shot} 1\n' for qid, topic in of_qid for shot in topic.relevant)
    # Scores are integers that decrease strictly, so that no reader orders the lines anew.
    run_text = ''.join(
        f'{qid} Q0 {shot} {rank} {len(topic.returned) + 1 - rank} {tag}\n'
        for qid, topic in of_qid
        for rank, shot in enumerate(topic.returned, 1)
    )
    if n_without := sum(not topic.relevant for topic in topics):
        without = f'{n_without} of {len(topics)} queries have no relevant shot'
        warn_caller([MissingIdsWarning(f'{without}, and are not in the qrels')])
    write_all_whole({qrels: qrels_text, run: run_text})

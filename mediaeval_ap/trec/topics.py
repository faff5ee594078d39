"""A run of a campaign as TREC sees it: topics, documents, and a ranking for each topic."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.atomic_files import write_all_whole
from mediaeval_ap.choices import LARGEST_TREC_DEPTH, check_tag
from mediaeval_ap.errors import DataWarning, Note, ParameterError, shown, warn_caller
from mediaeval_ap.evaluation.judged import Judged
from mediaeval_ap.evaluation.scoring import PreparedRun, Scorer
from mediaeval_ap.tables.layouts import SHOT_FIELDS
from mediaeval_ap.tables.table import texts_at

NO_SHOTS = np.empty(0, dtype=np.int32)

_encode_in_parts = re.compile(r'[\s%/]').sub
_encode = re.compile(r'[\s%]|\A[#\ufeff]').sub  # a comment begins with #, a file with U+FEFF


def _percent(match: re.Match[str]) -> str:
    return quote(match[0], safe='')


def as_word(text: str) -> str:
    """Return text as one word: white space, %, and # or U+FEFF at its begin are percent-encoded."""
    return _encode(_percent, text)


class Topic(NamedTuple):
    """A query as a topic: its documents, each once."""

    query: str
    relevant: list[str]
    returned: list[str]  # best first
    nonrelevant: list[str]  # judged so


def topics(
    run: PreparedRun, queries: Sequence[str], k: int, *, with_all_judged: bool = False
) -> list[Topic]:
    """Return each query once as a topic, its shots ranked as by the definition ``trec``.

    Judged shots that are not relevant are those that were returned, and as many others as there are
    relevant ones, which is all that a measure of retrieval looks at; or all of them.
    """
    if k > LARGEST_TREC_DEPTH:
        raise ParameterError(f'k: found {k}, expected at most {LARGEST_TREC_DEPTH}')
    distinct = list(dict.fromkeys(queries))
    table = run.criteria.reference.table
    name = table['person_name']
    codes = name.positions(distinct)
    rows = np.isin(name.codes, codes).nonzero()[0]
    columns = [table[field] for field in SHOT_FIELDS]
    documents = _documents((column.values, column.codes[rows]) for column in columns)
    relevant: dict[int, dict[str, None]] = {code: {} for code in codes}
    for code, document in zip(name.codes[rows].tolist(), documents, strict=True):
        relevant[code][document] = None

    ranking = run.ranking
    scorer = Scorer(
        ranking, run.scorer.relevance, [k], definitions.get('trec'), run.criteria.judgements
    )
    ranked = [ranking.shot_at[top.places] for top in scorer.top(distinct, k)]
    # Most shots are ranked for more than one query.
    shots, numbers = np.unique(np.concatenate([NO_SHOTS, *ranked]), return_inverse=True)
    ids = ranking.shots.ids
    shot_codes = ranking.shots.codes_of(shots)
    documents = _documents((ids[field], shot_codes[field]) for field in SHOT_FIELDS)
    of_rank = iter([documents[number] for number in numbers.tolist()])
    documents_of = _judged_documents(run.criteria.judgements)
    found = []
    for query, code, shots_of_query in zip(distinct, codes, ranked, strict=True):
        returned = list(islice(of_rank, len(shots_of_query)))
        wrong = [each for each in documents_of(query) if each not in relevant[code]]
        if not with_all_judged:
            is_returned = set(returned)
            n_others = len(relevant[code])
            others = (each for each in wrong if each not in is_returned)
            wrong = [each for each in wrong if each in is_returned] + [*islice(others, n_others)]
        found.append(Topic(query, list(relevant[code]), returned, wrong))
    return found


def _judged_documents(judgements: Judged | None) -> Callable[[str], Iterable[str]]:
    """Return the function that gives the documents that were judged for a query."""
    if judgements is None:
        return lambda query: ()
    table = judgements.table
    columns = [table[field] for field in SHOT_FIELDS]
    documents = _documents((column.values, column.codes) for column in columns)
    if not judgements.is_of_pairs:
        of_all = dict.fromkeys(documents)
        return lambda query: of_all
    of_name: dict[str, dict[str, None]] = defaultdict(dict)
    for name, document in zip(table.texts('person_name'), documents, strict=True):
        of_name[name][document] = None
    return lambda query: of_name.get(query, ())


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
    topics: Sequence[Topic], qrels: str | os.PathLike[str], run: str | os.PathLike[str], tag: str
) -> None:
    """Write topics that have a relevant document as qrels and as a run: both files, or none."""
    if os.path.realpath(qrels) == os.path.realpath(run):
        raise ParameterError(f'run: found {shown(os.fspath(run))} again, expected another file')
    tag = check_tag(tag)
    of_qid = [(as_word(topic.query), topic) for topic in topics if topic.relevant]
    if not any(topic.returned for _, topic in of_qid):
        found = 'found no shot for a query that has a relevant one'
        raise ParameterError(f'run: {found}, expected some, as no tool reads an empty file')
    qrels_text = ''.join(f'{qid} 0 {shot} 1\n' for qid, topic in of_qid for shot in topic.relevant)
    # Scores are integers that decrease strictly, so that no reader orders the lines anew.
    run_text = ''.join(
        f'{qid} Q0 {shot} {rank} {len(topic.returned) + 1 - rank} {tag}\n'
        for qid, topic in of_qid
        for rank, shot in enumerate(topic.returned, 1)
    )
    if n_without := len(topics) - len(of_qid):
        without = 'have no relevant shot, and are not in the files'
        same = "evaluate with --definition trec --queries-without-relevant skip has the files' mean"
        note = Note(without, n_without, len(topics))
        warn_caller([DataWarning('missing-ids', '', note, f'; {same}')])
    write_all_whole({qrels: qrels_text, run: run_text})

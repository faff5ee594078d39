"""A campaign's run in the terms of TREC: topics, documents, and one ranking per topic."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.atomic_files import Content
from mediaeval_ap.choices import LARGEST_TREC_DEPTH, check_tag
from mediaeval_ap.errors import DataWarning, Note, ParameterError, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.judged import Judged
from mediaeval_ap.evaluation.listing import Lister
from mediaeval_ap.evaluation.prepared_run import PreparedRun, prepare_run, select_queries
from mediaeval_ap.results.notes import NO_RELEVANT
from mediaeval_ap.tables.layouts import SHOT_FIELDS
from mediaeval_ap.tables.table import texts_at

NO_SHOTS = np.empty(0, dtype=np.int32)

_encode_in_parts = re.compile(r'[\s%/]').sub
_encode = re.compile(r'[\s%]|\A#').sub  # a comment begins with #


def _percent(match: re.Match[str]) -> str:
    return quote(match[0], safe='')


def as_word(text: str) -> str:
    """Percent-encode white space, %, and # at the beginning, so that text is one word."""
    return _encode(_percent, text)


class Topic(NamedTuple):
    """A query as a topic, with its documents, each once."""

    query: str
    relevant: list[str]
    returned: list[str]  # best first
    nonrelevant: list[str]  # judged not relevant


def topics(
    run: PreparedRun, queries: Sequence[str], k: int, *, with_all_judged: bool = False
) -> list[Topic]:
    """Return each query once as a topic; its shots are ranked by the definition ``trec``."""
    if k > LARGEST_TREC_DEPTH:
        raise ParameterError(f'found {k}, expected at most {LARGEST_TREC_DEPTH}', 'k')
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
    criteria = replace(run.criteria, definition=definitions.get('trec'))
    lister = Lister(criteria, ranking, run.lister.relevance)
    ranked = [listing.shots for listing in lister.listings(distinct, k)]
    # Most shots are ranked for more than one query.
    shots, numbers = np.unique(np.concatenate([NO_SHOTS, *ranked]), return_inverse=True)
    ids = ranking.shots.ids
    shot_codes = ranking.shots.codes_of(shots)
    documents = _documents((ids[field], shot_codes[field]) for field in SHOT_FIELDS)
    ranked_documents = iter([documents[number] for number in numbers.tolist()])
    judged_for = _judged_documents(run.criteria.judgements)
    result = []
    for query, code, query_shots in zip(distinct, codes, ranked, strict=True):
        returned = list(islice(ranked_documents, len(query_shots)))
        nonrelevant = [shot for shot in judged_for(query) if shot not in relevant[code]]
        if not with_all_judged:  # no measure uses more than there are relevant ones
            returned_set = set(returned)
            not_returned = (shot for shot in nonrelevant if shot not in returned_set)
            nonrelevant = [shot for shot in nonrelevant if shot in returned_set]
            nonrelevant += islice(not_returned, len(relevant[code]))
        result.append(Topic(query, list(relevant[code]), returned, nonrelevant))
    return result


def _judged_documents(judgements: Judged | None) -> Callable[[str], Iterable[str]]:
    """Return a function from a query to the documents that were judged for it."""
    if judgements is None:
        return lambda query: ()
    table = judgements.table
    columns = [table[field] for field in SHOT_FIELDS]
    documents = _documents((column.values, column.codes) for column in columns)
    if not judgements.is_of_pairs:
        distinct_documents = dict.fromkeys(documents)
        return lambda query: distinct_documents
    documents_by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for name, document in zip(table.texts('person_name'), documents, strict=True):
        documents_by_name[name][document] = None
    return lambda query: documents_by_name.get(query, ())


def _documents(shots: Iterable[tuple[Sequence[str], NDArray[np.integer]]]) -> list[str]:
    """Return shots as documents, corpus/video/shot, from texts and codes of each field."""
    fields = []
    for texts, codes in shots:
        distinct, numbers = np.unique(codes, return_inverse=True)
        words = [_encode_in_parts(_percent, text) for text in texts_at(texts, distinct)]
        fields.append([words[number] for number in numbers.tolist()])
    return list(map('/'.join, zip(*fields, strict=True)))


def export(
    criteria: Criteria, runs: Mapping[str, tuple[Any, str]], qrels: Any, *, queries: Any, k: int
) -> dict[Any, Content]:
    """Return the text of the qrels, and of runs, given with their tags, by the file to write."""
    selected = select_queries(criteria, criteria.read_queries(queries))
    relevant: dict[str, list[str]] = {}  # by topic; equal for all runs
    contents: dict[Any, Content] = {}
    for path, (hypothesis, tag) in runs.items():
        if os.path.realpath(qrels) == os.path.realpath(path):
            raise ParameterError(f'found {shown(path)} again, expected another file', 'run')
        word = check_tag(tag)
        prepared = prepare_run(criteria, hypothesis)
        warn_caller(prepared.warnings_with(selected.warnings))
        all_topics = topics(prepared, selected.names, k)
        exported = [(as_word(topic.query), topic) for topic in all_topics if topic.relevant]
        if not any(topic.returned for _, topic in exported):
            reason = f'no tool reads an empty file, as {shown(path)} would be'
            if not exported:
                raise ParameterError(f'found none with a relevant shot; {reason}', 'queries')
            raise ParameterError(f'run: found no shot for a query with a relevant shot; {reason}')
        if n_without := len(all_topics) - len(exported):
            finding = f'{NO_RELEVANT}, and are not in the files'
            note = Note(finding, n_without, len(all_topics))
            remedy = '; evaluate-trec --queries FILE counts them 0, as evaluate does'
            warn_caller([DataWarning('missing-ids', '', note, remedy)])
        relevant.update((qid, topic.relevant) for qid, topic in exported)
        # Scores are strictly decreasing integers, so that no reader changes the order of the lines.
        contents[path] = ''.join(
            f'{qid} Q0 {shot} {rank} {len(topic.returned) + 1 - rank} {word}\n'
            for qid, topic in exported
            for rank, shot in enumerate(topic.returned, 1)
        )
    of_topics = (f'{qid} 0 {shot} 1\n' for qid, shots in relevant.items() for shot in shots)
    return {**contents, qrels: ''.join(of_topics)}

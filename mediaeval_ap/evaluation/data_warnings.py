"""Warnings about data that is scored all the same: each function returns the warning, or none.

A public function collects them in its result, and gives them out with `errors.warn_caller`. Ids
that only one of two files has are refused here where the user has not allowed them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.choices import (
    MISSING,
    MISSING_REMEDY,
    UNKNOWN,
    UNKNOWN_REMEDY,
    Missing,
    Unknown,
    check_policy,
)
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    NoOverlapWarning,
    Note,
    WithoutRelevantWarning,
    printable,
    shown,
    some,
)
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.result import note_above_one, note_of_floor
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.table import NumberedRows

QUERIES_IN_WARNING = 5  # enough to look at, on one line
# All substrings of an id are looked up, so it is done for a sample of ids that are not too long:
# milliseconds, whatever the size of the file. Time grows with the sample.
SAMPLED_IDS = 200
LONGEST_SAMPLED = 64  # characters
_without_leading_zeros = partial(re.compile(r'(?<![0-9])0+(?=[0-9])').sub, '')
_with_one_separator = partial(re.compile(r'[-_. ]+').sub, '_')
_as_nfc = partial(unicodedata.normalize, 'NFC')
_NORMAL_FORMS: Mapping[str, Callable[[str], str]] = {
    'leading zeros': _without_leading_zeros,
    'case': str.casefold,
    'Unicode normalization': _as_nfc,
    'separators': _with_one_separator,
    'case, separators and leading zeros': lambda text: _without_leading_zeros(
        _with_one_separator(_as_nfc(text).casefold())
    ),
}


def repeated_rows(source: str, n_rows: int, n_repeated: int, *, kept: bool) -> list[DataWarning]:
    """Warn that rows of a reference or a run repeat an earlier row."""
    if not n_repeated:
        return []
    fate = 'kept' if kept else 'counted once'
    note = Note(f'repeat an earlier one exactly, and are {fate}', n_repeated, n_rows, 'rows')
    return [DataWarning('repeated-rows', printable(source), note)]


def repeated_queries(queries: Table) -> list[DataWarning]:
    """Warn that queries are asked more than once."""
    n_repeated = len(queries) - len(queries['person_name'].values)
    if not n_repeated:
        return []
    note = Note('repeat an earlier one; each counts in the mean', n_repeated, len(queries))
    return [DataWarning('repeated-queries', printable(queries.source.name), note)]


def empty_run(run: str, n_hypotheses: int, n_counted: int) -> list[DataWarning]:
    """Warn that the subset leaves nothing of a run that is not empty."""
    if not n_hypotheses or n_counted:
        return []
    finding = f'none of its {n_hypotheses} hypotheses is in the subset'
    note = f'{finding}; scored as a run that returns nothing'
    return [NoOverlapWarning('empty-run', printable(run), note)]


def no_overlap(source: str, finding: str, cause: str) -> list[DataWarning]:
    """Warn that no id of an input occurs in the other one, and name the likely cause if any."""
    remedy = cause or 'are these files of the same data?'
    return [NoOverlapWarning('no-overlap', printable(source), finding, f'; {remedy}')]


def without_relevant(
    reference: str, n_relevant: NDArray[np.int64], definition: Definition
) -> list[DataWarning]:
    """Warn that some, but not all, queries have no relevant shot, and tell what they add to MAP."""
    n_without = int(np.count_nonzero(n_relevant == 0))
    if not 0 < n_without < len(n_relevant):  # where all are without, `no_overlap` says so
        return []
    note = note_of_floor(n_without, len(n_relevant), definition.without_relevant)
    return [WithoutRelevantWarning('without-relevant', reference, note)]


def unknown_queries(
    unknown: Sequence[str], n_queries: int, reference: str, nearest: Callable[[str], str | None]
) -> list[DataWarning]:
    """Warn of queries that are no names of the reference, and tell the nearest name of a few."""
    if not unknown:
        return []
    told = list(map(shown, unknown))
    for at, query in enumerate(unknown[:QUERIES_IN_WARNING]):
        if name := nearest(query):
            told[at] += f' (nearest: {shown(name)})'
    several = f'{len(unknown):,} of {n_queries:,} queries are no names'
    found = f'{several if n_queries > 1 else "the query is no name"} of it: '
    found += some(told, QUERIES_IN_WARNING)
    return [WithoutRelevantWarning('unknown-queries', reference, found)]


def above_one(ap: NDArray[np.float64], queries: Sequence[str]) -> list[str]:
    """Return the queries whose average precision exceeds 1 at a cutoff."""
    return list(compress(queries, ap.max(axis=1, initial=0) > 1))


def scores_above_one(
    queries: Sequence[str], n_queries: int, run: str, definition: Definition
) -> list[DataWarning]:
    """Warn of queries whose average precision exceeds 1, and name definitions that prevent it."""
    if not (queries and definition.counts_again):
        return []
    (note,) = note_above_one(len(queries), n_queries, definition)
    named = some(list(map(printable, queries)), QUERIES_IN_WARNING)
    others = ', '.join(str(other) for other in definitions.registered() if not other.counts_again)
    once = f'; {others} count it once: {named}'
    return [DataWarning('score-above-one', printable(run), note, once)]


def likely_cause(ids: Collection[str], others: Collection[str]) -> str:
    """Return how an id nearly equals one of the others, or an empty text; no id is in both."""
    ids = sorted(ids)
    others = sorted(others)  # so that the example is always the same
    for what, normal_form in _NORMAL_FORMS.items():
        there = {normal_form(text): text for text in others}
        for text in ids:
            if (other := there.get(normal_form(text))) is not None:
                return _pair(what, text, other)
    if found := _surrounded(ids, others):
        return _pair(*found)
    if found := _surrounded(others, ids):
        affixes, other, text = found
        return _pair(affixes, text, other)
    return ''


def _pair(what: str, here: str, there: str) -> str:
    return f'equal but for {what}: {shown(here)} here, {shown(there)} there'


def _surrounded(ids: Sequence[str], others: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the text around others within most ids, and an example of both."""
    known = set(others)
    step = len(ids) // SAMPLED_IDS + 1
    sample = [text for text in ids[::step] if len(text) <= LONGEST_SAMPLED]
    inner_of = {text: inner for text in sample if (inner := _longest_within(text, known))}
    around = Counter(tuple(text.split(inner, 1)) for text, inner in inner_of.items())
    if not around:
        return None
    ((before, after), count), *_ = around.most_common(1)
    if 2 * count < len(sample):
        return None
    text = next(each for each, inner in inner_of.items() if before + inner + after == each)
    places = ((before, 'at the beginning'), (after, 'at the end'))
    affixes = ' and '.join(f'{shown(affix)} {place}' for affix, place in places if affix)
    return affixes, text, inner_of[text]


def _longest_within(text: str, known: Collection[str]) -> str | None:
    for length in range(len(text) - 1, 0, -1):
        for begin in range(len(text) - length + 1):
            if text[begin : begin + length] in known:
                return text[begin : begin + length]
    return None


def likely_cause_in_tables(run: Ranking, reference: Table) -> str:
    """Return the field and the likely cause why no shot of a run is in a reference, or nothing."""
    fields = reference.layout.texts
    here = {field: set(run.texts[field]) for field in fields}
    there = {field: set(reference[field].values) for field in fields}
    strange = [field for field in fields if not here[field] & there[field]]
    for field in strange:
        for other in fields:
            if other != field and 2 * len(here[field] & there[other]) >= len(here[field]):
                return f'{field} holds what {other} holds there: are columns exchanged?'
    for field in (each for each in ('video_id', 'corpus_id', 'shot_id') if each in strange):
        if cause := likely_cause(here[field], there[field]):
            return f'{field} is {cause}'
    if 'corpus_id' in strange and 'video_id' not in strange:
        one = min(here['corpus_id'])
        other = min(there['corpus_id'])
        return f'corpus_id is another: {shown(one)} here, {shown(other)} there'
    return ''


@dataclass
class IdPolicy:
    """The choices for ids that the predictions lack, and for those that the truth lacks."""

    missing: Missing
    unknown: Unknown
    noun: str = 'id'
    of_truth: str = 'an id of the truth'

    def __post_init__(self) -> None:
        self.missing = check_policy('missing', self.missing, MISSING)
        self.unknown = check_policy('unknown', self.unknown, UNKNOWN)

    def refuse_unknown(
        self,
        predictions: NumberedRows,
        rows: NDArray[np.int64],
        field: str,
        first: str,
        truth: str,
        cause: str,
    ) -> None:
        """Refuse rows with an id that the truth lacks; `cause` is the likely one if all do."""
        if self.unknown == 'error':
            remedy = f'; no {self.noun} is in both files: {cause}' if cause else UNKNOWN_REMEDY
            found = f'{shown(first)}, which {truth} lacks'
            raise predictions.error(rows, field, found, f'{self.of_truth}{remedy}')

    def refuse_missing(
        self, predictions: str, field: str, first: str, n_missing: int, truth: str
    ) -> None:
        """Refuse predictions that lack ids."""
        if self.missing == 'error':
            others = f' and {n_missing - 1} more' if n_missing > 1 else ''
            expected = f'one for each {self.noun} of {truth}{MISSING_REMEDY}'
            raise FormatError(
                predictions, '', field, f'no row for {shown(first)}{others}', expected
            )

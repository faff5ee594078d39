"""Warnings about data that is scored nevertheless: each function returns its warning, or none.

Public functions collect them in the result, and issue them with `errors.warn_caller`. `IdPolicy`
raises errors for ids that only one of two files has, unless the user allowed them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.choices import (
    MISSING,
    MISSING_REMEDY,
    NEAR,
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
    UndefinedScoreError,
    WithoutRelevantWarning,
    abridged,
    is_ignored,
    printable,
    shown,
)
from mediaeval_ap.results.notes import (
    NO_RELEVANT,
    note_above_one,
    note_of_floor,
    notes_of_skipped,
)
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.table import NumberedRows, StoredTexts, exchanged_columns
from mediaeval_ap.tables.values import without_leading_zeros

REMEDY_OF_NAMES = 'name people as the reference does'
QUERIES_IN_WARNING = 5  # enough examples for one line
# All substrings of an id are looked up. A sample of short ids keeps this to milliseconds for any
# size of the file.
SAMPLED_IDS = 200
LONGEST_SAMPLED = 64  # characters
_with_one_separator = partial(re.compile(r'[-_. ]+').sub, '_')
_as_nfc = partial(unicodedata.normalize, 'NFC')
_NORMAL_FORMS: Mapping[str, Callable[[str], str]] = {
    'leading zeros': without_leading_zeros,
    'case': str.casefold,
    'Unicode normalization': _as_nfc,
    'separators': _with_one_separator,
    'case, separators and leading zeros': lambda text: without_leading_zeros(
        _with_one_separator(_as_nfc(text).casefold())
    ),
}


def repeated_rows(
    source: str, n_rows: int, n_repeated: int, *, are_kept: bool
) -> list[DataWarning]:
    """Warn that rows of a reference or a run repeat an earlier row."""
    if not n_repeated:
        return []
    fate = 'kept' if are_kept else 'counted once'
    note = Note(f'repeat an earlier one exactly, and are {fate}', n_repeated, n_rows, 'rows')
    more = ': was the file joined to itself?' * (2 * n_repeated >= n_rows)
    return [DataWarning('repeated-rows', printable(source), note, more)]


def repeated_queries(queries: Table) -> list[DataWarning]:
    n_repeated = len(queries) - len(queries['person_name'].values)
    if not n_repeated:
        return []
    note = Note('repeat an earlier one; each counts in the mean', n_repeated, len(queries))
    return [DataWarning('repeated-queries', printable(queries.source.name), note)]


def empty_run(run: str, n_hypotheses: int, n_in_subset: int, cause: str) -> list[DataWarning]:
    """Warn that no hypothesis of a run is in the subset."""
    if not n_hypotheses or n_in_subset:
        return []
    note = f'none of its {n_hypotheses} hypotheses is in the subset, so it returns nothing'
    return [NoOverlapWarning('empty-run', printable(run), note, cause and f'; {cause}')]


def no_overlap(source: str, finding: str, cause: str) -> list[DataWarning]:
    """Warn that no id of an input occurs in the other one; `cause` is the likely cause, or ''."""
    remedy = cause or 'are these files of the same data?'
    return [NoOverlapWarning('no-overlap', printable(source), finding, f'; {remedy}')]


def overlap(
    source: str,
    noun: str,
    ids: Any,
    reference: str,
    known: Any,
    remedy: str = '',
    *,
    shares_an_id: bool = False,  # then ids are compared only where some begin with a zero
) -> list[DataWarning]:
    """Warn that the reference has no id, or has some of them but for their leading zeros."""
    if shares_an_id and not (_has_zeros(ids) or _has_zeros(known)):
        return []
    here, there = (
        set(map(bytes.decode, {*texts.tolist()}) if isinstance(texts, np.ndarray) else texts)
        for texts in (ids, known)
    )
    if here.isdisjoint(there):
        finding = f'0 of {len(here):,} {noun} occur in {reference}'
        return no_overlap(source, finding, likely_cause(here, there) or remedy)
    other_by_form = {other.lstrip('0'): other for other in sorted(there)}
    lost = [text for text in here - there if text.lstrip('0') in other_by_form]
    if not lost:
        return []
    note = Note(f'are spelled otherwise in {reference}', len(lost), len(here), noun)
    cause = _cause('leading zeros', min(lost), other_by_form[min(lost).lstrip('0')])
    return [NoOverlapWarning('lost-zeros', printable(source), note, f', {cause}; read as text')]


def _has_zeros(texts: Any) -> bool:
    """Return True if 0 and more begin a text; decode none that is stored as bytes."""
    if isinstance(texts, StoredTexts):
        begins = np.append(0, texts.ends[:-1])
        return bool((texts.content[begins[texts.ends > begins + 1]] == ord('0')).any())
    if isinstance(texts, np.ndarray) and texts.dtype != object:
        letters = texts.view(np.uint8).reshape(len(texts), -1)
        return bool(letters[letters[:, 0] == ord('0'), 1].any())
    return any(text[:1] in ('0', b'0') and len(text) > 1 for text in texts)


def without_relevant(
    reference: str, n_relevant: NDArray[np.int64], definition: Definition
) -> list[DataWarning]:
    """Warn that some queries have no relevant shot, and give the MAP of an empty run."""
    n_without = int(np.count_nonzero(n_relevant == 0))
    if not n_without:
        return []
    note = note_of_floor(n_without, len(n_relevant), definition.without_relevant)
    return [WithoutRelevantWarning('without-relevant', reference, note)]


def skipped_queries(
    source: str,
    reference: str,
    n_skipped: int,
    n_queries: int,
    lack: str = NO_RELEVANT,
    cause: str = '',
) -> list[DataWarning]:
    """Return a warning about queries left out; raise UndefinedScoreError if all are left out."""
    if n_skipped and n_skipped == n_queries:
        where = '' if source == reference else f' in {printable(reference)}'
        finding = f'{n_queries:,} of {n_queries:,} queries {lack}{where}'
        remedy = (
            'none is left to score: score them by --queries-without-relevant count, in Python '
            "queries_without_relevant='count'"
        )
        raise UndefinedScoreError(f'{printable(source)}: {finding}; {cause or remedy}')
    notes = notes_of_skipped(n_skipped, n_queries - n_skipped, lack)
    about = printable(reference)
    return [WithoutRelevantWarning('without-relevant', about, note) for note in notes]


def unknown_queries(
    unknown: Sequence[str], n_queries: int, reference: str, nearest: Callable[..., str | None]
) -> list[DataWarning]:
    """Warn of queries that are not names in the reference; give another spelling for a few."""
    if not unknown:
        return []
    examples = list(map(shown, unknown))
    n_examples = 0 if is_ignored(WithoutRelevantWarning) else QUERIES_IN_WARNING
    for position, query in enumerate(unknown[:n_examples]):
        if name := nearest(query, within=NEAR):
            examples[position] += f' (nearest: {shown(name)})'
    finding = 'the query is not a name'
    if n_queries > 1:
        finding = f'{len(unknown):,} of {n_queries:,} queries are not names'
    finding += f' in the reference: {abridged(examples, QUERIES_IN_WARNING)}'
    return [WithoutRelevantWarning('unknown-queries', reference, finding)]


def queries_above_one(ap: NDArray[np.float64], queries: Sequence[str]) -> list[str]:
    """Return the queries whose average precision exceeds 1 at a cutoff."""
    return list(compress(queries, ap.max(axis=1, initial=0) > 1))


def scores_above_one(
    queries: Sequence[str], n_queries: int, run: str, definition: Definition
) -> list[DataWarning]:
    """Warn that average precision exceeds 1, and name the definitions that prevent it."""
    if not (queries and definition.counts_again):
        return []
    (note,) = note_above_one(len(queries), n_queries, definition.name)
    examples = abridged(list(map(printable, queries)), QUERIES_IN_WARNING)
    remedies = [str(other) for other in definitions.registered() if not other.counts_again]
    more = f'; {", ".join(remedies)} count it once: {examples}'
    return [DataWarning('score-above-one', printable(run), note, more)]


def likely_cause(ids: Collection[str], other_ids: Collection[str]) -> str:
    """Describe how an id almost matches another (case, separators, affixes), or return ''.

    Assumes no exact match. For 'v1_a' and 'v1_b' against 'a' and 'b' the cause is "equal but for
    'v1_' at the beginning", with one of the pairs as the example.
    """
    ids = sorted(ids)
    other_ids = sorted(other_ids)  # so that the example is always the same
    for difference, normal_form in _NORMAL_FORMS.items():
        other_by_form = {normal_form(other): other for other in other_ids}
        for text in ids:
            if (other := other_by_form.get(normal_form(text))) is not None:
                return _cause(difference, text, other)
    if match := _common_affixes(ids, other_ids):
        return _cause(*match)
    if match := _common_affixes(other_ids, ids):
        affixes, there, here = match
        return _cause(affixes, here, there)
    return ''


def _cause(difference: str, here: str, there: str) -> str:
    return f'equal but for {difference}: {shown(here)} here, {shown(there)} there'


def _common_affixes(longer: Sequence[str], shorter: Sequence[str]) -> tuple[str, str, str] | None:
    """Return affixes that half of a sample of longer ids add to shorter ones, and an example."""
    known_ids = set(shorter)
    step = len(longer) // SAMPLED_IDS + 1
    sample = [text for text in longer[::step] if len(text) <= LONGEST_SAMPLED]
    inner_id = {text: inner for text in sample if (inner := _longest_within(text, known_ids))}
    n_by_affixes = Counter(tuple(text.split(inner, 1)) for text, inner in inner_id.items())
    if not n_by_affixes:
        return None
    ((before, after), count), *_ = n_by_affixes.most_common(1)
    if 2 * count < len(sample):
        return None
    text = next(text for text, inner in inner_id.items() if before + inner + after == text)
    ends = ((before, 'at the beginning'), (after, 'at the end'))
    affixes = ' and '.join(f'{shown(affix)} {end}' for affix, end in ends if affix)
    return affixes, text, inner_id[text]


def _longest_within(text: str, ids: Collection[str]) -> str | None:
    lengths = range(len(text) - 1, 0, -1)
    parts = (text[i : i + size] for size in lengths for i in range(len(text) - size + 1))
    return next(filter(ids.__contains__, parts), None)


def likely_cause_in_tables(texts: Mapping[str, Iterable[str]], reference: Table) -> str:
    """Describe why no shot of a run may be in the reference, with the field, or return ''."""
    if exchanged := exchanged_columns(texts, reference):
        return f'{exchanged}: are columns exchanged?'
    fields = reference.layout.texts
    in_run = {field: set(texts[field]) for field in fields}
    in_reference = {field: set(reference[field].values) for field in fields}
    disjoint = [field for field in fields if not in_run[field] & in_reference[field]]
    for field in ('video_id', 'corpus_id', 'shot_id'):
        if field in disjoint and (cause := likely_cause(in_run[field], in_reference[field])):
            return f'{field} is {cause}'
    if 'corpus_id' in disjoint and 'video_id' not in disjoint:
        corpus = shown(min(in_run['corpus_id']))
        other_corpus = shown(min(in_reference['corpus_id']))
        return f'corpus_id differs: {corpus} here, {other_corpus} there'
    return ''


@dataclass
class IdPolicy:
    """The treatment of ids that the predictions lack, and of ids that the truth lacks."""

    missing: Missing
    unknown: Unknown
    noun: str = 'id'
    expected_id: str = 'an id of the truth'

    def __post_init__(self) -> None:
        self.missing = check_policy('missing', self.missing, MISSING)
        self.unknown = check_policy('unknown', self.unknown, UNKNOWN)

    def refuse_unknown(
        self,
        predictions: NumberedRows,
        rows: NDArray[np.int64],
        field: str,
        first: str,  # unknown id
        truth: str,
        cause: str,  # the likely cause if the truth lacks all ids, or ''
    ) -> None:
        """Raise FormatError about rows with an unknown id, unless the policy drops them."""
        if self.unknown == 'error':
            remedy = f'; no {self.noun} is in both files: {cause}' if cause else UNKNOWN_REMEDY
            unknown_id = f'{shown(first)}, which {truth} lacks'
            raise predictions.error(rows, field, unknown_id, f'{self.expected_id}{remedy}')

    def refuse_missing(
        self, predictions: str, field: str, first: str, n_missing: int, truth: str
    ) -> None:
        """Raise FormatError if predictions lack ids, unless the policy allows it."""
        if self.missing == 'error':
            more = f' and {n_missing - 1} more' if n_missing > 1 else ''
            expected = f'one for each {self.noun} of {truth}{MISSING_REMEDY}'
            raise FormatError(predictions, '', field, f'no row for {shown(first)}{more}', expected)

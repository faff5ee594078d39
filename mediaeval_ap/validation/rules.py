"""The rules of validation, each with the files of a submission that it needs."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_equal, first_occurrences, run_starts
from mediaeval_ap.choices import Campaign
from mediaeval_ap.errors import printable, shown, with_noun
from mediaeval_ap.tables.faults import Cause
from mediaeval_ap.tables.layouts import SHOT_FIELDS
from mediaeval_ap.tables.table import Column, Table, exchanged_columns
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.tables.text.wrong_lines import EXCHANGED, no_rows_in_text, order_of, with_article
from mediaeval_ap.tables.values import FINITE_DECIMAL, is_finite_decimal, without_leading_zeros
from mediaeval_ap.validation.problems import Detail, Finding, Problem, at_rows, problem_at

VIDEO_FIELDS = ('corpus_id', 'video_id')  # files of 2015 have no corpus
NAME_FIELDS = ('person_name',)
GIVE_REFERENCE = 'reference file: give the reference by --reference FILE'
NOT_NEGATIVE = f'{FINITE_DECIMAL}, not negative'
# The words by their field, which is named differently in the campaigns of 2015 and 2016.
EVIDENCE_WORDS = {'source': ('image', 'audio', 'both'), 'modality': ('written', 'pronounced')}
LONGEST_NAME = 200  # characters; longer names are not searched for neighbours
MOST_NAMES = 100_000  # more names are not searched: the table of their spellings would fill memory
_is_name = re.compile('[a-z_]+').fullmatch


def apply_rules(files: Mapping[str, LenientTable], campaign: Campaign) -> Iterator[Finding]:
    """Yield the findings of every rule in the given files, by role."""
    tables = {role: file.table for role, file in files.items()}
    run = tables['hypothesis']
    texts = {field: column.values for field, column in run.columns.items()}
    others = [file.table for file in files.values() if not file.better_layout]
    exchanged = filter(None, (exchanged_columns(texts, table) for table in others))
    order = campaign != 'none' and order_of_columns(run)
    if found := order or next(exchanged, ''):
        detail = '', found, ' '.join(run.layout.fields)
        yield at_rows('columns', run, np.zeros(1, np.int64), lambda _: detail)
        return  # all else would follow from it
    for role, file in files.items():
        yield from wrong_format(file, role == 'hypothesis' and 'reference' not in files)
    yield from repeated_hypotheses(run)
    yield several_names(run)
    yield from misspelt_names(run)
    yield from alike_confidences(run)
    if 'reference' in tables:
        yield lost_zeros(run, tables['reference'])
    for role, kind, fields in (
        ('videos', 'unlisted-video', VIDEO_FIELDS),
        ('reference', 'unreferenced-video', VIDEO_FIELDS),
        ('reference', 'unreferenced-name', NAME_FIELDS),
    ):
        if role in tables:
            yield missing_elsewhere(kind, run, tables[role], fields)
    if campaign != 'none':
        yield from rules_of_campaigns(tables)


def rules_of_campaigns(tables: Mapping[str, Table]) -> Iterator[Finding]:
    """Find what only the rules of a campaign forbid, in a run and in its evidence."""
    for role in 'hypothesis', 'evidence':
        if role in tables:
            expected = 'a name of a-z and _ only'
            yield wrong_texts('name', tables[role], 'person_name', _is_name, expected=expected)
            if 'shots' in tables:
                yield from unknown_shots(tables[role], tables['shots'])
    if 'evidence' in tables:
        lists = [tables[role] for role in ('videos', 'shots') if role in tables]
        yield from wrong_evidence(tables['evidence'], tables['hypothesis'], lists)


def wrong_evidence(evidence: Table, run: Table, lists: Sequence[Table]) -> Iterator[Finding]:
    """Find evidence of unlisted videos or wrong modalities, repeated, missing or unused."""
    names = evidence['person_name']
    if lists:
        is_listed = [evidence.within(videos, fields_of(evidence, VIDEO_FIELDS)) for videos in lists]
        rows = np.flatnonzero(~np.logical_or.reduce(is_listed))
        describe_unlisted = partial(_describe_missing, evidence, VIDEO_FIELDS, lists)
        yield at_rows('unknown-video', evidence, rows, describe_unlisted)
    (field,) = EVIDENCE_WORDS.keys() & evidence.columns.keys()
    allowed = EVIDENCE_WORDS[field]
    *words, last = allowed
    expected = f'{", ".join(words)} or {last}'
    yield wrong_texts('modality', evidence, field, lambda word: word in allowed, expected=expected)

    first_row = first_equal(names.codes)

    def describe_repetition(row: int) -> Detail:
        repetition = f'{shown(names.text(row))} again, as in {evidence.place(first_row[row])}'
        return ('person_name', repetition, 'each name once')

    rows = np.flatnonzero(first_row != np.arange(len(first_row)))
    yield at_rows('repeated-evidence', evidence, rows, describe_repetition)
    yield missing_elsewhere('missing-evidence', run, evidence, NAME_FIELDS)
    yield missing_elsewhere('unused-evidence', evidence, run, NAME_FIELDS)


def fields_of(table: Table, fields: Sequence[str]) -> list[str]:
    return [field for field in fields if field in table.columns]


def order_of_columns(run: Table) -> str:
    """Return the fields of a run in the order of its columns, if no name is right; else ''."""
    if not len(run) or any(map(_is_name, run['person_name'].values)):
        return ''
    words = [*(run[field].text(0) for field in run.layout.texts), '']
    return ' '.join(['columns', *order] if (order := order_of(words, run.layout)) else [])


def row_key(table: Table, fields: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row; rows with equal fields have equal numbers."""
    return combine([table[field].codes for field in fields_of(table, fields)])


def wrong_format(file: LenientTable, may_be_reference: bool) -> Iterator[Finding]:
    """Find wrong lines, wrong numbers and times, an empty file, and a file of another role."""
    table = file.table
    number = table.layout.number
    for cause in Cause:
        if cause in file.faults.counts:
            yield wrong_lines(cause, file, may_be_reference)
    if not file.faults.counts and not len(table):
        error = no_rows_in_text(table.source.name, table.layout, file.n_lines)
        problem = problem_at('empty', table, 1, ('', error.found, error.expected))
        yield Finding('empty', 1, partial(iter, [problem]))
    if file.better_layout:
        first_row = f'a first row that fits {with_article(file.better_layout)}'
        detail = '', first_row, f'one of {with_article(table.layout.name)}'
        yield at_rows('other-file', table, np.zeros(1, np.int64), lambda _: detail)
    if file.is_cut and number == 'confidence':
        detail = number, 'no line end after it', 'a line end, as it may have lost digits'
        yield at_rows('cut-line', table, np.array([len(table) - 1]), lambda _: detail)
    if number == 'timestamp':
        seconds = table.confidence

        def describe_negative(row: int) -> Detail:
            return ('timestamp', f'{float(seconds[row])!r}', NOT_NEGATIVE)

        yield at_rows('timestamp', table, np.flatnonzero(seconds < 0), describe_negative)
    for field in fields_of(table, ('start_time', 'end_time')):
        yield wrong_texts('timestamp', table, field, _is_time, expected=NOT_NEGATIVE)


def wrong_lines(cause: Cause, file: LenientTable, may_be_reference: bool) -> Finding:
    """Find the lines that the strict parser rejects for a cause."""
    kind = {Cause.NUMBER: file.table.layout.number or ''}.get(cause, cause)

    def problems() -> Iterator[Problem]:
        for line, wrong in file.faults.examples[cause]:
            detail = wrong.field, wrong.found, wrong.expected
            remedy = wrong.remedy
            if may_be_reference:  # it stands first in other commands
                remedy = remedy.replace(f'reference file: {EXCHANGED}', GIVE_REFERENCE)
            yield problem_at(kind, file.table, line, detail, remedy=remedy)

    return Finding(kind, file.faults.counts[cause], problems)


def wrong_texts(
    kind: str, table: Table, field: str, is_right: Callable[[str], object], *, expected: str
) -> Finding:
    """Find the rows with a wrong text in a field; each distinct text is checked once."""
    column = table[field]
    is_wrong = np.array([not is_right(value) for value in column.values], dtype=np.bool_)
    rows = np.flatnonzero(is_wrong[column.codes])
    return at_rows(kind, table, rows, lambda row: (field, shown(column.text(row)), expected))


def _is_time(text: str) -> bool:
    """Return True for a time that is not negative; it stays text, as nothing computes with it."""
    number = text.encode()
    return is_finite_decimal(number) and float(number) >= 0


def misspelt_names(table: Table) -> Iterator[Finding]:
    """Find names one edit from an earlier one, not in NFC, or in upper case, in their first row."""
    first_rows = first_occurrences(table['person_name'].codes)
    names = table.texts('person_name', first_rows)
    text = table['person_name'].text
    neighbours = earlier_neighbours(names)
    is_near = neighbours >= 0
    neighbour_row = np.empty(len(table), np.int64)  # set only where `is_near`
    neighbour_row[first_rows[is_near]] = first_rows[neighbours[is_near]]

    def describe_neighbour(row: int) -> Detail:
        earlier = neighbour_row[row]
        neighbour = f'{shown(text(earlier))} of {table.place(earlier)}'
        return ('person_name', f'{shown(text(row))}, one edit from {neighbour}', 'one spelling')

    def describe_spelling(
        mend: Callable[[str], str], quote: Callable[[str], str], row: int
    ) -> Detail:
        return ('person_name', quote(text(row)), quote(mend(text(row))))

    yield at_rows('near-names', table, first_rows[is_near], describe_neighbour)
    as_nfc = partial(unicodedata.normalize, 'NFC')
    spellings = ('not-nfc', as_nfc, _in_ascii), ('upper-case', _in_lower_case, shown)
    for kind, mend, quote in spellings:
        wrong = [position for position, name in enumerate(names) if mend(name) != name]
        yield at_rows(kind, table, first_rows[wrong], partial(describe_spelling, mend, quote))


def earlier_neighbours(names: Sequence[str]) -> NDArray[np.int64]:
    """Return, for each distinct name, the position of the first earlier name one edit away, or -1.

    One edit inserts, deletes or replaces a letter. So a name is looked up whole, without each of
    its letters, and with a blank (a line end, which no name holds) for each letter. The names
    'ann', 'bob', 'anne' and 'amn' have the neighbours -1, -1, 0 and 0: 'anne' without its last
    letter is 'ann', and with _ for the blank, 'ann' and 'amn' share 'a_n'.
    """
    neighbours = np.full(len(names), -1)
    if len(names) > MOST_NAMES:
        return neighbours
    by_name: dict[str, int] = {}
    by_shorter: dict[str, int] = {}
    by_blank: dict[str, int] = {}
    for position, name in enumerate(names):
        near = [by_shorter.get(name, position)]
        for letter in range(len(name) if len(name) <= LONGEST_NAME else 0):
            shorter = name[:letter] + name[letter + 1 :]
            blank = f'{name[:letter]}\n{name[letter + 1 :]}'
            near.append(by_name.get(shorter, position))
            by_shorter.setdefault(shorter, position)
            near.append(by_blank.setdefault(blank, position))
        by_name[name] = position
        neighbours[position] = min((other for other in near if other != position), default=-1)
    return neighbours


def _in_lower_case(name: str) -> str:
    if name == name.lower():
        return name
    # str.lower alone would change more than upper-case letters (title case, final sigma).
    return ''.join(letter.lower() if letter.isupper() else letter for letter in name)


def _in_ascii(name: str) -> str:
    """Quote a name by its code points, as both normal forms look the same."""
    text = ascii(name[:61])
    return text if len(text) <= 62 else f'{text[:60]}…'


def unknown_shots(table: Table, shots: Table) -> Iterator[Finding]:
    """Find rows with an unlisted shot; the video is wrong if none of its shots is listed."""
    if 'shot_id' not in table.columns:
        return
    rows = np.flatnonzero(~table.within(shots, fields_of(table, SHOT_FIELDS)))
    has_listed_video = table.within(shots, fields_of(table, VIDEO_FIELDS))

    def describe_unlisted(row: int) -> Detail:
        if not has_listed_video[row]:
            return _describe_missing(table, VIDEO_FIELDS, [shots], row)
        shot = shown(table['shot_id'].text(row))
        shot_list = printable(shots.source.name)
        return ('shot_id', shot, f'a shot of its video in {shot_list}')

    yield at_rows('unknown-shot', table, rows, describe_unlisted)


def missing_elsewhere(kind: str, table: Table, other: Table, fields: Sequence[str]) -> Finding:
    """Find videos or names that are missing in another file, each in its first row."""
    is_missing = ~table.within(other, fields_of(table, fields))
    describe = partial(_describe_missing, table, fields, [other])
    return at_first_rows(kind, table, fields, is_missing, detail_of=describe)


def lost_zeros(run: Table, reference: Table) -> Finding:
    """Find shots that differ from relevant shots by leading zeros only, each in its first row."""
    fields = fields_of(run, SHOT_FIELDS)
    number_of = defaultdict[str, int](count().__next__)  # of an id without its zeros

    def numbers(column: Column) -> NDArray[np.int64]:
        texts = map(without_leading_zeros, column.values)
        return np.array([number_of[text] for text in texts], np.int64)[column.codes]

    pairs = [[numbers(reference[field]), numbers(run[field])] for field in fields]
    similar_row = first_equal(combine(list(map(np.concatenate, pairs))))[len(reference) :]
    is_wrong = (similar_row < len(reference)) & ~run.within(reference, fields)

    def describe(row: int) -> Detail:
        right_row = similar_row[row]
        where = f'{reference.place(right_row)} of {printable(reference.source.name)}'
        ids = [(field, run[field].text(row), reference[field].text(right_row)) for field in fields]
        field, text, right_text = next(id for id in ids if id[1] != id[2])
        expected = f'{shown(right_text)}, as in {where}: equal but for leading zeros'
        return (field, shown(text), expected)

    return at_first_rows('leading-zeros', run, fields, is_wrong, detail_of=describe)


def at_first_rows(
    kind: str,
    table: Table,
    fields: Sequence[str],
    is_wrong: NDArray[np.bool_],
    detail_of: Callable[[int], Detail],
) -> Finding:
    """Return one problem for rows that are equal in some fields, with their number."""
    first_row = first_equal(row_key(table, fields))
    counts = np.bincount(first_row, minlength=len(table))

    def describe(row: int) -> Detail:
        field, text, expected = detail_of(row)
        return (field, f'{text} in {with_noun(counts[row], "row", "rows")}', expected)

    is_first = first_row == np.arange(len(table))
    return at_rows(kind, table, np.flatnonzero(is_first & is_wrong), describe)


def _describe_missing(
    table: Table, fields: Sequence[str], lists: Sequence[Table], row: int
) -> Detail:
    """Describe the video, with its corpus if any, or the name of a row that no list has."""
    texts = [shown(table[field].text(row)) for field in fields_of(table, fields)]
    noun = 'a video' if fields[-1] == 'video_id' else 'a name'
    list_names = ' or '.join(printable(table.source.name) for table in lists)
    return (fields[-1], ' of corpus '.join(reversed(texts)), f'{noun} of {list_names}')


def repeated_hypotheses(table: Table) -> Iterator[Finding]:
    """Find rows with the shot and name of an earlier row, with equal or different confidence."""
    shot_and_name = row_key(table, table.layout.texts)
    _, confidence = np.unique(table.confidence, return_inverse=True)
    equal_row = first_equal(combine([shot_and_name, confidence]))  # the first row equal to each
    is_first = equal_row == np.arange(len(table))
    is_valid = np.isfinite(table.confidence)

    def quote(row: int) -> str:
        return shown(' '.join(table[field].text(row) for field in table.layout.texts))

    def describe_repetition(row: int) -> Detail:
        repetition = f'{quote(row)} again, as in {table.place(equal_row[row])}'
        return (table.layout.texts[0], repetition, 'each row once')

    repeated_rows = np.flatnonzero(is_valid & ~is_first)
    n_times = np.unique(np.bincount(equal_row, minlength=len(table))[is_first])
    if len(n_times) == 1 and n_times > 1:
        detail = '', f'each row {n_times[0]} times', 'each row once'
        yield at_rows('joined', table, repeated_rows[:1], lambda _: detail)
        return
    yield at_rows('repeated-row', table, repeated_rows, describe_repetition)

    rows = np.flatnonzero(is_valid & is_first)
    earlier_row = np.arange(len(table))
    earlier_row[rows] = rows[first_equal(shot_and_name[rows])]

    def describe_difference(row: int) -> Detail:
        later = f'{float(table.confidence[row])!r} for {quote(row)}'
        first = earlier_row[row]
        earlier = f'{float(table.confidence[first])!r}, as in {table.place(first)}'
        return ('confidence', later, f'{earlier}, or no second row')

    differing_rows = np.flatnonzero(earlier_row != np.arange(len(table)))
    yield at_rows('two-confidences', table, differing_rows, describe_difference)


def several_names(table: Table) -> Finding:
    """Find shots that are returned under several names, each in the row of its second name."""
    names = table['person_name']
    shot = row_key(table, SHOT_FIELDS)
    pair_rows = first_occurrences(combine([shot, names.codes]))
    first_row = np.empty(len(shot), np.int64)  # of the shot; set only for `pair_rows`
    first_row[pair_rows] = pair_rows[first_equal(shot[pair_rows])]
    further_rows = pair_rows[first_row[pair_rows] != pair_rows]
    n_further_names = np.bincount(first_row[further_rows], minlength=len(shot))

    def describe_names(row: int) -> Detail:
        first = first_row[row]
        second_name = shown(names.text(row))
        first_name = f'{shown(names.text(first))} of {table.place(first)}'
        n_names = n_further_names[first] + 1
        sequence = f'{second_name} after {first_name}, {n_names} names in all'
        return ('person_name', sequence, 'one name, unless the shot shows several people')

    rows = further_rows[first_occurrences(first_row[further_rows])]
    return at_rows('several-names', table, rows, describe_names)


def alike_confidences(table: Table) -> Iterator[Finding]:
    """Find confidences that are all equal, or some that are equal only in single precision."""
    confidence = table.confidence
    valid_rows = np.flatnonzero(np.isfinite(confidence))
    distinct, first_rows = np.unique(confidence[valid_rows], return_index=True)
    first_rows = valid_rows[first_rows]
    if len(valid_rows) > 1 == len(distinct):
        value = f'{float(distinct[0])!r} in each of {len(valid_rows):,} rows'
        detail = 'confidence', value, 'higher confidences for surer hypotheses'
        yield at_rows('equal-confidences', table, first_rows, lambda _: detail)
    if not len(valid_rows):
        return
    with np.errstate(over='ignore'):  # too large a value is infinite in single precision
        starts = run_starts([distinct.astype(np.float32)])
    # For the first row of each value: the first row with an equal value in single precision.
    tied_row = np.arange(len(confidence))
    sizes = np.diff(starts, append=len(first_rows))
    tied_row[first_rows] = np.minimum.reduceat(first_rows, starts).repeat(sizes)

    def describe_tie(row: int) -> Detail:
        earlier = tied_row[row]
        earlier_value = f'{float(confidence[earlier])!r} of {table.place(earlier)}'
        value = f'{float(confidence[row])!r}, which is {earlier_value} in single precision'
        return ('confidence', value, 'equal confidences, or ones further apart')

    rows = np.flatnonzero(tied_row != np.arange(len(tied_row)))
    yield at_rows('single-precision', table, rows, describe_tie)

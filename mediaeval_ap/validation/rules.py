"""The rules of validation, and which files of a submission each needs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import combine, first_equal, first_occurrences, run_starts
from mediaeval_ap.choices import Campaign
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.table import Table
from mediaeval_ap.tables.text.line_rules import (
    FINITE_DECIMAL,
    Cause,
    file_of,
    is_finite_decimal,
    no_row_of_text,
)
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.validation.problems import (
    PROBLEM_KINDS,
    Detail,
    Finding,
    Problem,
    at_rows,
    problem_at,
)

VIDEO = ('corpus_id', 'video_id')  # of which files of 2015 have no corpus
SHOT = (*VIDEO, 'shot_id')
NAME = ('person_name',)
NOT_NEGATIVE = f'{FINITE_DECIMAL}, not negative'
# By the field that holds them: the campaigns of 2015 and of 2016 call it differently.
MODALITIES = {'source': ('image', 'audio', 'both'), 'modality': ('written', 'pronounced')}
LONGEST_NAME = 200  # characters; in longer ones nobody looks for an edit
MOST_NAMES = 100_000  # in more of them neither: the table of their spellings would fill memory
_is_name = re.compile('[a-z_]+').fullmatch


def apply_rules(files: Mapping[str, LenientTable], campaign: Campaign) -> Iterator[Finding]:
    """Yield what every rule finds in the files that are given, by role."""
    for file in files.values():
        yield from wrong_format(file)
    tables = {role: file.table for role, file in files.items()}
    run, evidence, shots = (tables.get(role) for role in ('hypothesis', 'evidence', 'shots'))
    assert run is not None
    yield from repeated_rows(run)
    yield several_names(run)
    yield from misspelt_names(run)
    yield from alike_confidences(run)
    for role, kind, fields in (
        ('videos', 'unlisted-video', VIDEO),
        ('reference', 'unreferenced-video', VIDEO),
        ('reference', 'unreferenced-name', NAME),
    ):
        if role in tables:
            yield without(kind, run, tables[role], fields)
    if campaign != 'none':
        for table in (run, evidence):
            if table is not None:
                yield wrong_texts(
                    'name', table, 'person_name', _is_name, 'a name of a-z and _ only'
                )
                if shots is not None:
                    yield from unknown_shots(table, shots)
        if evidence is not None:
            lists = [tables[role] for role in ('videos', 'shots') if role in tables]
            yield from wrong_evidence(evidence, run, lists)


def wrong_evidence(evidence: Table, run: Table, lists: Sequence[Table]) -> Iterator[Finding]:
    """Find evidence of unlisted videos or another modality, and names with too many or none."""
    names = evidence['person_name']
    if lists:
        known = [evidence.within(each, fields_of(evidence, VIDEO)) for each in lists]
        rows = np.flatnonzero(~np.logical_or.reduce(known))
        describe = partial(_missing, evidence, VIDEO, lists)
        yield at_rows('unknown-video', evidence, rows, describe)
    (field,) = MODALITIES.keys() & evidence.columns.keys()
    *words, last = MODALITIES[field]
    expected = f'{", ".join(words)} or {last}'
    yield wrong_texts('modality', evidence, field, MODALITIES[field].__contains__, expected)

    first = first_equal(names.codes)

    def repeats(row: int) -> Detail:
        found = f'{shown(names.text(row))} again, as in {evidence.place(first[row])}'
        return ('person_name', found, 'each name once')

    rows = np.flatnonzero(first != np.arange(len(first)))
    yield at_rows('repeated-evidence', evidence, rows, repeats)
    yield without('missing-evidence', run, evidence, NAME)
    yield without('unused-evidence', evidence, run, NAME)


def fields_of(table: Table, fields: Sequence[str]) -> list[str]:
    """Return those fields that a table has."""
    return [field for field in fields if field in table.columns]


def row_key(table: Table, fields: Sequence[str]) -> NDArray[np.int64]:
    """Return a number for each row, equal where the rows hold the same in some fields."""
    return combine([table[field].codes for field in fields_of(table, fields)])


# Lines, fields, numbers, times and words.


def wrong_format(file: LenientTable) -> Iterator[Finding]:
    """Find what is wrong with any file: lines that are no rows, numbers, times, no row at all."""
    table = file.table
    number = file.table.layout.number
    for cause in Cause:
        kind = number or '' if cause is Cause.NUMBER else cause  # a confidence or a timestamp
        if cause in file.faults.counts:
            yield wrong_lines(kind, cause, file)
    if not file.faults.counts and not len(table):
        error = no_row_of_text(table.source.name, table.layout, file.n_lines)
        problem = problem_at('empty', table, 1, ('', error.found, error.expected))
        yield Finding(problem.kind, 1, partial(iter, [problem]))
    if file.other:
        found = f'a first row that fits {file_of(file.other)}'
        detail = '', found, f'one of {file_of(table.layout.name)}'
        problem = problem_at('other-file', table, table.lines[0], detail)
        yield Finding(problem.kind, 1, partial(iter, [problem]))
    if number == 'timestamp':
        seconds = table.confidence

        def describe(row: int) -> Detail:
            return ('timestamp', f'{float(seconds[row])!r}', NOT_NEGATIVE)

        yield at_rows('timestamp', table, np.flatnonzero(seconds < 0), describe)
    for field in fields_of(table, ('start_time', 'end_time')):
        yield wrong_texts('timestamp', table, field, _is_time, NOT_NEGATIVE)


def wrong_lines(kind: str, cause: Cause, file: LenientTable) -> Finding:
    """Find the lines that the strict parser refuses for a cause."""

    def problems() -> Iterator[Problem]:
        for line, wrong in file.faults.kept[cause]:
            detail = wrong.field, wrong.found, wrong.expected
            yield problem_at(kind, file.table, line, detail, wrong.remedy)

    return Finding(PROBLEM_KINDS[kind], file.faults.counts[cause], problems)


def wrong_texts(
    kind: str, table: Table, field: str, is_right: Callable[[str], object], expected: str
) -> Finding:
    """Find the rows whose text in a field is wrong; each distinct text is looked at once."""
    column = table[field]
    is_wrong = np.array([not is_right(value) for value in column.values], dtype=np.bool_)
    rows = np.flatnonzero(is_wrong[column.codes])
    return at_rows(kind, table, rows, lambda row: (field, shown(column.text(row)), expected))


def _is_time(text: str) -> bool:
    """Return whether a time of a shot is right; it is kept as text, as nothing computes with it."""
    field = text.encode()
    return is_finite_decimal(field) and float(field) >= 0


# The spelling of names.


def misspelt_names(table: Table) -> Iterator[Finding]:
    """Find names one edit from an earlier one, not in NFC, or in upper case, where they begin."""
    distinct = first_occurrences(table['person_name'].codes)
    names = table.texts('person_name', distinct)
    text = table['person_name'].text
    neighbours = earlier_neighbours(names)
    is_near = neighbours >= 0
    before = np.empty(len(table), np.int64)  # set for these: the row of the earlier name
    before[distinct[is_near]] = distinct[neighbours[is_near]]

    def near(row: int) -> Detail:
        where = f'{shown(text(before[row]))} of {table.place(before[row])}'
        return ('person_name', f'{shown(text(row))}, one edit from {where}', 'one spelling')

    def mend(mended: Callable[[str], str], quoted: Callable[[str], str], row: int) -> Detail:
        return ('person_name', quoted(text(row)), quoted(mended(text(row))))

    yield at_rows('near-names', table, distinct[is_near], near)
    as_nfc = partial(unicodedata.normalize, 'NFC')
    for kind, mended, quoted in (
        ('not-nfc', as_nfc, _in_ascii),
        ('upper-case', _in_lower_case, shown),
    ):
        wrong = [at for at, name in enumerate(names) if mended(name) != name]
        yield at_rows(kind, table, distinct[wrong], partial(mend, mended, quoted))


def earlier_neighbours(names: Sequence[str]) -> NDArray[np.int64]:
    """Return, for each distinct name, the position of the first one edit away before it, or -1."""
    found = np.full(len(names), -1)
    if len(names) > MOST_NAMES:
        return found
    # One edit: a name is another one without a letter, or equals it but for one letter. So names
    # are looked up whole, without each letter, and with each letter replaced by what no name holds.
    whole: dict[str, int] = {}
    shortened: dict[str, int] = {}
    blanked: dict[str, int] = {}
    for position, name in enumerate(names):
        near = [shortened[name]] if name in shortened else []
        for at in range(len(name) if len(name) <= LONGEST_NAME else 0):
            shorter = name[:at] + name[at + 1 :]
            blank = f'{name[:at]}\n{name[at + 1 :]}'
            near += [whole[shorter]] if shorter in whole else []
            shortened.setdefault(shorter, position)
            near.append(blanked.setdefault(blank, position))
        whole[name] = position
        found[position] = min((each for each in near if each != position), default=-1)
    return found


def _in_lower_case(name: str) -> str:
    if name == name.lower():
        return name
    # Not str.lower alone, which changes more than upper-case letters (title case, final sigma).
    return ''.join(letter.lower() if letter.isupper() else letter for letter in name)


def _in_ascii(name: str) -> str:
    """Quote a name by its code points: what is not in NFC looks like what is."""
    text = ascii(name[:61])
    return text if len(text) <= 62 else f'{text[:60]}…'


# Shots, videos and names that another file lacks.


def unknown_shots(table: Table, shots: Table) -> Iterator[Finding]:
    """Find rows whose shot is not listed; the video is wrong where none of its shots is."""
    if 'shot_id' not in table.columns:
        return
    rows = np.flatnonzero(~table.within(shots, fields_of(table, SHOT)))
    has_known_video = table.within(shots, fields_of(table, VIDEO))

    def describe(row: int) -> Detail:
        if not has_known_video[row]:
            return _missing(table, VIDEO, [shots], row)
        shot = shown(table['shot_id'].text(row))
        listed = printable(shots.source.name)
        return ('shot_id', shot, f'a shot of its video in {listed}')

    yield at_rows('unknown-shot', table, rows, describe)


def without(kind: str, table: Table, others: Table, fields: Sequence[str]) -> Finding:
    """Find videos or names that another file lacks, each where it stands first."""
    first = first_equal(row_key(table, fields))
    counts = np.bincount(first, minlength=len(table))
    is_first = first == np.arange(len(table))
    rows = np.flatnonzero(is_first & ~table.within(others, fields_of(table, fields)))

    def describe(row: int) -> Detail:
        field, found, expected = _missing(table, fields, [others], row)
        n_rows = f'{counts[row]:,} {"row" if counts[row] == 1 else "rows"}'
        return (field, f'{found} in {n_rows}', expected)

    return at_rows(kind, table, rows, describe)


def _missing(table: Table, fields: Sequence[str], lists: Sequence[Table], row: int) -> Detail:
    """Describe the video or name of a row that lists lack; a video with its corpus, if any."""
    texts = [shown(table[field].text(row)) for field in fields_of(table, fields)]
    what = 'a video' if fields[-1] == 'video_id' else 'a name'
    listed = ' or '.join(printable(each.source.name) for each in lists)
    return (fields[-1], ' of corpus '.join(reversed(texts)), f'{what} of {listed}')


# Shots, names and confidences that come more than once.


def repeated_rows(table: Table) -> Iterator[Finding]:
    """Find rows with the shot and the name of an earlier row, with its confidence or another."""
    shot_and_name = row_key(table, table.layout.texts)
    _, confidence = np.unique(table.confidence, return_inverse=True)
    same = first_equal(combine([shot_and_name, confidence]))  # the first row that says the same
    is_first = same == np.arange(len(table))
    is_right = np.isfinite(table.confidence)

    def quoted(row: int) -> str:
        return shown(' '.join(table[field].text(row) for field in table.layout.texts))

    def repeats(row: int) -> Detail:
        found = f'{quoted(row)} again, as in {table.place(same[row])}'
        return (table.layout.texts[0], found, 'each row once')

    yield at_rows('repeated-row', table, np.flatnonzero(is_right & ~is_first), repeats)

    rows = np.flatnonzero(is_right & is_first)
    before = np.arange(len(table))
    before[rows] = rows[first_equal(shot_and_name[rows])]

    def differs(row: int) -> Detail:
        found = f'{float(table.confidence[row])!r} for {quoted(row)}'
        earlier = f'{float(table.confidence[before[row]])!r}, as in {table.place(before[row])}'
        return ('confidence', found, f'{earlier}, or no second row')

    yield at_rows(
        'two-confidences', table, np.flatnonzero(before != np.arange(len(table))), differs
    )


def several_names(table: Table) -> Finding:
    """Find shots that are returned under several names, each where its second name stands."""
    names = table['person_name']
    shot = row_key(table, SHOT)
    distinct = first_occurrences(combine([shot, names.codes]))
    before = np.empty(len(shot), np.int64)  # set for distinct pairs: the first row of their shot
    before[distinct] = distinct[first_equal(shot[distinct])]
    further = distinct[before[distinct] != distinct]
    n_further = np.bincount(before[further], minlength=len(shot))

    def describe(row: int) -> Detail:
        first = before[row]
        later, earlier = (shown(names.text(each)) for each in (row, first))
        where = f'{later} after {earlier} of {table.place(first)}'
        found = f'{where}, {n_further[first] + 1} names in all'
        return ('person_name', found, 'one name, or several people')

    rows = further[first_occurrences(before[further])]
    return at_rows('several-names', table, rows, describe)


def alike_confidences(table: Table) -> Iterator[Finding]:
    """Find that two or more confidences are all equal, or tie in single precision alone."""
    confidence = table.confidence
    right = np.flatnonzero(np.isfinite(confidence))
    distinct, first = np.unique(confidence[right], return_index=True)
    first = right[first]
    if len(right) > 1 == len(distinct):
        found = f'{float(distinct[0])!r} in each of {len(right):,} rows'
        detail = 'confidence', found, 'higher confidences for surer hypotheses'
        yield at_rows('equal-confidences', table, first, lambda _: detail)
    if not len(right):
        return
    with np.errstate(over='ignore'):  # what single precision cannot hold is infinite in it
        starts = run_starts([distinct.astype(np.float32)])
    # Of each value, the first row of those that are equal in single precision.
    before = np.arange(len(confidence))
    before[first] = np.minimum.reduceat(first, starts).repeat(np.diff(starts, append=len(first)))

    def describe(row: int) -> Detail:
        tied = f'{float(confidence[before[row]])!r} of {table.place(before[row])}'
        found = f'{float(confidence[row])!r}, which is {tied} in single precision'
        return ('confidence', found, 'equal confidences, or ones further apart')

    rows = np.flatnonzero(before != np.arange(len(before)))
    yield at_rows('single-precision', table, rows, describe)

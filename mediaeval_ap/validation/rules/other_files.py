"""Rules about shots, videos and names that another file lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_equal
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import SHOT, VIDEO, fields_of, row_key


def unknown_shots(file: LenientTable, shots: LenientTable) -> Iterator[Finding]:
    """Find rows whose shot is not listed; the video is wrong where none of its shots is."""
    if 'shot_id' not in file.table.columns:
        return
    table = file.table
    rows = np.flatnonzero(~table.within(shots.table, fields_of(table, SHOT)))
    has_known_video = table.within(shots.table, fields_of(table, VIDEO))

    def describe(row: int) -> Detail:
        if not has_known_video[row]:
            return _video(file, row, shots)
        shot = shown(table['shot_id'].text(row))
        return ('shot_id', shot, f'a shot of its video in {_listed(shots)}')

    yield at_rows('unknown-shot', file, rows, describe)


def unknown_videos(file: LenientTable, lists: Sequence[LenientTable]) -> Finding:
    """Find evidence whose video is in none of the lists."""
    fields = fields_of(file.table, VIDEO)
    known = [file.table.within(each.table, fields) for each in lists]
    rows = np.flatnonzero(~np.logical_or.reduce(known))
    return at_rows('unknown-video', file, rows, lambda row: _video(file, row, *lists))


def videos_without(kind: str, file: LenientTable, others: LenientTable) -> Finding:
    """Find videos that another file lacks, each where it stands first."""
    rows, n_rows = _first_without(file, others, fields_of(file.table, VIDEO))

    def describe(row: int) -> Detail:
        field, found, expected = _video(file, row, others)
        return (field, f'{found} {n_rows(row)}', expected)

    return at_rows(kind, file, rows, describe)


def names_without(kind: str, file: LenientTable, others: LenientTable) -> Finding:
    """Find names that another file lacks, each where it stands first."""
    names = file.table['person_name']
    rows, n_rows = _first_without(file, others, ['person_name'])
    expected = f'a name of {_listed(others)}'

    def describe(row: int) -> Detail:
        return ('person_name', f'{shown(names.text(row))} {n_rows(row)}', expected)

    return at_rows(kind, file, rows, describe)


def _first_without(
    file: LenientTable, others: LenientTable, fields: Sequence[str]
) -> tuple[NDArray[np.int64], Callable[[int], str]]:
    """Return the first row of each value that others lack, and a text of how many rows hold it."""
    table = file.table
    first = first_equal(row_key(table, fields))
    is_first = first == np.arange(len(table))
    counts = np.bincount(first, minlength=len(table))
    rows = np.flatnonzero(is_first & ~table.within(others.table, fields))
    return rows, lambda row: f'in {counts[row]:,} {"row" if counts[row] == 1 else "rows"}'


def _video(file: LenientTable, row: int, *lists: LenientTable) -> Detail:
    """Describe the video of a row, which lists lack; with its corpus, if the file has one."""
    *corpus, video = [shown(file.table[field].text(row)) for field in fields_of(file.table, VIDEO)]
    found = f'{video} of corpus {corpus[0]}' if corpus else video
    return ('video_id', found, f'a video of {_listed(*lists)}')


def _listed(*lists: LenientTable) -> str:
    return ' or '.join(printable(each.table.source.name) for each in lists)

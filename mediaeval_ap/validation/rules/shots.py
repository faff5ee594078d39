"""Rules about shots and videos that a list, or the reference, does not have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.problems import Detail, Finding, Kind, at_rows
from mediaeval_ap.validation.rows import SHOT, VIDEO, fields_of, first_without
from mediaeval_ap.validation.rule import Rule

UNKNOWN_SHOT = Kind(
    'unknown-shot', 'error', 'copy video and shot ids, zeros included, from the shot list'
)
UNKNOWN_VIDEO = Kind('unknown-video', 'error', 'copy the ids of the video from the list')
UNLISTED_VIDEO = Kind(
    'unlisted-video', 'warning', 'check the ids of the video; hypotheses for it do not count'
)
UNREFERENCED_VIDEO = Kind(
    'unreferenced-video', 'warning', 'check the ids of the video; none of its shots can be relevant'
)


def unknown_shots(kind: Kind, file: LenientTable, shots: LenientTable) -> Iterator[Finding]:
    """Find rows whose shot is not listed; the video is wrong where none of its shots is."""
    if 'shot_id' not in file.table.columns:
        return
    table, listed = file.table, printable(shots.table.source.name)
    rows = np.flatnonzero(~table.within(shots.table, fields_of(table, SHOT)))
    has_known_video = table.within(shots.table, fields_of(table, VIDEO))

    def describe(row: int) -> Detail:
        if not has_known_video[row]:
            return _video(file, row, listed)
        shot = shown(table['shot_id'].text(row))
        return ('shot_id', shot, f'a shot of its video in {listed}')

    yield at_rows(kind, file, rows, describe)


def unknown_videos(kind: Kind, file: LenientTable, *lists: LenientTable) -> Iterator[Finding]:
    """Find evidence whose video is in none of the lists that are given."""
    if not lists:
        return
    fields = fields_of(file.table, VIDEO)
    known = [file.table.within(each.table, fields) for each in lists]
    listed = ' or '.join(printable(each.table.source.name) for each in lists)
    rows = np.flatnonzero(~np.logical_or.reduce(known))
    yield at_rows(kind, file, rows, lambda row: _video(file, row, listed))


def videos_without(kind: Kind, file: LenientTable, others: LenientTable) -> Iterator[Finding]:
    """Find videos that another file lacks, each where it stands first."""
    listed = printable(others.table.source.name)
    rows, n_rows = first_without(file.table, others.table, fields_of(file.table, VIDEO))

    def describe(row: int) -> Detail:
        field, found, expected = _video(file, row, listed)
        return (field, f'{found} {n_rows(row)}', expected)

    yield at_rows(kind, file, rows, describe)


def _video(file: LenientTable, row: int, listed: str) -> Detail:
    """Describe the video of a row, which a list lacks; with its corpus, if the file has one."""
    *corpus, video = [shown(file.table[field].text(row)) for field in fields_of(file.table, VIDEO)]
    found = f'{video} of corpus {corpus[0]}' if corpus else video
    return ('video_id', found, f'a video of {listed}')


RULES = (
    Rule((UNKNOWN_SHOT,), unknown_shots, ('hypothesis', 'shots'), campaigns_only=True),
    Rule((UNKNOWN_SHOT,), unknown_shots, ('evidence', 'shots'), campaigns_only=True),
    Rule((UNKNOWN_VIDEO,), unknown_videos, ('evidence',), ('videos', 'shots'), campaigns_only=True),
    Rule((UNLISTED_VIDEO,), videos_without, ('hypothesis', 'videos')),
    Rule((UNREFERENCED_VIDEO,), videos_without, ('hypothesis', 'reference')),
)

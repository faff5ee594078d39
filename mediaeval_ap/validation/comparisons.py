"""What is wrong between the files of a submission, and between these and the campaign's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mediaeval_ap.arrays import first_equal
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation import kinds
from mediaeval_ap.validation.campaigns import IDS
from mediaeval_ap.validation.person_names import distinct_names
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import fields_of, row_key

__all__ = [
    'names_without',
    'unknown_shots',
    'unknown_videos',
    'videos_without',
]


def unknown_shots(read: LenientTable, shots: LenientTable) -> list[Finding]:
    """Rows whose shot is not in the shot list.

    Parameters
    ----------
    read : LenientTable
        A file with shots.
    shots : LenientTable
        The shot list.

    Returns
    -------
    list of Finding
        A problem a row, at its video where the list has no shot of that.

    Examples
    --------
    >>> from mediaeval_ap.tables import HYPOTHESIS, read
    >>> from mediaeval_ap.tables.layouts import SHOTS
    >>> shots = LenientTable(read([('x', 'v', '01', '0', '9.5')], SHOTS))
    >>> run = read([('x', 'v', '1', 'ann', 0.5)], HYPOTHESIS)
    >>> (finding,) = unknown_shots(LenientTable(run), shots)
    >>> [(problem.field, problem.found) for problem in finding]
    [('shot_id', "'1'")]
    """
    table = read.table
    fields = fields_of(table, IDS)
    rows = np.flatnonzero(~table.within(shots.table, fields))
    in_video = table.within(shots.table, fields[:-1])
    name = printable(shots.table.source.name)

    def describe(place: int) -> Detail:
        row = rows[place]
        if not in_video[row]:
            return _unknown_video(read, int(row), f'a video of {name}')
        (shot,) = table.texts('shot_id', rows[place : place + 1])
        return Detail('shot_id', shown(shot), f'a shot of its video in {name}')

    return [at_rows(kinds.get('unknown-shot'), read, rows, describe)]


def unknown_videos(read: LenientTable, lists: Sequence[LenientTable]) -> list[Finding]:
    """Rows whose video is in none of some lists.

    Parameters
    ----------
    read : LenientTable
        A file with videos.
    lists : sequence of LenientTable
        Lists of videos or of shots, at least one.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import SUBSET, read
    >>> videos = LenientTable(read([('x', 'v')], SUBSET))
    >>> (finding,) = unknown_videos(LenientTable(read([('x', 'w')], SUBSET)), [videos])
    >>> [(problem.field, problem.found) for problem in finding]
    [('video_id', "'w' of corpus 'x'")]
    """
    fields = fields_of(read.table, IDS[:2])
    known = [read.table.within(each.table, fields) for each in lists]
    rows = np.flatnonzero(~np.logical_or.reduce(known))
    names = ' or '.join(printable(each.table.source.name) for each in lists)
    expected = f'a video of {names}'

    def describe(place: int) -> Detail:
        return _unknown_video(read, int(rows[place]), expected)

    return [at_rows(kinds.get('unknown-video'), read, rows, describe)]


def names_without(kind: str, read: LenientTable, others: LenientTable) -> list[Finding]:
    """Names of a file that another file lacks.

    Parameters
    ----------
    kind : str
        What that is.
    read, others : LenientTable
        The two files.

    Returns
    -------
    list of Finding
        A problem a name, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> run, others = (LenientTable(read(names, QUERIES)) for names in (['ann', 'bob'], ['ann']))
    >>> (finding,) = names_without('missing-evidence', run, others)
    >>> [(problem.line, problem.found) for problem in finding]
    [(2, "'bob' in 1 row")]
    """
    rows, names = distinct_names(read)
    known = set(others.table['person_name'].values)
    lacking = [place for place, name in enumerate(names) if name not in known]
    codes = read.table['person_name'].codes
    counts = np.bincount(codes)
    expected = f'a name of {printable(others.table.source.name)}'

    def describe(place: int) -> Detail:
        here = lacking[place]
        return Detail(
            'person_name', f'{shown(names[here])} in {_rows(counts[codes[rows[here]]])}', expected
        )

    return [at_rows(kinds.get(kind), read, rows[lacking], describe)]


def videos_without(kind: str, read: LenientTable, others: LenientTable) -> list[Finding]:
    """Videos of a file that another file lacks.

    Parameters
    ----------
    kind : str
        What that is.
    read, others : LenientTable
        The two files.

    Returns
    -------
    list of Finding
        A problem a video, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE, read
    >>> run = LenientTable(read([('x', 'w', '1', 'ann')] * 2, REFERENCE))
    >>> reference = LenientTable(read([('x', 'v', '1', 'ann')], REFERENCE))
    >>> (finding,) = videos_without('unreferenced-video', run, reference)
    >>> [problem.found for problem in finding]
    ["'w' of corpus 'x' in 2 rows"]
    """
    table = read.table
    fields = fields_of(table, IDS[:2])
    first = first_equal(row_key(table, fields))
    counts = np.bincount(first, minlength=len(table))
    is_unknown = ~table.within(others.table, fields)
    rows = np.flatnonzero(is_unknown & (first == np.arange(len(table))))
    expected = f'a video of {printable(others.table.source.name)}'

    def describe(place: int) -> Detail:
        detail = _unknown_video(read, int(rows[place]), expected)
        return detail._replace(found=f'{detail.found} in {_rows(counts[rows[place]])}')

    return [at_rows(kinds.get(kind), read, rows, describe)]


def _unknown_video(read: LenientTable, row: int, expected: str) -> Detail:
    corpus, *video = [
        shown(read.table[field].text(row)) for field in fields_of(read.table, IDS[:2])
    ]
    found = f'{video[0]} of corpus {corpus}' if video else corpus
    return Detail('video_id', found, expected)


def _rows(count: int) -> str:
    return f'{count:,} {"row" if count == 1 else "rows"}'

"""What is wrong between the files of a submission, and between these and the campaign's."""

from __future__ import annotations

import numpy as np

from mediaeval_ap.errors import printable, shown
from mediaeval_ap.tables.places import LenientTable
from mediaeval_ap.validation import kinds
from mediaeval_ap.validation.campaigns import IDS
from mediaeval_ap.validation.person_names import distinct_names
from mediaeval_ap.validation.problems import Detail, Finding, at_rows
from mediaeval_ap.validation.rows import are_known, fields_of, first_rows, row_key

__all__ = [
    'names_without',
    'unknown_shots',
    'unknown_videos',
    'unreferenced_names',
    'unreferenced_videos',
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
    rows = np.flatnonzero(~are_known(table, shots.table, fields))
    in_video = are_known(table, shots.table, fields[:-1])
    name = printable(shots.table.source.name)

    def describe(place: int) -> Detail:
        row = rows[place]
        if not in_video[row]:
            return _unknown_video(read, int(row), f'a video of {name}')
        (shot,) = table.texts('shot_id', rows[place : place + 1])
        return Detail('shot_id', shown(shot), f'a shot of its video in {name}')

    return [at_rows(kinds.get('unknown-shot'), read, rows, describe)]


def unknown_videos(read: LenientTable, videos: LenientTable) -> list[Finding]:
    """Rows whose video is not in a list.

    Parameters
    ----------
    read : LenientTable
        A file with videos.
    videos : LenientTable
        A list of videos or of shots.

    Returns
    -------
    list of Finding
        A problem a row.

    Examples
    --------
    >>> from mediaeval_ap.tables import SUBSET, read
    >>> videos = LenientTable(read([('x', 'v')], SUBSET))
    >>> (finding,) = unknown_videos(LenientTable(read([('x', 'w')], SUBSET)), videos)
    >>> [(problem.field, problem.found) for problem in finding]
    [('video_id', "'w' of corpus 'x'")]
    """
    fields = fields_of(read.table, IDS[:2])
    rows = np.flatnonzero(~are_known(read.table, videos.table, fields))
    expected = f'a video of {printable(videos.table.source.name)}'

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


def unreferenced_names(read: LenientTable, reference: LenientTable) -> list[Finding]:
    """Names that the reference does not have.

    Parameters
    ----------
    read, reference : LenientTable
        A hypothesis, and the reference.

    Returns
    -------
    list of Finding
        A problem a name, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> run, others = (LenientTable(read(names, QUERIES)) for names in (['ann', 'bob'], ['ann']))
    >>> [str(finding.kind) for finding in unreferenced_names(run, others)]
    ['unreferenced-name']
    """
    return names_without('unreferenced-name', read, reference)


def unreferenced_videos(read: LenientTable, reference: LenientTable) -> list[Finding]:
    """Videos that the reference does not have.

    Parameters
    ----------
    read, reference : LenientTable
        A hypothesis, and the reference.

    Returns
    -------
    list of Finding
        A problem a video, where it stands first.

    Examples
    --------
    >>> from mediaeval_ap.tables import REFERENCE, read
    >>> run = LenientTable(read([('x', 'w', '1', 'ann')] * 2, REFERENCE))
    >>> reference = LenientTable(read([('x', 'v', '1', 'ann')], REFERENCE))
    >>> (finding,) = unreferenced_videos(run, reference)
    >>> [problem.found for problem in finding]
    ["'w' of corpus 'x' in 2 rows"]
    """
    table = read.table
    fields = fields_of(table, IDS[:2])
    first = first_rows(row_key(table, fields))
    counts = np.bincount(first, minlength=len(table))
    is_unknown = ~are_known(table, reference.table, fields)
    rows = np.flatnonzero(is_unknown & (first == np.arange(len(table))))
    expected = f'a video of {printable(reference.table.source.name)}'

    def describe(place: int) -> Detail:
        detail = _unknown_video(read, int(rows[place]), expected)
        return detail._replace(found=f'{detail.found} in {_rows(counts[rows[place]])}')

    return [at_rows(kinds.get('unreferenced-video'), read, rows, describe)]


def _unknown_video(read: LenientTable, row: int, expected: str) -> Detail:
    corpus, *video = [
        shown(read.table[field].values[read.table[field].codes[row]])
        for field in fields_of(read.table, IDS[:2])
    ]
    found = f'{video[0]} of corpus {corpus}' if video else corpus
    return Detail('video_id', found, expected)


def _rows(count: int) -> str:
    return f'{count:,} {"row" if count == 1 else "rows"}'

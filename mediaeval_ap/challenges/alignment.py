"""Which row of the predictions belongs to which id of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import Missing, Unknown
from mediaeval_ap.errors import (
    FormatError,
    MissingIdsWarning,
    UnknownIdsWarning,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.data_warnings import no_overlap
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.progress import tracked
from mediaeval_ap.tables import Source
from mediaeval_ap.tables.records import Records

if TYPE_CHECKING:
    import pyarrow

__all__ = ['Aligned', 'align', 'check_labels', 'pieces', 'places_of', 'unique_ids']


@dataclass(frozen=True)
class Aligned:
    """The rows of the predictions in the order of the truth.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_ids,)
        For each id of the truth its row in the predictions, from 0; -1 where there is none.
    inputs : mapping of str to Source
        ``truth`` and ``predictions``.
    counts : mapping of str to int
        How many ids of the truth are ``missing`` from the predictions, and how many rows of these
        have an ``unknown`` id.

    Examples
    --------
    >>> import pyarrow
    >>> Aligned(np.array([1, -1]), {}, {}).take(pyarrow.array(['a', 'b'])).to_pylist()
    ['b', '']
    """

    rows: NDArray[np.int64]
    inputs: Mapping[str, Source]
    counts: Mapping[str, int]

    def take(self, texts: pyarrow.Array) -> pyarrow.Array:
        """A column of the predictions in the order of the truth.

        Parameters
        ----------
        texts : pyarrow.Array
            Texts, a row each.

        Returns
        -------
        pyarrow.Array
            Texts, an id each; empty where there is no row.
        """
        import pyarrow

        return texts.take(pyarrow.array(self.rows, mask=self.rows < 0)).fill_null('')


def unique_ids(records: Records, name: str) -> pyarrow.Array:
    """The ids of records of which there is one an id.

    Parameters
    ----------
    records : Records
        Rows.
    name : str
        The column of ids.

    Returns
    -------
    pyarrow.Array
        The ids, row by row.

    Raises
    ------
    FormatError
        When an id is empty, or repeated.

    Examples
    --------
    >>> import pandas
    >>> from mediaeval_ap.tables.layouts import RecordLayout
    >>> from mediaeval_ap.tables.records import read_records
    >>> frame = pandas.DataFrame({'Image': ['1.jpg', '2.jpg', '1.jpg']})
    >>> unique_ids(read_records(frame, [RecordLayout(('Image',))]), 'Image')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.FormatError: <DataFrame>, row 3, Image: found '1.jpg' again, as in row 1, \
expected each id once
    """
    ids = records[name]
    records.refuse_empty(name)
    first = places_of(ids, ids)
    again = np.flatnonzero(first != np.arange(len(ids)))
    if len(again):
        found = f'{shown(ids[again[0]].as_py())} again, as in {records.place(first[again[0]])}'
        raise records.error(again, name, found, 'each id once')
    return ids


def align(
    ids: pyarrow.Array,
    truth: Records,
    predictions: Records,
    name: str,
    missing: Missing | None,
    unknown: Unknown,
) -> Aligned:
    """Find the row of the predictions for each id of the truth.

    Parameters
    ----------
    ids : pyarrow.Array
        The ids of the truth, each once.
    truth, predictions : Records
        Where they came from, and where they are looked for.
    name : str
        The column of ids in the predictions.
    missing : {'error', 'zero'} or None
        What an id is without a row: an error, or nothing predicted, and a warning; none where it
        can be nothing but an error.
    unknown : {'error', 'drop'}
        What a row is without an id in the truth: an error, or left out, with a warning.

    Returns
    -------
    Aligned
        The rows.

    Raises
    ------
    FormatError
        When an id of the predictions is empty or repeated; when one is missing or unknown, and that
        is an error.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning
        When there are such, and that is no error.

    Examples
    --------
    >>> import pandas
    >>> from mediaeval_ap.tables.layouts import RecordLayout
    >>> from mediaeval_ap.tables.records import read_records
    >>> truth, predictions = (
    ...     read_records(pandas.DataFrame({'Image': images}), [RecordLayout(('Image',))])
    ...     for images in (['1.jpg', '2.jpg'], ['2.jpg', '1.jpg'])
    ... )
    >>> align(truth['Image'], truth, predictions, 'Image', 'error', 'error').rows.tolist()
    [1, 0]
    """
    predicted = unique_ids(predictions, name)
    strangers = np.flatnonzero(places_of(predicted, ids) < 0)
    cause = ''
    if len(strangers) == len(predicted):
        cause = likely_cause(predicted.to_pylist(), ids.to_pylist())
    if len(strangers) and unknown == 'error':
        found = f'{shown(predicted[strangers[0]].as_py())}, which {_name(truth)} lacks'
        remedy = f'; no id is in both files: {cause}' if cause else ''
        expected = f'an id of the truth, unless unknown ids are dropped{remedy}'
        raise predictions.error(strangers, name, found, expected)
    rows = places_of(ids, predicted)
    absent = np.flatnonzero(rows < 0)
    if len(absent) and missing != 'zero':
        others = f' and {len(absent) - 1} more' if len(absent) > 1 else ''
        found = f'no row for {shown(ids[absent[0]].as_py())}{others}'
        unless = '' if missing is None else ', unless missing ids count zero'
        expected = f'one for each id of {_name(truth)}{unless}'
        raise FormatError(predictions.source.name, '', name, found, expected)
    counts = {'missing': len(absent), 'unknown': len(strangers)}
    if len(strangers) == len(predicted):
        finding = f'0 of {len(predicted):,} ids occur in {_name(truth)}'
        warn_caller(no_overlap(predictions.source.name, finding, cause))
    _warn(truth, predictions, len(ids), counts)
    return Aligned(rows, {'truth': truth.source, 'predictions': predictions.source}, counts)


def _warn(truth: Records, predictions: Records, n_ids: int, counts: Mapping[str, int]) -> None:
    run, judged = _name(predictions), _name(truth)
    if n_missing := counts['missing']:
        text = (
            f'{run}: no row for {n_missing} of {n_ids} ids of {judged}, scored as if nothing were '
        )
        warn_caller([MissingIdsWarning(f'{text}predicted')])
    if n_unknown := counts['unknown']:
        text = f'{run}: {n_unknown} of {len(predictions)} rows have an id that {judged} lacks, and '
        warn_caller([UnknownIdsWarning(f'{text}are left out')])


def _name(records: Records) -> str:
    return printable(records.source.name)


def check_labels(
    truth: Records, predictions: Records, labels: pyarrow.Array, predicted: pyarrow.Array
) -> None:
    r"""Warn when no predicted label is a true label of anybody.

    To be called where there is no hit, since it takes time.

    Parameters
    ----------
    truth, predictions : Records
        The files.
    labels, predicted : pyarrow.Array
        The true labels, and the predicted ones; nothing where missing or empty.

    Warns
    -----
    NoOverlapWarning
        Names both files, and the likely cause where there is one.

    Examples
    --------
    >>> import io, pyarrow
    >>> from mediaeval_ap.tables.layouts import RecordLayout
    >>> from mediaeval_ap.tables.records import read_records
    >>> file = read_records(io.StringIO('Image,Id\n1,a\n'), [RecordLayout(('Image', 'Id'))])
    >>> check_labels(file, file, file['Id'], pyarrow.array(['a', 'b']))
    """
    true, said = (set(each.unique().to_pylist()) - {None, ''} for each in (labels, predicted))
    if true and said and not true & said:
        finding = f'0 of {len(said):,} predicted labels occur in {_name(truth)}'
        warn_caller(no_overlap(predictions.source.name, finding, likely_cause(said, true)))


def places_of(texts: pyarrow.Array, among: pyarrow.Array) -> NDArray[np.int64]:
    """Where each text stands among others.

    Parameters
    ----------
    texts : pyarrow.Array
        Texts to look for.
    among : pyarrow.Array
        Texts to find them in.

    Returns
    -------
    ndarray of int64, shape (n_texts,)
        Positions of their first, from 0; -1 where there is none.

    Examples
    --------
    >>> import pyarrow
    >>> places_of(pyarrow.array(['b', 'c']), pyarrow.array(['a', 'b', 'b'])).tolist()
    [1, -1]
    """
    from pyarrow import compute

    places: NDArray[np.int64] = (
        compute.index_in(texts, value_set=among).fill_null(-1).to_numpy().astype(np.int64)
    )
    return places


def pieces(n_rows: int, size: int, progress: bool) -> Iterator[slice]:
    """Rows, some at a time.

    Parameters
    ----------
    n_rows : int
        How many.
    size : int
        How many at a time.
    progress : bool
        Whether to show a bar on standard error.

    Yields
    ------
    slice
        One after another.

    Examples
    --------
    >>> list(pieces(5, 3, progress=False))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    begins = range(0, n_rows, size)
    for begin in tracked(begins, progress, unit='piece'):
        yield slice(begin, min(begin + size, n_rows))

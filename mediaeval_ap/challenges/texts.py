"""What fields of text hold in the files of challenges, and tables of what was made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mediaeval_ap.tables import Records

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ['none_if_empty', 'note_of', 'refuse_empty', 'split', 'to_frame']


def none_if_empty(texts: pyarrow.Array) -> pyarrow.Array:
    """Texts, with what is empty as missing.

    Parameters
    ----------
    texts : pyarrow.Array
        Strings.

    Returns
    -------
    pyarrow.Array
        The same, null where empty.

    Examples
    --------
    >>> import pyarrow
    >>> none_if_empty(pyarrow.array(['nan', ''])).to_pylist()
    ['nan', None]
    """
    import pyarrow
    from pyarrow import compute

    return compute.if_else(compute.equal(texts, ''), pyarrow.scalar(None, texts.type), texts)


def split(texts: pyarrow.Array) -> pyarrow.LargeListArray:
    """The words of texts: what stands between spaces, however many.

    Parameters
    ----------
    texts : pyarrow.Array
        Large strings.

    Returns
    -------
    pyarrow.LargeListArray
        A list for each, empty for empty text.

    Examples
    --------
    >>> import pyarrow
    >>> split(pyarrow.array(['a  b ', ''], pyarrow.large_string())).to_pylist()
    [['a', 'b'], []]
    """
    import pyarrow
    from pyarrow import compute

    lists = compute.split_pattern(texts, ' ')
    words = lists.flatten()
    kept = compute.not_equal(words, '')
    before = np.concatenate([[0], kept.to_numpy(zero_copy_only=False).cumsum()])
    offsets = lists.offsets.to_numpy()
    return pyarrow.LargeListArray.from_arrays(before[offsets - offsets[0]], words.filter(kept))


def note_of(count: int, n_queries: int, what: str) -> list[str]:
    """A note that some queries are not like the others, if there are such.

    Parameters
    ----------
    count : int
        How many.
    n_queries : int
        Of how many.
    what : str
        What they are, or have.

    Returns
    -------
    list of str
        One note or none.

    Examples
    --------
    >>> note_of(2, 30, 'have no relevant label'), note_of(0, 30, 'have no relevant label')
    (['2 of 30 queries have no relevant label'], [])
    """
    return [f'{count} of {n_queries} queries {what}'] if count else []


def refuse_empty(records: Records, name: str) -> None:
    """Refuse records of which one has nothing in a column.

    Parameters
    ----------
    records : Records
        Rows.
    name : str
        The column of text.

    Raises
    ------
    FormatError
        Names the first.

    Examples
    --------
    >>> import pandas
    >>> from mediaeval_ap.tables import RecordLayout, read_records
    >>> frame = pandas.DataFrame({'Image': ['1.jpg', None]})
    >>> refuse_empty(read_records(frame, [RecordLayout(('Image',))]), 'Image')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.FormatError: <DataFrame>, row 2, Image: found nothing, expected text
    """
    from pyarrow import compute

    empty = np.flatnonzero(compute.equal(records[name], '').to_numpy(zero_copy_only=False))
    if len(empty):
        raise records.error(empty, name, 'nothing', 'text')


def to_frame(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """Columns as a table.

    Parameters
    ----------
    columns : mapping of str to pyarrow.Array or ndarray
        Columns of one length.

    Returns
    -------
    pandas.DataFrame
        The same columns.

    Examples
    --------
    >>> import pyarrow
    >>> to_frame({'Image': pyarrow.array(['1.jpg']), 'RR@5': np.array([0.5])})
       Image  RR@5
    0  1.jpg   0.5
    """
    import pandas

    return pandas.DataFrame(
        {
            name: column if isinstance(column, np.ndarray) else column.to_pandas()
            for name, column in columns.items()
        }
    )

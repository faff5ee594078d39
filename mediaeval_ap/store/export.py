"""The hypotheses of a store as a Parquet file, written part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.progress import tracked
from mediaeval_ap.store.columns import damaged
from mediaeval_ap.tables import HYPOTHESIS
from mediaeval_ap.tables.stored_texts import StoredTexts

if TYPE_CHECKING:
    import pyarrow

ROWS_OF_GROUP = 1 << 17  # a choice: some megabytes of rows at a time


def write_parquet(ranking: Any, file: BinaryIO) -> None:
    """Write the hypotheses of a stored ranking to a file, in the order of places."""
    import pyarrow
    from pyarrow import parquet

    source = ranking.source.name
    texts = {field: _as_arrow(values, source) for field, values in ranking.texts.items()}
    types = [pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string())] * 4
    schema = pyarrow.schema(zip(HYPOTHESIS.fields, [*types, pyarrow.float64()], strict=True))
    with parquet.ParquetWriter(file, schema, store_schema=False) as writer:
        for begin in tracked(range(0, len(ranking), ROWS_OF_GROUP), 'writing', ' row groups'):
            part = slice(begin, begin + ROWS_OF_GROUP)
            columns = {
                field: _dictionary(codes, texts[field])
                for field, codes in ranking.codes(part).items()
            }
            columns['confidence'] = pyarrow.array(ranking.confidence_at[part])
            writer.write_table(pyarrow.table(columns, schema))


def _as_arrow(texts: StoredTexts, source: str) -> pyarrow.Array:
    """Return stored texts as an array, without a copy of their bytes."""
    import pyarrow

    offsets = np.concatenate([[0], texts.ends])
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(texts.content)]
    try:
        array = pyarrow.Array.from_buffers(pyarrow.large_string(), len(texts), buffers)
        array.validate(full=True)  # else a damaged store could end the process
    except pyarrow.ArrowInvalid as error:
        raise damaged(source, 'what are no texts', 'those of a store') from error
    return array


def _dictionary(codes: NDArray[Any], texts: pyarrow.Array) -> pyarrow.Array:
    """Return texts by their codes; each that occurs is in the dictionary once."""
    import pyarrow

    used, numbers = np.unique(codes, return_inverse=True)
    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(numbers, pyarrow.int32()), texts.take(pyarrow.array(used))
    )

"""Hostile Parquet that stands for much more than it holds, or says other than it holds."""

import pyarrow
from pyarrow import parquet

from hostile.entries import ANN, MIB, MILLION, Entry, limited
from hostile.tables import FIELDS, bomb, once, repeated, storing, table

TOO_MUCH_METADATA = limited('has metadata that come to').replace('1000000', str(64 * MIB))


def long_name():
    """A name that is a few kilobytes when it is compressed."""
    return pyarrow.repeat('x' * (16 * MIB), 1)


def signed(number, length=1):
    """A number as Thrift writes it, in so many bytes at least."""
    return unsigned(2 * number if number >= 0 else -2 * number - 1, length)


def unsigned(number, length=1):
    if number < 128 and length <= 1:
        return bytes([number])
    return bytes([number & 127 | 128]) + unsigned(number >> 7, length - 1)


def denied(path):
    """Two million rows of one hypothesis, whose footer says two of all that there are many of."""
    columns = zip(FIELDS, ANN, strict=True)
    content = pyarrow.table({name: repeated(value, 2 * MILLION) for name, value in columns})
    storing(content, compression='zstd', store_schema=False)(path)
    content = path.read_bytes()
    metadata = parquet.read_metadata(path)
    group = metadata.row_group(0)
    parts = list(map(group.column, range(group.num_columns)))
    many = {metadata.num_rows, group.num_rows, group.total_byte_size}
    many |= {part.total_uncompressed_size for part in parts} | {part.num_values for part in parts}
    start = len(content) - 8 - metadata.serialized_size
    pages, footer = content[:start], content[start:]
    for number in sorted(many, reverse=True):
        if number > 1000:
            written = signed(number)
            footer = footer.replace(written, signed(2, len(written)))
    path.write_bytes(pages + footer)


def page_too_large(path):
    """A page whose header says 1 GiB."""
    content = table()[:1].set_column(3, 'person_name', pyarrow.array(['x' * 5000]))
    storing(content, compression='zstd', store_schema=False)(path)
    content = path.read_bytes()
    assert content.count(signed(5004)) == 1
    path.write_bytes(content.replace(signed(5004), signed(1 << 30)))


BOMBS = [
    bomb('long-name', long_name, 1),
    bomb('long-name-plain', long_name, 1, use_dictionary=False),
    Entry(
        *('denied.parquet', once(denied)),
        error='{path}: not readable as Parquet: row groups of other rows than it says',
        max_bytes=MILLION,
    ),
    Entry(
        *('page-too-large.parquet', page_too_large),
        error='{path}: not readable as Parquet: Corrupt ZSTD compressed data.',
    ),
    Entry(
        'metadata.parquet',
        lambda path: storing(table().replace_schema_metadata({'more': 'x' * (8 * MIB)}))(path),
        error=TOO_MUCH_METADATA,
        max_bytes=MILLION,
    ),
]

"""Hostile Parquet that stands for much more than it holds."""

from functools import cache

import pyarrow
from pyarrow import parquet

from hostile.containers import MIB, MILLION, limited
from hostile.entries import ANN, Entry, holding
from hostile.tables import FIELDS, once, repeated, storing, table

LONG_NAME = 64 * MIB
TOO_MUCH_METADATA = limited('has metadata that come to').replace('1000000', str(64 * MIB))

TOO_MANY_ELEMENTS = (
    "{path}: not readable as Parquet: Couldn't deserialize thrift: TProtocolException: "
    'Exceeded size limit'
)


@cache
def long_name():
    """A hypothesis for one name that is a few kilobytes when it is compressed."""
    names = pyarrow.repeat('x' * LONG_NAME, 1)
    return table()[:1].set_column(3, 'person_name', names)


def one_row(n_times):
    """One hypothesis over and over, which takes a few bytes more than once."""
    columns = zip(FIELDS, ANN, strict=True)
    return pyarrow.table({name: repeated(value, n_times) for name, value in columns})


def compressed(content, **options):
    return storing(content, compression='zstd', store_schema=False, **options)


def signed(number, length=1):
    """A number as Thrift writes it, in so many bytes at least."""
    return unsigned(2 * number if number >= 0 else -2 * number - 1, length)


def unsigned(number, length=1):
    if number < 128 and length <= 1:
        return bytes([number])
    return bytes([number & 127 | 128]) + unsigned(number >> 7, length - 1)


def denying(make):
    """What makes a file whose footer says two of all that there are many of."""

    def deny(path):
        make(path)
        content = path.read_bytes()
        metadata = parquet.read_metadata(path)
        group = metadata.row_group(0)
        columns = list(map(group.column, range(group.num_columns)))
        many = {metadata.num_rows, group.num_rows, group.total_byte_size}
        many |= {column.total_uncompressed_size for column in columns}
        many |= {column.num_values for column in columns}
        start = len(content) - 8 - metadata.serialized_size
        pages, footer = content[:start], content[start:]
        for number in sorted(many, reverse=True):
            if number > 1000:
                written = signed(number)
                assert written in footer
                footer = footer.replace(written, signed(2, len(written)))
        path.write_bytes(pages + footer)

    return deny


def resized(make, right, wrong):
    """What makes a file in which the header of a page says another size."""

    def resize(path):
        make(path)
        content = path.read_bytes()
        assert content.count(signed(right)) == 1
        path.write_bytes(content.replace(signed(right), signed(wrong, len(signed(right)))))

    return resize


def structures(*elements):
    """A list of structures, as Thrift writes it."""
    return b'\xfc' + unsigned(len(elements)) + b''.join(elements)


def footer_of(schema, row_groups):
    """What makes a file that has nothing but a footer."""
    footer = b'\x15\x02\x19' + schema + b'\x16\x00\x19' + row_groups + b'\x00'
    return holding(b'PAR1' + footer + len(footer).to_bytes(4, 'little') + b'PAR1')


def root(n_columns):
    return b'\x48\x00\x15' + signed(n_columns) + b'\x00'


COLUMN = b'\x15\x0c\x25\x00\x18\x00\x00'  # of bytes, required, without a name
PART = b'\x26\x00\x00'  # of a column in a row group: its one required field
ROW_GROUP = b'\x19' + structures(*[PART] * 50_000) + b'\x16\x00\x16\x00\x00'


def bomb(name, why, make, error=None):
    error = error or limited('decompresses to')
    return Entry(f'{name}.parquet', why, once(make), error=error, max_bytes=MILLION)


def small_name(path):
    compressed(table()[:1].set_column(3, 'person_name', pyarrow.array(['x' * 5000])))(path)


BOMBS = [
    bomb('long-name', 'a name of 64 MiB in a few kilobytes', lambda p: compressed(long_name())(p)),
    bomb(
        'long-name-plain',
        'the same without a dictionary',
        lambda path: compressed(long_name(), use_dictionary=False)(path),
    ),
    bomb(
        'long-name-page-2',
        'the same in a page of the second version',
        lambda path: compressed(long_name(), use_dictionary=False, data_page_version='2.0')(path),
    ),
    bomb(
        'long-name-denied',
        'the same, and the footer denies it',
        denying(lambda path: compressed(long_name())(path)),
    ),
    bomb(
        'many-rows',
        'ten million rows of one hypothesis',
        lambda path: compressed(one_row(10 * MILLION))(path),
    ),
    bomb(
        'page-too-large',
        'a page that says 1 GiB, and is not',
        resized(small_name, 5004, 1 << 30),
        error='{path}: not readable as Parquet: Corrupt ZSTD compressed data.',
    ),
    bomb(
        'page-too-small',
        'a page that says fewer bytes than it is',
        resized(small_name, 5004, 5),
        error='{path}: not readable as Parquet: ZSTD decompression failed: '
        'Destination buffer is too small',
    ),
    bomb(
        'page-below-0',
        'a page that says less than nothing',
        resized(small_name, 5004, -1),
        error='{path}: not readable as Parquet: Invalid page header',
    ),
    bomb(
        'columns',
        'a footer of 300,000 columns',
        footer_of(structures(root(300_000), *[COLUMN] * 300_000), structures()),
        TOO_MANY_ELEMENTS,
    ),
    bomb(
        'parts',
        'a footer of 500,000 parts of a column',
        footer_of(structures(root(1), COLUMN), structures(*[ROW_GROUP] * 10)),
        TOO_MANY_ELEMENTS,
    ),
    bomb(
        'metadata',
        'more about the rows than rows',
        lambda path: storing(table().replace_schema_metadata({'more': 'x' * (8 * MIB)}))(path),
        TOO_MUCH_METADATA,
    ),
]


def session(text):
    """A run that says it is a live session, with this as its description."""
    return storing(table().replace_schema_metadata({'mediaeval_ap.live': text}))


# What `AveragePrecision.restore` refuses: no command reads them.
SESSIONS = [
    Entry(
        f'{name}.parquet',
        why,
        session(text),
        error=TOO_MUCH_METADATA,
        role='session',
        max_bytes=MILLION,
    )
    for name, why, text in [
        ('lists', 'a description of 500,000 lists', '[' + '[0],' * 500_000 + '0]'),
        ('mappings', 'a description of 300,000 mappings', '[' + '{"a":0},' * 300_000 + '0]'),
        ('texts', 'a description of wide text', '["😀' + 'x' * 4 * MIB + '"]'),
        ('description', 'a description that is long', ' ' * 9 * MIB),
    ]
]

"""Kinds of origins."""

import io

import pytest

from mediaeval_ap.tables import (
    SUBSET,
    read,
)
from mediaeval_ap.tables.input_kinds import Kind, Origin, is_rows


@pytest.mark.parametrize(
    ('value', 'kind'),
    [
        ('run.txt', Kind.TEXT),
        ('-', Kind.TEXT),
        (io.BytesIO(), Kind.TEXT),
        ('run.parquet', Kind.PARQUET),
        ([('x', 'v')], Kind.ROWS),
        (iter([]), Kind.ROWS),
        (read([('x', 'v')], SUBSET), Kind.TABLE),
        ({'x': 1}, Kind.UNKNOWN),
        (b'x', Kind.UNKNOWN),
        (None, Kind.UNKNOWN),
    ],
)
def test_kinds(value, kind):
    origin = Origin.of(value)
    assert origin.kind is kind
    assert Origin.of(origin) is origin
    assert is_rows(value) == (kind is Kind.ROWS)
    assert kind.has_all_fields == (kind in (Kind.TEXT, Kind.TABLE))

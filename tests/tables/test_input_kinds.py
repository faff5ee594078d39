"""Kinds of origins."""

import io

import pytest

from mediaeval_ap.tables import (
    SUBSET,
    read,
)
from mediaeval_ap.tables.reading import Kind, Origin, is_rows


@pytest.mark.parametrize(
    ('value', 'kind'),
    [
        ('run.txt', Kind.TEXT),
        ('-', Kind.TEXT),
        (io.BytesIO(), Kind.TEXT),
        ('run.parquet', Kind.TEXT),  # which is not there: its suffix says nothing
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


@pytest.mark.parametrize(
    ('content', 'kind'),
    [(b'PAR1\x15\x04', Kind.PARQUET), (b'PAR1 v 1 ann 0.5', Kind.TEXT), (b'PAR1', Kind.TEXT)],
)
def test_parquet_is_known_by_its_first_bytes(tmp_path, content, kind):
    path = tmp_path / 'run.txt'
    path.write_bytes(content)
    assert Origin.of(path).kind is kind
    with open(path, 'rb') as file:
        assert Origin.of(file).kind is kind
        assert file.read() == content
        assert Origin.of(file).kind is Kind.TEXT  # it stands at its end
    assert Origin.of(file).kind is Kind.TEXT  # and is closed
    with open(path) as text:
        assert Origin.of(text).kind is Kind.TEXT

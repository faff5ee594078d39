"""Kinds of origins."""

import io

import pytest

from mediaeval_ap.tables import (
    SUBSET,
    read,
)
from mediaeval_ap.tables.reading import Origin, OriginKind, is_rows


@pytest.mark.parametrize(
    ('value', 'kind'),
    [
        ('run.txt', OriginKind.TEXT),
        ('-', OriginKind.TEXT),
        (io.BytesIO(), OriginKind.TEXT),
        ('run.parquet', OriginKind.TEXT),  # which is not there: its suffix says nothing
        ([('x', 'v')], OriginKind.ROWS),
        (iter([]), OriginKind.ROWS),
        (read([('x', 'v')], SUBSET), OriginKind.TABLE),
        ({'x': 1}, OriginKind.UNKNOWN),
        (b'x', OriginKind.UNKNOWN),
        (None, OriginKind.UNKNOWN),
    ],
)
def test_kinds(value, kind):
    origin = Origin.of(value)
    assert origin.kind is kind
    assert Origin.of(origin) is origin
    assert is_rows(value) == (kind is OriginKind.ROWS)
    assert kind.has_all_fields == (kind in (OriginKind.TEXT, OriginKind.TABLE))


@pytest.mark.parametrize(
    ('content', 'kind'),
    [
        (b'PAR1\x15\x04', OriginKind.COLUMNAR),
        (b'PAR1 v 1 ann 0.5', OriginKind.TEXT),
        (b'PAR1', OriginKind.TEXT),
    ],
)
def test_parquet_is_known_by_its_first_bytes(tmp_path, content, kind):
    path = tmp_path / 'run.txt'
    path.write_bytes(content)
    assert Origin.of(path).kind is kind
    with open(path, 'rb') as file:
        assert Origin.of(file).kind is kind
        assert file.read() == content
        assert Origin.of(file).kind is OriginKind.TEXT  # it stands at its end
    assert Origin.of(file).kind is OriginKind.TEXT  # and is closed
    with open(path) as text:
        assert Origin.of(text).kind is OriginKind.TEXT

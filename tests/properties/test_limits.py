"""How many bytes a compressed file or one of Parquet may come to."""

import gzip
import io
import re

import pyarrow
import pytest
from hostile.containers import COMPRESS
from hostile.entries import REFERENCE, A, B
from pyarrow import parquet

from mediaeval_ap import AveragePrecision, validate
from mediaeval_ap.errors import ParameterError, ReadError
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, read
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.records import read_records
from mediaeval_ap.tables.sources import LIMIT_VARIABLE


def refuses(name, n_bytes, limit):
    return pytest.raises(
        ReadError,
        match=f'^{name}: decompresses to {n_bytes} bytes or more, expected at most {limit}: '
        f'raise the limit by the environment variable {LIMIT_VARIABLE}$',
    )


@pytest.mark.parametrize('kind', COMPRESS)
def test_what_is_compressed_has_a_limit(tmp_path, monkeypatch, kind):
    """All of a file counts, of however many streams it is."""
    content = COMPRESS[kind](A) + COMPRESS[kind](B)
    size = len(A + B)
    monkeypatch.setenv(LIMIT_VARIABLE, str(size))
    assert len(read(io.BytesIO(content), HYPOTHESIS)) == 2
    monkeypatch.setenv(LIMIT_VARIABLE, str(size - 1))
    with refuses('<file>', size, size - 1):
        read(io.BytesIO(content), HYPOTHESIS)
    path = tmp_path / 'run'
    path.write_bytes(content)
    for call in (validate, lambda path: read_records(path, [RecordLayout(('id',))])):
        with refuses(path, size, size - 1):
            call(path)


def test_plain_text_has_none(tmp_path, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, '1')
    path = tmp_path / 'run.txt'
    path.write_bytes(A + B)
    for origin in (path, io.BytesIO(A + B)):
        assert len(read(origin, HYPOTHESIS)) == 2


def test_parquet_has_the_limit_for_what_its_footer_says(tmp_path, monkeypatch):
    path = tmp_path / 'subset.parquet'
    columns = pyarrow.table({'corpus_id': ['x'] * 50, 'video_id': [f'{i:0100}' for i in range(50)]})
    parquet.write_table(columns, path, compression='zstd')
    size = parquet.read_metadata(path).row_group(0).total_byte_size
    assert path.stat().st_size < 5000 < size
    monkeypatch.setenv(LIMIT_VARIABLE, str(size))
    assert len(read(path, SUBSET)) == 50
    monkeypatch.setenv(LIMIT_VARIABLE, str(size - 1))
    with refuses(path, size, size - 1):
        read(path, SUBSET)


@pytest.mark.parametrize('wrong', ['0', '-5', 'many', '1.5'])
def test_the_limit_is_a_positive_integer(monkeypatch, wrong):
    monkeypatch.setenv(LIMIT_VARIABLE, wrong)
    expected = f"^{LIMIT_VARIABLE}: found '{re.escape(wrong)}', expected a positive integer$"
    with pytest.raises(ParameterError, match=expected):
        AveragePrecision(io.BytesIO(gzip.compress(REFERENCE)))

"""Columns of decimals are numbers: the nearest doubles, as those of the same digits in a file."""

from decimal import Decimal

import pandas
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision
from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import HYPOTHESIS, Provenance, read
from mediaeval_ap.tables.columnar import SEARCHED_BYTES, holds_any, number_array
from mediaeval_ap.tables.values import as_double

SOURCE = Provenance('decimals')


@example(digits=29999999999999998, scale=17)  # a cast gives 0.3 less one digit
@given(digits=st.integers(-(10**36), 10**36), scale=st.integers(1, 36))
def test_decimals_become_the_nearest_doubles(digits, scale):
    decimal = Decimal(digits).scaleb(-scale)
    column = pyarrow.chunked_array([pyarrow.array([decimal], pyarrow.decimal128(38, scale))])
    assert number_array(column, 'score', SOURCE).tolist() == [float(decimal)]
    if decimal != int(decimal):  # an integer may be beyond 2**53
        assert as_double(decimal) == float(decimal)


@pytest.mark.parametrize('kind', ['decimal128', 'decimal256'])
def test_integers_among_decimals_are_exact(kind):
    kind = getattr(pyarrow, kind)(20, 0)
    for number in 2**53, -(2**53), 0:
        column = pyarrow.chunked_array([pyarrow.array([Decimal(number), None], kind)])
        assert number_array(column, 'n', SOURCE, allow_missing=True)[0] == number
        assert as_double(Decimal(number)) == number
    for number in 2**53 + 1, 10**19 + 1:
        column = pyarrow.chunked_array([pyarrow.array([Decimal(number)], kind)])
        with pytest.raises(FormatError, match=r'n: found integers beyond 2..53, expected a finite'):
            number_array(column, 'n', SOURCE)
        assert as_double(Decimal(number)) is None
    with pytest.raises(FormatError, match='row 1, n: found nothing, expected a value'):
        number_array(pyarrow.chunked_array([pyarrow.array([None], kind)]), 'n', SOURCE)


def holders(rows, folder):
    """A list, a frame, a table and a Parquet file of the same rows."""
    frame = pandas.DataFrame(rows, columns=[*HYPOTHESIS.fields])
    frame.to_parquet(path := folder / 'rows.parquet')
    return rows, frame, pyarrow.Table.from_pandas(frame), path


def test_confidences_of_a_run(tmp_path):
    """Ids that are decimals stay errors, as 1.0 may stand for 01."""
    texts = ['0.30', '0.2', '0.10', '-0.05']
    run = [('c', 'v', str(shot), 'ann', text) for shot, text in enumerate(texts)]
    floats = [(*row[:4], float(row[4])) for row in run]
    decimals = [(*row[:4], Decimal(row[4])) for row in run]
    scorer = AveragePrecision([('c', 'v', '1', 'ann'), ('c', 'v', '3', 'ann')], K=[10])
    for holder in holders(decimals, tmp_path):
        assert list(read(holder, HYPOTHESIS).rows()) == floats
        assert scorer.evaluate(holder).map.tolist() == [(1 / 2 + 2 / 4) / 2]
    wrong = [('c', 'v', Decimal(shot), *row[3:]) for shot, row in enumerate(decimals)]
    for holder in holders(wrong, tmp_path):
        with pytest.raises(FormatError, match=r'shot_id: found .*ecimal.*, expected .*text'):
            read(holder, HYPOTHESIS)


@pytest.mark.parametrize('n_before', [SEARCHED_BYTES - 2, SEARCHED_BYTES - 1, SEARCHED_BYTES])
def test_characters_of_several_bytes_are_found_where_blocks_meet(n_before):
    texts = pyarrow.array(['a' * n_before, '\ufeff', 'b'], pyarrow.large_string())
    assert holds_any(texts, '\r\ufeff')
    assert not holds_any(texts, '\r\u3000')

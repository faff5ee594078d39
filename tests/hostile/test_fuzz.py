"""Every reader, on bytes that may be anything: `tests/hostile/fuzz.py` does it for longer."""

import pyarrow
import pytest
from hanging import no_hang
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from hostile.targets import TARGETS
from mediaeval_ap.errors import Error
from mediaeval_ap.tables import SUBSET, read

tokens = st.sampled_from(
    [b'\n', b'\r\n', b'\0', b'"', b',', b' ', b'\t', b'nan', b'1e999', b'-', b'\xff', b'\xc2\xa0']
) | st.binary(min_size=1, max_size=4)


@st.composite
def mutated(draw, seeds):
    """Bytes that are right, with some changed, cut, repeated, or put between."""
    data = draw(st.sampled_from(seeds))
    for kind in draw(st.lists(st.sampled_from(['set', 'cut', 'repeat', 'insert']), max_size=5)):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.integers(1, 16)))
        token = draw(tokens)
        middle = {
            'set': token[: end - begin],
            'cut': b'',
            'repeat': data[begin:end] * draw(st.sampled_from([2, 3, 50])),
            'insert': token + data[begin:end],
        }[kind]
        rest = data[begin + len(middle) :] if kind == 'set' else data[end:]
        data = data[:begin] + middle + rest
    return data


@pytest.mark.parametrize('name', TARGETS)
def test_a_table_or_an_error(name):
    target = TARGETS[name]

    @given(mutated(target.seeds) | st.binary(max_size=100))
    def run(data):
        with no_hang():
            target(data)

    run()


@pytest.mark.parametrize('name', TARGETS)
def test_seeds_are_right(name):
    """From wrong seeds, fuzzing would not get past the first check of a reader."""
    try:
        TARGETS[name].read(TARGETS[name].seeds[0])
    except Error as error:
        pytest.fail(f'refused: {error}')


def test_every_byte_of_parquet_changed(tmp_path):
    """Numbers beyond a dictionary, and metadata on which pyarrow can end the process, are there."""
    path = tmp_path / 'subset.parquet'
    table = pyarrow.table({'corpus_id': ['x', 'x', 'y'], 'video_id': ['v', 'w', 'v']})
    parquet.write_table(table, path, compression='none', store_schema=False)
    right = path.read_bytes()
    reasons = []
    for place in range(len(right)):
        path.write_bytes(right[:place] + bytes([right[place] ^ 1]) + right[place + 1 :])
        try:
            read(path, SUBSET)
        except Error as error:
            reasons.append(str(error))
    assert all(reason.isprintable() for reason in reasons)
    assert len(reasons) > 100

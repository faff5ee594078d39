"""A file of a block is read as it was written, or refused."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from mediaeval_ap import Evaluation, definitions
from mediaeval_ap.errors import FormatError
from mediaeval_ap.execute.blocks import Block, BlockFile
from mediaeval_ap.tables import Source

KEY = '0123456789abcdef'


def written(folder, evaluation, number=17):
    Block(number, tuple(evaluation.queries), KEY, folder).keep(evaluation)
    (name,) = os.listdir(folder)
    return os.path.join(folder, name)


ONE = Evaluation(
    ['ann', 'bob'],
    [10],
    np.array([[0.5], [1 / 3]]),
    np.array([2, 13]),
    definitions.get('trec'),
    {'reference': Source('reference.txt'), 'hypothesis': Source('run.txt')},
    {'queries': 2},
)


@examples(2)
@given(st.data())
def test_content_that_was_cut_or_edited_is_refused(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(written(folder, ONE))
        content = path.read_bytes()
        place = data.draw(st.integers(0, len(content) - 1))
        edited = bytearray(content)
        edited[place] ^= 1 << data.draw(st.integers(0, 7))
        for wrong in content[:place], bytes(edited), content + b'\n':
            path.write_bytes(wrong)
            with pytest.raises(FormatError) as caught:
                BlockFile.of(str(path)).read()
            found = 'found content that was cut or edited'
            expected = 'the one that its name is made of; delete the file, to compute it again'
            assert str(caught.value) == f'{path}: {found}, expected {expected}'


def test_a_file_that_took_the_place_of_another_is_refused(tmp_path):
    path = Path(written(str(tmp_path), ONE))
    moved = path.rename(tmp_path / path.name.replace('-00017-', '-00018-'))
    with pytest.raises(FormatError, match='found content that was cut or edited, expected'):
        BlockFile.of(str(moved)).read()


def test_only_names_that_were_written_are_blocks():
    name = f'{KEY}-00017-{KEY}.json'
    assert BlockFile.of(f'out/{name}') == (f'out/{name}', KEY, 17)
    assert BlockFile.of(f'out/{KEY}-123456-{KEY}.json').number == 123456
    for other in f'{name}.bak', name.upper(), f'.{name}', 'plan.json', f'{KEY}-1-{KEY}.json', '':
        assert BlockFile.of(other) is None

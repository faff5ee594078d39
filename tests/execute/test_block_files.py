"""A file of a block is read as it was written, bit for bit, or refused."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import allowed, cutoffs, examples, names

from mediaeval_ap import Evaluation, atomic_files, definitions
from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.execute.blocks import Block, BlockFile
from mediaeval_ap.tables import Source

KEY = '0123456789abcdef'

digests = st.none() | st.just('0' * 64)
names_of_files = st.sampled_from(['run.txt', 'é\xa0ü', 'a"b\\c', '<rows>'])


@st.composite
def evaluations(draw):
    queries = draw(st.lists(names, min_size=1, max_size=5))
    definition = definitions.get(draw(st.sampled_from(definitions.names())))
    K = allowed(draw(cutoffs), definition.name)
    several = {'min_size': len(queries), 'max_size': len(queries)}
    n_relevant = draw(st.lists(st.integers(0, 2**53), **several))
    n_returned = draw(st.integers(0, 2**53))

    def ap_of(k, relevant):  # as a definition can give it, which is checked when it is read
        most = definition.upper_bound(k, relevant, n_returned)
        return draw(st.floats(0 if relevant else most, most))

    ap = [[ap_of(k, relevant) for relevant in n_relevant] for k in K]
    measures = draw(
        st.dictionaries(
            st.sampled_from(['nDCG@10', 'P(rel=2)@5', 'RR']),
            st.lists(st.floats(0, 1) | st.just(float('nan')), **several),
        )
    )
    return Evaluation(
        queries=queries,
        K=K,
        ap=np.column_stack(ap),
        n_relevant=np.array(n_relevant),
        definition=definition,
        inputs={
            role: Source(draw(names_of_files), draw(digests))
            for role in ('reference', 'hypothesis', 'subset', 'queries')
        },
        counts={'queries': len(queries), 'hypotheses': n_returned},
        measures={name: np.array(values) for name, values in measures.items()},
    )


def written(folder, evaluation, number=17):
    Block(number, tuple(evaluation.queries), KEY, folder).keep(evaluation)
    (name,) = os.listdir(folder)
    return os.path.join(folder, name)


@given(evaluations())
def test_what_is_read_is_what_was_written(evaluation):
    with tempfile.TemporaryDirectory() as folder:
        again = BlockFile.of(written(folder, evaluation)).read()
    assert again.ap.tobytes() == evaluation.ap.tobytes()
    assert again.n_relevant.tolist() == evaluation.n_relevant.tolist()
    assert list(again.measures) == list(evaluation.measures)
    for name, values in evaluation.measures.items():
        assert again.measures[name].tobytes() == values.tobytes()
    assert again.to_dict() == evaluation.to_dict()
    assert again.to_json(per_query=True) == evaluation.to_json(per_query=True)


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


def test_a_file_that_cannot_be_read(tmp_path):
    path = Path(written(str(tmp_path), ONE))
    path.unlink()
    with pytest.raises(ReadError, match=f'^{path}: No such file or directory$'):
        BlockFile.of(str(path)).read()


def test_only_names_that_were_written_are_blocks():
    name = f'{KEY}-00017-{KEY}.json'
    assert BlockFile.of(f'out/{name}') == (f'out/{name}', KEY, 17)
    assert BlockFile.of(f'out/{KEY}-123456-{KEY}.json').number == 123456
    for other in f'{name}.bak', name.upper(), f'.{name}', 'plan.json', f'{KEY}-1-{KEY}.json', '':
        assert BlockFile.of(other) is None


def test_a_signal_can_end_a_process_between_two_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_files, '_is_placing', False)
    written(str(tmp_path), ONE)
    assert atomic_files.give_up()

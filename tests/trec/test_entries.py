"""Qrels and runs are read from every source, and what is wrong is named with its line."""

import gzip
from unittest.mock import patch

import numpy as np
import pandas
import polars
import pytest
import pytrec_eval
from hanging import no_hang
from hostile.containers import pipe_of
from hypothesis import assume, given
from hypothesis import strategies as st
from trec_rows import QRELS, RUN, map_column, qrels_text, quiet, run_text

from mediaeval_ap import evaluate_trec
from mediaeval_ap.arrays import MAX_PACKED_BYTES
from mediaeval_ap.errors import FormatError
from mediaeval_ap.tables import layouts, read, reading
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.trec import entries
from mediaeval_ap.trec.entries import Entries, pair_keys

RUN_LAYOUT = layouts.RUN


def test_files_of_every_kind_are_read_alike(folder):
    (folder / 'qrels.gz').write_bytes(gzip.compress((folder / 'qrels').read_bytes()))
    (folder / 'odd').write_bytes(
        b'\xef\xbb\xbf' + (folder / 'run').read_bytes().replace(b' ', b'\t ')
    )
    frame = pandas.DataFrame(RUN, columns=['qid', 'docno', 'score']).assign(rank=1)
    frame.to_parquet('run.parquet')
    with open('run', 'rb') as file:
        for origin in ('run', 'odd', folder / 'run', frame, 'run.parquet', file):
            evaluation = evaluate_trec('qrels.gz', origin, [10])
            assert (evaluation.queries, evaluation.ap.tolist()) == (['7', '8'], [[0.25], [1.0]])


def test_a_pipe_is_read_once(folder):
    """Opening a pipe a second time would wait for ever, or lose its first lines."""
    pipe_of(b'\xef\xbb\xbf' + run_text(RUN).encode())(folder / 'pipe')
    with no_hang():
        assert evaluate_trec('qrels', 'pipe').map.tolist() == evaluate_trec(QRELS, RUN).map.tolist()
    pipe_of(b'\n7 Q0 d1 1 1 me\n7 Q0 d1 2 1 me\n')(folder / 'other')
    with (
        no_hang(),
        pytest.raises(FormatError, match=r"^other, line 3, docno: found 'd1' again for"),
    ):
        evaluate_trec('qrels', 'other')


# Precisions are added in doubles, and expected ones are products of a few quotients.
ROUNDING = 1e-14


LONG = 'x' * MAX_PACKED_BYTES


@pytest.mark.parametrize('judged_long', [True, False])
@pytest.mark.parametrize('returned_long', [True, False])
def test_large_runs_are_as_pytrec_eval(returned_long, judged_long, tmp_path, monkeypatch):
    """Blocks of lines, topics between one another, ties, very long text."""
    monkeypatch.setattr(reading, 'BULK_BYTES', 0)
    monkeypatch.setattr(entries, 'TREC_BLOCK_BYTES', 1 << 10)
    random = np.random.default_rng(4)  # fixed: one run, not a search
    pairs = sorted({(int(t), int(d)) for t, d in random.integers(0, (20, 600), (5000, 2))})
    order = random.permutation(len(pairs))
    rows = [(str(pairs[i][0]), f'doc{pairs[i][1]}', int(random.integers(40)) / 8) for i in order]
    judged = [(str(t), f'doc{d}', int(random.integers(3))) for t, d in pairs[::7]]
    # The last block alone has long documents, of which one is in both files.
    rows += [('1', f'{LONG}{number}', 4.0) for number in (0, 1) if returned_long]
    judged += [('1', f'{LONG}{number}', 1) for number in (1, 2) if judged_long]
    (tmp_path / 'run').write_text(run_text(rows))
    (tmp_path / 'qrels').write_text(qrels_text(judged))
    with open(tmp_path / 'qrels') as file:
        qrel = pytrec_eval.parse_qrel(file)
    with open(tmp_path / 'run') as file:
        run = pytrec_eval.parse_run(file)
    cutoffs = [5, 10, 100, 1000, 'all']
    results = pytrec_eval.RelevanceEvaluator(qrel, {'map', 'map_cut'}).evaluate(run)
    evaluation = evaluate_trec(tmp_path / 'qrels', tmp_path / 'run', cutoffs, ties='trec_eval-9')
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        expected = [results[topic][map_column(k)] for k in cutoffs]
        assert ap == pytest.approx(expected, abs=ROUNDING)


def test_comments_are_in_lines_alone(folder):
    """A topic that begins with # is one in values; in lines there is no way to spell it."""
    judged, run = [('#7', 'd1', 1), ('8', '#d', 1)], [('#7', 'd1', 0.5), ('8', '#d', 0.5)]
    frame = pandas.DataFrame(run, columns=['qid', 'docno', 'score'])
    frame.to_parquet('run.parquet')
    for origin in (run, frame, polars.from_pandas(frame), 'run.parquet'):
        evaluation = evaluate_trec(judged, origin, [1])
        assert (evaluation.queries, evaluation.map.tolist()) == (['#7', '8'], [1.0])


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
def test_a_relevance_is_an_integer_of_any_type():
    rows = [('7', 'd1', 1.0), ('7', 'd2', np.float32(2)), ('8', 'd1', np.int8(-1))]
    assert evaluate_trec(rows, RUN, [1]).n_relevant.tolist() == [2, 0]


words = st.text('ab#é\xa0.' + '𐍈', min_size=1, max_size=10) | st.sampled_from(
    ['x' * MAX_PACKED_BYTES, 'x' * (MAX_PACKED_BYTES + 1), 'x' * 8, 'x' * 9]
)
gaps = st.text(' \t', min_size=1, max_size=2)


numbers = st.one_of(
    st.sampled_from(['-0', '-0.0', '+1', '.5', '5.', '9007199254740993', '4503599627370496.5']),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-100, 100).flatmap(lambda x: st.integers(0, 18).map(lambda n: f'{x:.{n}f}')),
    # Halfway between two doubles.
    st.integers(2**53, 2**54 - 1).map(lambda integer: f'{integer * 2 + 1}.000'),
)
ends = st.sampled_from(['\n', '\r\n', ' \n', '\n\n', '\n \t\r\n'])


@st.composite
def right_lines(draw):
    rows = draw(st.lists(st.tuples(words, words, words, words, numbers, words), min_size=1))
    rows = [(f'_{row[0]}', *row[1:]) for row in rows]  # no comment
    spaced = [''.join(f'{word}{draw(gaps)}' for word in row).rstrip(' \t') for row in rows]
    text = ''.join(f'{draw(st.sampled_from(["", " "]))}{line}{draw(ends)}' for line in spaced)
    return (text if draw(st.booleans()) else text.rstrip(' \t\r\n')).encode()


def read_in_blocks(path, layout, n_bytes):
    """The columns of a file as they are read in blocks, and None where one is in doubt."""
    with patch.object(entries, 'TREC_BLOCK_BYTES', n_bytes):
        found = entries._read_blocks(ByteSource(path), layout)
    return None if found is None else rows_of(found.topic, found.texts('docno'), found)


def rows_of(topic, documents, read):
    numbers = (read.number if isinstance(read, Entries) else read.confidence).tolist()
    topics = [topic.text(row) for row in range(len(numbers))]
    return topics, documents, list(map(repr, numbers)), read.lines.array(len(numbers)).tolist()


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    return tmp_path_factory.mktemp('trec') / 'file'


@given(right_lines(), st.integers(1, 200))
def test_right_lines_are_never_in_doubt(path, block, n_bytes):
    assume(b'+' not in block)  # which pyarrow does not take for a sign
    half = block.find(b'\n') + 1
    path.write_bytes(block[:half] + b'# a comment\n' * bool(half) + block[half:])
    found = read_in_blocks(path, RUN_LAYOUT, n_bytes)
    table = read(path, RUN_LAYOUT)
    assert found == rows_of(table['qid'], table.texts('docno'), table)


def few_keys(topic, documents):
    return pair_keys(topic, documents) & 3


@pytest.mark.parametrize('long', ['', 'x' * MAX_PACKED_BYTES])
@quiet
@given(st.sets(st.tuples(st.sampled_from('78'), st.integers(0, 9)), min_size=1), st.randoms())
def test_collisions_of_keys_change_nothing(long, pairs, random):
    """Different pairs of topic and document may have one hash; they stay apart."""
    returned = [(topic, f'{long}{number}', random.random()) for topic, number in pairs]
    judged = [(topic, f'{long}{number}', number % 2) for topic in '78' for number in range(0, 9, 2)]
    judged += [(topic, f'{long}{number}', 1) for topic in '78' for number in range(1, 9, 2)]
    again = [(*row[:2], random.random()) for row in returned[::2]]
    for run, settings in (returned, {}), (returned + again, {'repeated': 'first', 'ignore': 0}):
        expected = evaluate_trec(judged, run, missing='zero', **settings)
        with patch.object(entries, 'pair_keys', few_keys):
            found = evaluate_trec(judged, run, missing='zero', **settings)
        assert (found.ap.tolist(), found.counts) == (expected.ap.tolist(), expected.counts)


@given(st.lists(st.tuples(st.sampled_from('789'), st.integers(0, 5)), min_size=1))
def test_repeated_documents_are_found_in_any_order_of_topics(pairs):
    """Rows are sorted topic by topic where topics follow each other, else all at once."""
    run = [(topic, f'd{number}', 0.5) for topic, number in pairs]
    returned = entries.read_entries(run, RUN_LAYOUT)
    with patch.object(entries, 'ROWS_SORTED_AT_ONCE', 2):
        if len({*pairs}) == len(pairs):
            returned.refuse_repeated()
        else:
            with pytest.raises(FormatError, match='each document once'):
                returned.refuse_repeated()

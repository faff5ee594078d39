"""TREC files: scored by every definition, as trec_eval where that is asked for."""

import gzip
import itertools
import warnings

import numpy as np
import oracle
import pandas
import polars
import pytest
import pytrec_eval
import strategies
from click.testing import CliRunner
from hanging import no_hang
from hostile.containers import pipe_of
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import definitions, evaluate_trec
from mediaeval_ap.choices import TREC_TIES
from mediaeval_ap.cli import main
from mediaeval_ap.errors import (
    FormatError,
    MissingIdsWarning,
    ParameterError,
    UnknownIdsWarning,
)
from mediaeval_ap.tables import layouts, lines, read
from mediaeval_ap.trec import files
from mediaeval_ap.trec.files import Entries

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

topics = st.sampled_from(['7', 'b', 'ü'])
documents = st.sampled_from(['d1', 'd10', 'D2', 'é', 'd/3', 'x'])
# In single precision some of these are equal.
scores = st.sampled_from([-1e300, -1.0, 0.0, 2.5, 1e-300, 1e39, 1e300, 0.5, 0.5 + 1e-12])
qrels = st.lists(
    st.tuples(topics, documents, st.integers(-1, 3)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)
runs = st.lists(
    st.tuples(topics, documents, scores),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)
K = [1, 2, 'all', 3, 100]
# Precisions are added in doubles, and expected ones are products of a few quotients.
ROUNDING = 1e-14


DEFINED = set(itertools.product(definitions.names(), TREC_TIES)) - {('hits', 'expected')}


@quiet
@pytest.mark.parametrize(('definition', 'ties'), sorted(DEFINED))
@strategies.examples(1 / 2)
@given(judged=qrels, returned=runs, level=st.integers(0, 2))
def test_like_every_order_of_equal_scores(ties, definition, judged, returned, level):
    K_allowed = strategies.allowed(K, definition)
    evaluation = evaluate_trec(
        judged, returned, K_allowed, definition=definition, ties=ties, relevance_level=level
    )
    assert evaluation.queries == list(dict.fromkeys(row[0] for row in judged))
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        expected = oracle.evaluate_trec(judged, returned, topic, K_allowed, definition, ties, level)
        assert ap == pytest.approx([float(value) for value in expected], abs=ROUNDING)


@quiet
@given(qrels, runs, st.integers(1, 2))
def test_trec_is_pytrec_eval(judged, returned, level):
    qrel, run = {}, {}
    for topic, document, relevance in judged:
        qrel.setdefault(topic, {})[document] = relevance
    for topic, document, score in returned:
        run.setdefault(topic, {})[document] = score
    cutoffs = [5, 10, 15, 'all']
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {'map', 'map_cut'}, relevance_level=level)
    results = evaluator.evaluate(run)
    evaluation = evaluate_trec(judged, returned, cutoffs, ties='trec_eval-9', relevance_level=level)
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        if topic in results:
            expected = [results[topic][column(k)] for k in cutoffs]
            assert ap == pytest.approx(expected, abs=ROUNDING)
        else:
            assert ap == [0.0] * 4


def column(k):
    """What pytrec_eval calls it."""
    return 'map' if k == 'all' else f'map_cut_{k}'


def test_trec_eval_10_compares_in_double_precision():
    """d1 is relevant, and first only where its score, greater by 1e-9, is not equal."""
    judged, run = [('7', 'd1', 1)], [('7', 'd2', 0.5), ('7', 'd1', 0.5 + 1e-9)]
    first = {ties: evaluate_trec(judged, run, [1], ties=ties).map[0] for ties in TREC_TIES}
    assert first == {
        'trec_eval': 1.0,
        'trec_eval-9': 0.0,
        'expected': 1.0,
        'best': 1.0,
        'worst': 1.0,
    }
    evaluator = pytrec_eval.RelevanceEvaluator({'7': {'d1': 1}}, {'recip_rank'})
    assert evaluator.evaluate({'7': {d: score for _, d, score in run}})['7']['recip_rank'] == 0.5


def qrels_text(rows):
    return ''.join(f'{topic} 0 {document} {relevance}\n' for topic, document, relevance in rows)


def run_text(rows):
    return ''.join(f'{topic} Q0 {document} 1 {score} me\n' for topic, document, score in rows)


QRELS = [('7', 'd1', 1), ('7', 'd2', 0), ('7', 'd3', 2), ('8', 'd1', 1)]
RUN = [('7', 'd2', 0.9), ('8', 'd1', 0.5), ('7', 'd1', 0.5)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'qrels').write_text(qrels_text(QRELS))
    (tmp_path / 'run').write_text(run_text(RUN))
    return tmp_path


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


def test_topics_that_are_missing_or_unknown_are_reported(folder):
    (folder / 'run').write_text(run_text([*RUN[:1], RUN[2], ('9', 'd1', 0.5)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        evaluation = evaluate_trec('qrels', 'run', [10])
    assert [(each.category, str(each.message)) for each in caught] == [
        (
            MissingIdsWarning,
            'run: 1 of 2 topics of qrels are missing, and scored as if nothing were returned',
        ),
        (UnknownIdsWarning, 'run: 1 of 2 topics are not in qrels, and left out'),
    ]
    assert {each.filename for each in caught} == {__file__}
    assert (evaluation.queries, evaluation.ap.tolist()) == (['7', '8'], [[0.25], [0.0]])
    assert (evaluation.counts['missing'], evaluation.counts['unknown']) == (1, 1)
    with (
        pytest.warns(MissingIdsWarning, match='missing, and left out'),
        pytest.warns(UnknownIdsWarning),
    ):
        evaluation = evaluate_trec('qrels', 'run', [10], missing='skip')
    assert (evaluation.queries, evaluation.map.tolist()) == (['7'], [0.25])


@quiet
def test_nothing_to_score_is_an_error():
    with pytest.raises(ParameterError, match='no topic of this run is judged'):
        evaluate_trec(QRELS, [('9', 'd1', 0.5)], missing='skip')


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        (
            'run',
            '\n7 Q0 d1 1 0.5 me\n\n8 Q0 d1 1 0.5 me\n7 Q0 d1 2 0.4 me\n',
            "run, line 5, docno: found 'd1' again for topic '7', expected each document once",
        ),
        (
            'qrels',
            '7 0 d1 1\n7 0 d1 1\n',
            "qrels, line 2, docno: found 'd1' again for topic '7', expected each document once",
        ),
        ('qrels', '7 0 d1 1\n\n7 0 d2 0.5\n', "qrels, line 3, relevance: found '0.5', expected an"),
        ('run', '7 Q0 d1 1 high me\n', "run, line 1, score: found 'high', expected a finite"),
        ('run', '7 Q0 d1 1 0.5\n', 'run, line 1: found 5 fields in .*, expected 6 fields: qid q0'),
        ('run', '', 'run: found no rows'),
        ('qrels', '7 0 d\xff1 1\n', 'invalid UTF-8 at byte 6'),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder, name, text, message):
    (folder / name).write_bytes(text.encode('latin-1'))
    with pytest.raises(FormatError, match=message):
        evaluate_trec('qrels', 'run')
    result = CliRunner().invoke(main, ['evaluate-trec', 'qrels', 'run'])
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: ')
    assert result.stderr.count('\n') == 1


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('7 Q0 d1 1 nan me\n', "line 1, score: found 'nan', expected a finite"),
        ('\n7 Q0 d1 1 1 me\n7 Q0 d1 2 1 me\n', "row 2, docno: found 'd1' again for topic '7'"),
    ],
)
def test_a_pipe_is_read_once(folder, text, message):
    pipe_of(text.encode())(folder / 'pipe')
    with no_hang(), pytest.raises(FormatError, match=f'^pipe, {message}'):
        evaluate_trec('qrels', 'pipe')


def test_a_run_from_a_pipe(folder):
    pipe_of(b'\xef\xbb\xbf' + run_text(RUN).encode())(folder / 'pipe')
    with no_hang():
        assert evaluate_trec('qrels', 'pipe').map.tolist() == evaluate_trec(QRELS, RUN).map.tolist()


def test_a_mark_alone_on_a_line_is_a_blank_line(folder):
    (folder / 'run').write_bytes(b'\xef\xbb\xbf\n' + run_text(RUN[:1] * 2).encode())
    with pytest.raises(FormatError, match=r"^run, line 3, docno: found '.*' again"):
        evaluate_trec('qrels', 'run')


def test_a_file_that_is_cut_meanwhile(folder, monkeypatch):
    """The line of a row is looked for when the file was read."""
    (folder / 'run').write_text(run_text(RUN[:1] * 2))
    refuse_repeated = Entries.refuse_repeated

    def cut(entries):
        (folder / 'run').write_text('')
        refuse_repeated(entries)

    monkeypatch.setattr(Entries, 'refuse_repeated', cut)
    with pytest.raises(FormatError, match=r"^run, row 2, docno: found '.*' again"):
        evaluate_trec('qrels', 'run')


def test_rows_of_a_table_have_a_number():
    with pytest.raises(FormatError, match="<rows>, row 3, docno: found 'd1' again"):
        evaluate_trec(QRELS, [RUN[1], RUN[0], RUN[1]])


def test_the_second_of_many_is_named():
    run = [('7', document, 1.0) for document in ('d1', 'd2', 'd1', 'd2', 'd1')]
    with pytest.raises(FormatError, match="<rows>, row 3, docno: found 'd1' again"):
        evaluate_trec(QRELS, run)


def test_tables_that_were_read_before(folder):
    tables = read('qrels', layouts.QRELS), read('run', layouts.RUN)
    assert evaluate_trec(*tables).to_dict() == evaluate_trec('qrels', 'run').to_dict()


def test_repeated_documents_are_found_where_topics_alternate():
    run = [*RUN[:2], ('7', 'd5', 0.1), ('8', 'd1', 0.2)]
    with pytest.raises(FormatError, match="<rows>, row 4, docno: found 'd1' again for topic '8'"):
        evaluate_trec(QRELS, run)


@pytest.mark.parametrize(
    'parameters',
    [
        {'ties': 'random'},
        {'missing': 'error'},
        {'K': []},
        {'definition': 'map'},
        {'definition': 'hits', 'ties': 'expected'},
        {'relevance_level': '1'},
        {'relevance_level': None},
        {'relevance_level': 0.5},
        {'relevance_level': 10**400},
        {'relevance_level': float('nan')},
        {'relevance_level': 'high'},
    ],
)
def test_parameters_that_there_are_not(parameters):
    with pytest.raises(ParameterError):
        evaluate_trec(QRELS, RUN, **parameters)


@pytest.mark.parametrize('plain', [files.PLAIN_TEXT_BYTES, 20_000, 0])  # of neither, one, both
def test_large_runs_are_like_small_ones(plain, tmp_path, monkeypatch):
    """Blocks of lines, topics between one another, ties, very long text: as pytrec_eval."""
    monkeypatch.setattr(files, 'PLAIN_TEXT_BYTES', plain)
    monkeypatch.setattr(lines, 'BLOCK_BYTES', 1 << 10)
    monkeypatch.setattr('mediaeval_ap.tables.bulk.LEAN_BLOCK_BYTES', 1 << 12)
    random = np.random.default_rng(4)  # fixed: one run, not a search
    pairs = sorted({(int(t), int(d)) for t, d in random.integers(0, (20, 600), (5000, 2))})
    order = random.permutation(len(pairs))
    rows = [(str(pairs[i][0]), f'doc{pairs[i][1]}', int(random.integers(40)) / 8) for i in order]
    judged = [(str(t), f'doc{d}', int(random.integers(3))) for t, d in pairs[::7]]
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
        expected = [results[topic][column(k)] for k in cutoffs]
        assert ap == pytest.approx(expected, abs=ROUNDING)


def test_comments_are_in_lines_alone(folder):
    """A topic that begins with # is one in values; in lines there is no way to spell it."""
    judged, run = [('#7', 'd1', 1), ('8', '#d', 1)], [('#7', 'd1', 0.5), ('8', '#d', 0.5)]
    frame = pandas.DataFrame(run, columns=['qid', 'docno', 'score'])
    frame.to_parquet('run.parquet')
    for origin in (run, frame, polars.from_pandas(frame), 'run.parquet'):
        evaluation = evaluate_trec(judged, origin, [1])
        assert (evaluation.queries, evaluation.map.tolist()) == (['#7', '8'], [1.0])
    (folder / 'qrels').write_text(qrels_text(judged))
    (folder / 'run').write_text(run_text(run))
    evaluation = evaluate_trec('qrels', 'run', [1])
    assert (evaluation.queries, evaluation.counts['judgements']) == (['8'], 1)
    assert evaluation.counts['unknown'] == 0


def test_an_indented_comment_is_one_in_a_run_only(folder):
    """As trec_eval 10 has it: it reads a topic #7 here, for which nothing is returned."""
    (folder / 'qrels').write_text('\t#7 0 d1 1\n' + qrels_text(QRELS))
    (folder / 'run').write_text(' #7 Q0 d1 1 0.5 me\n' + run_text(RUN))
    with pytest.warns(MissingIdsWarning, match='1 of 3 topics of qrels are missing'):
        evaluation = evaluate_trec('qrels', 'run', [1])
    assert evaluation.queries == ['#7', '7', '8']
    assert evaluation.counts['hypotheses'] == len(RUN)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
def test_a_relevance_is_an_integer_literal_in_lines_alone(folder):
    rows = [('7', 'd1', 1.0), ('7', 'd2', np.float32(2)), ('8', 'd1', np.int8(-1))]
    assert evaluate_trec(rows, RUN, [1]).n_relevant.tolist() == [2, 0]
    (folder / 'qrels').write_text('7 0 d1 +01\n7 0 d2 -0\n8 0 d1 -1\n')
    assert evaluate_trec('qrels', RUN, [1]).n_relevant.tolist() == [1, 0]
    with pytest.raises(FormatError, match=r'<rows>, row 1, relevance: found 0\.5, expected an int'):
        evaluate_trec([('7', 'd1', 0.5)], RUN)


def test_no_uncut_value_of_what_divides_by_k(folder):
    with pytest.raises(ParameterError, match='K: found all, expected numbers: by-k divides by k'):
        evaluate_trec(QRELS, RUN, ['all'], definition='by-k')
    command = ['evaluate-trec', 'qrels', 'run', '-K', '1', '-K', 'all', '--mean-only']
    result = CliRunner().invoke(main, [*command, '--format', 'csv'])
    assert result.output == 'run,definition,MAP@1,MAP\nrun,trec,0.5,0.625\n'


def test_the_command_prints_a_table(folder):
    result = CliRunner().invoke(
        main, ['evaluate-trec', 'qrels', 'run', '-K', '10', '--format', 'csv']
    )
    assert result.output == 'run,query,AP@10,n_relevant\nrun,7,0.25,2\nrun,8,1.0,1\n'
    options = ['--definition', 'kaggle', '--relevance-level', '2', '--ties', 'worst', '-K', '1,2']
    result = CliRunner().invoke(
        main, ['evaluate-trec', 'qrels', 'run', *options, '--mean-only', '--format', 'csv']
    )
    assert result.stdout == 'run,definition,MAP@1,MAP@2\nrun,kaggle,0.0,0.0\n'
    told = 'qrels: 1 of 2 queries have no relevant shot: each counts 0'
    assert result.stderr == f'Warning: {told}\n'
    result = CliRunner().invoke(main, ['evaluate-trec', '-', '-'])
    assert result.exit_code == 2
    (folder / 'run').write_text(run_text(RUN[:1]))
    options = ['--ties', 'expected', '--definition', 'hits']
    result = CliRunner().invoke(main, ['evaluate-trec', 'qrels', 'run', *options])
    assert (result.exit_code, result.stdout) == (2, '')
    assert '--definition hits has no --ties expected\n' in result.stderr
    result = CliRunner().invoke(main, ['evaluate-trec', 'qrels', 'run', '--missing', 'skip'])
    assert result.stderr == 'Warning: run: 1 of 2 topics of qrels are missing, and left out\n'

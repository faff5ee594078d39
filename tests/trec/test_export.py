"""Runs of a campaign as TREC sees them: what other tools read there is what is scored here."""

import json
from urllib.parse import unquote

import ir_measures
import numpy as np
import pytest
import pytrec_eval
import strategies
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, evaluate_trec
from mediaeval_ap.cli import main
from mediaeval_ap.errors import (
    MissingExtraError,
    MissingIdsWarning,
    ParameterError,
    WriteError,
)
from mediaeval_ap.trec.measures import parse_measures

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
# Sums of as many quotients, in another order.
ROUNDING = 1e-12
K = [5, 10, 100, 'all']
ROWS = [
    ('x', 'v', '2', 'ann', 0.9),
    ('x', 'v', '1', 'ann', 0.5),
    ('x', 'v', '2', 'anne', 0.4),
    ('x y', 'v/w', '1%', 'bob lee', 0.4),
]
REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '1', 'ann'), ('x y', 'v/w', '1%', 'bob lee')]


def read_by_others(qrels, run):
    """AP@k by query as ir_measures and pytrec_eval have it."""
    with open(qrels) as one, open(run) as other:
        judged, ranked = pytrec_eval.parse_qrel(one), pytrec_eval.parse_run(other)
    results = pytrec_eval.RelevanceEvaluator(judged, {'map', 'map_cut'}).evaluate(ranked)
    by_pytrec_eval = {
        unquote(query): [values['map' if k == 'all' else f'map_cut_{k}'] for k in K]
        for query, values in results.items()
    }
    measures = [ir_measures.AP if k == 'all' else ir_measures.AP @ k for k in K]
    by_ir_measures = {}
    for value in ir_measures.iter_calc(
        measures,
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(run))),
    ):
        values = by_ir_measures.setdefault(unquote(value.query_id), [None] * len(K))
        values[measures.index(value.measure)] = value.value
    return by_pytrec_eval, by_ir_measures


# The folder is written anew for each example.
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@quiet
@given(
    reference=strategies.reference_rows,
    run=st.lists(st.tuples(*strategies.fields), min_size=1, max_size=30),
)
def test_other_tools_read_what_is_scored_here(reference, run, tmp_path):
    average_precision = AveragePrecision(reference, K, definition='trec')
    queries = sorted({row[3] for row in reference})
    average_precision.export_trec(run, tmp_path / 'qrels', tmp_path / 'run', queries)
    evaluation = average_precision.evaluate(run, queries)
    own = evaluate_trec(tmp_path / 'qrels', tmp_path / 'run', K)
    places = [queries.index(unquote(query)) for query in own.queries]
    assert own.ap.tolist() == evaluation.ap[places].tolist()
    for results in read_by_others(tmp_path / 'qrels', tmp_path / 'run'):
        assert sorted(results) == queries
        for query, ap in zip(queries, evaluation.ap.tolist(), strict=True):
            assert results[query] == pytest.approx(ap, abs=ROUNDING)


def test_official_runs_are_read_by_others(official_data, tmp_path):
    folder = official_data / '2016'
    average_precision = AveragePrecision(
        folder / 'reference/reference.2016-10-16.txt',
        K,
        subset=folder / 'reference/test.eval',
        definition='trec',
    )
    run = folder / 'submissions/tokyotech_primary.txt'
    average_precision.export_trec(run, tmp_path / 'qrels', tmp_path / 'run')
    evaluation = average_precision.evaluate(run)
    for results in read_by_others(tmp_path / 'qrels', tmp_path / 'run'):
        assert sorted(results) == average_precision.queries
        expected = [results[query] for query in evaluation.queries]
        assert np.abs(evaluation.ap - expected).max() < ROUNDING


@quiet
def test_shots_and_names_are_words(tmp_path):
    AveragePrecision(REFERENCE, K, definition='trec').export_trec(
        ROWS, tmp_path / 'qrels', tmp_path / 'run', k=2, tag='me'
    )
    assert (tmp_path / 'qrels').read_text().splitlines() == [
        'ann 0 x/v/1 1',
        'bob%20lee 0 x%20y/v%2Fw/1%25 1',
    ]
    assert (tmp_path / 'run').read_text().splitlines() == [
        'ann Q0 x/v/2 1 2 me',
        'ann Q0 x/v/1 2 1 me',
        'bob%20lee Q0 x%20y/v%2Fw/1%25 1 2 me',
        'bob%20lee Q0 x/v/2 2 1 me',
    ]


@quiet
def test_a_query_that_begins_with_the_mark_of_a_comment(tmp_path):
    """Else its lines were comments, and it vanished from every mean."""
    reference = [('#x', 'v', '1', '#1'), ('#x', 'v', '2', 'b#'), ('#x', 'v', '3', '##')]
    run = [(*row, 0.5) for row in reference[:2]]
    average_precision = AveragePrecision(reference, K, definition='trec')
    average_precision.export_trec(run, tmp_path / 'qrels', tmp_path / 'run')
    assert (tmp_path / 'qrels').read_text().splitlines() == [
        '%23# 0 #x/v/3 1',
        '%231 0 #x/v/1 1',
        'b# 0 #x/v/2 1',
    ]
    own = evaluate_trec(tmp_path / 'qrels', tmp_path / 'run', K)
    assert [unquote(query) for query in own.queries] == average_precision.queries
    evaluation = average_precision.evaluate(run)
    assert own.ap.tolist() == evaluation.ap.tolist()
    for results in read_by_others(tmp_path / 'qrels', tmp_path / 'run'):
        assert list(results) == average_precision.queries


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.RepeatedRowsWarning')
def test_queries_without_relevant_shots_are_told_of(tmp_path):
    average_precision = AveragePrecision(REFERENCE)
    with pytest.warns(MissingIdsWarning, match='1 of 2 queries have no relevant shot') as caught:
        average_precision.export_trec(ROWS, tmp_path / 'qrels', tmp_path / 'run', ['zoe', 'ann'])
    assert caught[0].filename == __file__
    assert (tmp_path / 'qrels').read_text() == 'ann 0 x/v/1 1\n'
    assert (tmp_path / 'run').read_text().count('zoe') == 3


@quiet
@pytest.mark.parametrize(
    'parameters',
    [{'tag': 'a b'}, {'tag': ''}, {'tag': '\ud800'}, {'tag': 7}, {'k': 0}, {'k': 2**24 + 1}],
)
def test_wrong_parameters_write_nothing(tmp_path, parameters):
    with pytest.raises(ParameterError):
        AveragePrecision(REFERENCE).export_trec(
            ROWS, tmp_path / 'qrels', tmp_path / 'run', **parameters
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ('measure', 'expected'),
    [
        ('P@2147483653', 'expected a cutoff from 1 to 16777216'),
        ('P@16777217', 'expected a cutoff from 1 to 16777216'),
        ('P@0', 'expected a cutoff from 1 to 16777216'),
        ('P', 'expected its cutoff as well'),
        ('IPrec', 'expected its recall as well'),
    ],
)
def test_measures_that_could_not_be_right(measure, expected):
    with pytest.raises(ParameterError, match=f'measures: found {measure!r}, {expected}'):
        parse_measures(f'P@5 {measure}')


@quiet
def test_two_files_are_two(tmp_path):
    with pytest.raises(ParameterError, match='expected another file'):
        AveragePrecision(REFERENCE).export_trec(ROWS, tmp_path / 'a', tmp_path / 'a')
    assert list(tmp_path.iterdir()) == []


@quiet
def test_what_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(WriteError):
        AveragePrecision(REFERENCE).export_trec(ROWS, tmp_path / 'a/b', tmp_path / 'run')
    for unwritable in tmp_path / 'a/b', tmp_path:
        with pytest.raises(WriteError):
            AveragePrecision(REFERENCE).export_trec(ROWS, tmp_path / 'qrels', unwritable)
    assert list(tmp_path.iterdir()) == []


@quiet
def test_measures_are_those_of_ir_measures(tmp_path):
    average_precision = AveragePrecision(REFERENCE, [2], definition='trec')
    queries = ['ann', 'zoe', 'ann', 'bob lee']
    evaluation = average_precision.evaluate(ROWS, queries, measures='RR P@2')
    assert list(evaluation.measures) == ['RR', 'P@2']
    assert evaluation.measures['RR'].tolist() == pytest.approx([0.5, np.nan, 0.5, 1], nan_ok=True)
    assert evaluation.mean_measures == {'RR': pytest.approx(2 / 3), 'P@2': 0.5}
    frame = evaluation.to_frame()
    assert frame.columns.tolist() == ['AP@2', 'RR', 'P@2', 'n_relevant']
    described = json.loads(json.dumps(evaluation.to_dict()))
    assert described['measures']['P@2'] == [0.5, None, 0.5, 0.5]
    nothing = average_precision.evaluate(ROWS, ['zoe'], measures=['RR'])
    assert nothing.mean_measures == {'RR': None}
    assert average_precision.evaluate(ROWS).measures == {}


WRONG_MEASURES = [5, ir_measures.RR, [5], 'AP@10', 'foo@10', 'P@0', 'P(cutoff=-1)', 'P@', ' ']


@pytest.mark.parametrize('measures', [*WRONG_MEASURES, ['P@5 RR'], 'BPM'])
@quiet
def test_measures_that_there_are_not(measures):
    with pytest.raises(ParameterError, match='measures: '):
        AveragePrecision(REFERENCE, K=[10]).evaluate(ROWS, measures=measures)


@quiet
@pytest.mark.parametrize(('K', 'measure'), [([10], 'AP@10'), (['all'], 'AP'), ([1, 'all'], 'AP')])
def test_measures_that_are_columns_already(K, measure):
    with pytest.raises(ParameterError, match=f'measures: found {measure}, which is a column'):
        AveragePrecision(REFERENCE, K).evaluate(ROWS, measures=measure)


@quiet
def test_measures_see_as_deep_as_they_ask():
    reference = [('x', 'v', str(shot), 'ann') for shot in range(20)]
    run = [(*row, 1 - int(row[2]) / 100) for row in reference]
    average_precision = AveragePrecision(reference, K=[5], definition='trec')
    names = 'AP@20 R@20 nDCG@20 Rprec AP'
    evaluation = average_precision.evaluate(run, measures=names)
    assert evaluation.mean_measures == dict.fromkeys(names.split(), pytest.approx(1.0))


@quiet
def test_measures_do_not_depend_on_one_another():
    average_precision = AveragePrecision([('x', 'v', '7', 'ann'), *REFERENCE[2:]], K=[5])
    alone = average_precision.evaluate(ROWS, measures='Accuracy Accuracy')
    both = average_precision.evaluate(ROWS, measures='Accuracy nDCG@10')
    assert alone.measures['Accuracy'].tolist() == both.measures['Accuracy'].tolist()
    assert alone.measures['Accuracy'][0] == 0


@quiet
def test_measures_without_the_extra(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'ir_measures', None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mediaeval-ap\[trec\]'"):
        AveragePrecision(REFERENCE).evaluate(ROWS, measures='RR')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'reference').write_text('x v 1 ann\nx v 3 ann\n')
    (tmp_path / 'run.txt').write_text('x v 2 ann 0.9\nx v 1 ann 0.5\n')
    return tmp_path


def test_the_command_exports(folder):
    command = ['export-trec', 'reference', 'run.txt', '--qrels', 'qrels', '--run', 'run']
    result = CliRunner().invoke(main, [*command, '-k', '1'])
    assert (result.exit_code, result.output) == (0, '')
    assert (folder / 'run').read_text() == 'ann Q0 x/v/2 1 1 mediaeval_ap\n'
    (folder / 'queries').write_text('zoe\nann\n')
    result = CliRunner().invoke(main, [*command, '--queries', 'queries', '--tag', 'a b'])
    assert (result.exit_code, result.stdout) == (2, '')
    assert "found 'a b', expected one word" in result.stderr
    result = CliRunner().invoke(main, [*command[:-1], './qrels'])
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'refusing to overwrite ./qrels: it is another output\n' in result.stderr


def test_measures_do_not_depend_on_cutoffs():
    """Some look below their own: what is judged may stand there."""
    judged = [('x', 'v', str(shot), 'ann') for shot in range(10, 30)]
    run = [('x', 'v', str(shot), 'ann', 1 - shot / 100) for shot in range(40)]
    measures = ['P(judged_only=True)@5', 'Accuracy@5', 'AP', 'P@2']
    by_cutoff = [
        AveragePrecision(judged, K).evaluate(run, measures=measures).mean_measures
        for K in ([1], [10], [1000])
    ]
    assert by_cutoff[0] == by_cutoff[1] == by_cutoff[2]
    assert by_cutoff[0]['P(judged_only=True)@5'] == 1.0


def test_standard_output_is_not_two_files(folder):
    command = ['export-trec', 'reference.txt', 'run.txt', '--qrels', '-', '--run', 'run']
    result = CliRunner().invoke(main, command)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'are files, not standard output' in result.stderr
    assert not (folder / '-').exists()


@quiet
def test_the_command_adds_measures(folder):
    command = ['evaluate', 'reference', 'run.txt', '-K', '10', '--measures', 'RR R@10']
    result = CliRunner().invoke(main, [*command, '--format', 'csv'])
    assert result.output == 'run,query,AP@10,RR,R@10,n_relevant\nrun.txt,ann,0.25,0.5,0.5,2\n'
    result = CliRunner().invoke(main, [*command, '--mean-only'])
    assert [line.split() for line in result.output.splitlines()[-3:]] == [
        ['MAP@10', '0.250'],
        ['RR', '0.500'],
        ['R@10', '0.500'],
    ]
    (folder / 'queries').write_text('zoe\n')  # for whom nothing is relevant
    result = CliRunner().invoke(main, [*command, '--queries', 'queries', '--format', 'csv'])
    assert result.stdout.splitlines()[1] == 'run.txt,zoe,1.0,,,0'
    result = CliRunner().invoke(main, [*command[:-1], 'foo'])
    assert (result.exit_code, result.stdout) == (2, '')
    assert "measures: found 'foo', expected a measure of" in result.stderr

"""What results and the objects that make them show, and the files that results write."""

import gzip

import pandas
import polars
import pytest
from result_kinds import RESULTS

from mediaeval_ap import (
    AveragePrecision,
    PersonDiscovery2015,
    Score,
    compare,
    summary,
)
from mediaeval_ap.errors import ParameterError, WriteError
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document
from mediaeval_ap.tables import QUERIES, Provenance, read

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'w', '2', '?')]
RUN = [('x', 'v', '1', 'ann', 0.5)]
SOURCES = {'truth': Provenance('t.csv'), 'predictions': Provenance('p.csv')}
SCORE = Score('GAP', 0.5, {'ties': 'best', 'unknown': 'drop'}, SOURCES, {'queries': 1})
CRITERIA = "reference='<reference>', 2 names, K=[1, 'all'], definition='trec'"


@pytest.fixture
def average_precision():
    return AveragePrecision(REFERENCE, [1, 'all'], definition='trec')


def test_repr_of_what_scores(average_precision):
    assert repr(average_precision) == f'AveragePrecision({CRITERIA})'
    within = AveragePrecision(REFERENCE, [5], subset=[('x', 'v')])
    assert "2 names, subset='<subset>', K=[5], definition='mediaeval-2016')" in repr(within)
    session = average_precision(RUN)
    assert repr(session) == f"Session(run='<hypothesis>', 1 hypothesis, {CRITERIA})"
    session.close()
    assert repr(session) == f"Session(closed, run='<hypothesis>', 1 hypothesis, {CRITERIA})"
    assert repr(average_precision.live(RUN)) == f'Live(1 hypothesis, {CRITERIA})'
    task = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')], ratio=0.5)
    assert repr(task) == "PersonDiscovery2015(reference='<reference>', 1 name, 1 shot, ratio=0.5)"


def test_repr_of_results(average_precision):
    assert repr(average_precision.evaluate(RUN)) == (
        "Evaluation of '<hypothesis>' (trec), 2 queries\n  MAP@1  0.500\n  MAP    0.500"
    )
    many = AveragePrecision(REFERENCE, range(1, 9)).evaluate(RUN, ['ann'])
    assert repr(many).splitlines()[-2:] == ['  MAP@6  1.000', '  … and 2 more']
    task = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    evaluation = task.evaluate([('v', '1', 'ann', 0.5)])
    assert (
        repr(evaluation) == "Evaluation2015 of '<hypothesis>' (ratio 0.95), 1 query\n  MAP  1.000"
    )
    inputs = {'truth': Provenance('t'), 'predictions': Provenance('\x1b')}
    score = Score('LRAP', 0.25, {}, inputs, {'queries': 12000})
    assert repr(score) == "Score of '\\\\x1b', 12,000 queries\n  LRAP  0.250"


def test_html(average_precision):
    evaluation = average_precision.evaluate(RUN)
    table = read([(f'<i>{row}',) for row in range(12)], QUERIES)
    for shown in evaluation, table:
        text = shown._repr_html_()
        assert '<table>' in text
        assert '<i>' not in text
    assert '<td>MAP@1 ' in evaluation._repr_html_()
    assert table._repr_html_().count('<td>&lt;i&gt;') == 10
    assert '<p>… and 2 more</p>' in table._repr_html_()
    assert repr(table) == "Table(queries '<queries>', 12 rows)"


@pytest.mark.parametrize('format', ['csv', 'json', 'markdown', 'latex'])
def test_files_hold_what_is_returned(average_precision, format, tmp_path):
    evaluation = average_precision.evaluate(RUN)
    write = getattr(evaluation, f'to_{format}')
    for per_query in False, True:
        expected = render(results_document([evaluation], per_query=per_query), format)
        assert write(per_query=per_query) == expected
        assert write(tmp_path / 'packed.gz', per_query=per_query) is None
        assert gzip.decompress((tmp_path / 'packed.gz').read_bytes()).decode() == expected
    with pytest.raises(WriteError, match='Is a directory'):
        write(tmp_path)


def test_a_row_for_each_run(average_precision):
    wrong = [('x', 'w', '1', 'ann', 0.9), *RUN]
    table = summary([average_precision.evaluate(run, ['ann']) for run in (RUN, wrong)])
    assert (table.index.name, [*table.index]) == ('run', ['<hypothesis> 1', '<hypothesis> 2'])
    assert table.to_dict('list') == {
        'definition': ['trec', 'trec'],
        'MAP@1': [1.0, 0.0],
        'MAP': [1.0, 0.5],
        'n_queries': [1, 1],
    }
    assert summary(iter([SCORE])).reset_index().to_dict('records') == [
        {'run': 'p', 'metric': 'GAP', 'ties': 'best', 'value': 0.5, 'n_queries': 1}
    ]


def test_what_cannot_be_compared_is_refused(average_precision):
    result = average_precision.evaluate(RUN)
    other = AveragePrecision(REFERENCE, [2]).evaluate(RUN)
    for results, reason in (
        ([], 'results: found none, expected one or more'),
        ([result, SCORE], 'results: found Evaluation, Score, expected one kind'),
        ([result, other], 'found the columns run, definition, MAP@2'),
        ([result, 0.5], "summary: found <class 'float'>, expected a list of results"),
        (SCORE, 'summary: found <class .*Score.*>, expected a list of results'),
    ):
        with pytest.raises(ParameterError, match=reason):
            summary(results)


def test_what_a_result_has_not_names_what_has_it(average_precision):
    evaluation = average_precision.evaluate(RUN)
    for result in evaluation, SCORE:
        kind = type(result).__name__
        with pytest.raises(TypeError, match=rf"^'{kind}' has no items: \.to_frame\(\) and "):
            result['ann']
        with pytest.raises(AttributeError, match=rf"^'{kind}' has no plot; .* compare\(…, …\)"):
            result.plot  # noqa: B018
        assert 'plot' not in dir(result)
    with pytest.raises(TypeError, match=r"^'Comparison' has no items: \.to_frame\(\) and"):
        compare(evaluation)['ann']


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('kind', RESULTS)
def test_other_libraries_read_a_result_by_arrow(kind):
    result = RESULTS[kind]()
    frame = polars.DataFrame(result).to_pandas().set_index('query')
    pandas.testing.assert_frame_equal(frame, result.to_frame(), check_dtype=False)


def test_other_libraries_read_a_comparison_and_a_diagnosis_by_arrow(average_precision):
    comparison = compare('samples/scores.csv')
    assert polars.DataFrame(comparison)['run'].to_list() == comparison.runs
    assert polars.DataFrame(average_precision.explain(RUN, k=1))['query'].to_list() == [
        'ann',
        'bob',
    ]

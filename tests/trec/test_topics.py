"""Other tools read from exported files what is scored here."""

from urllib.parse import quote, unquote

import ir_measures
import pytest
import pytrec_eval
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trec_rows import REFERENCE, ROWS, map_column, quiet

from mediaeval_ap import AveragePrecision, evaluate_trec
from mediaeval_ap.errors import (
    DataWarning,
    ParameterError,
    WithoutRelevantWarning,
    WriteError,
)

# Sums of as many quotients, in another order.
ROUNDING = 1e-12


K = [5, 10, 100, 'all']


def read_by_others(qrels, run):
    """Return AP@k by query as ir_measures and pytrec_eval have it."""
    with open(qrels) as one, open(run) as other:
        judged, ranked = pytrec_eval.parse_qrel(one), pytrec_eval.parse_run(other)
    results = pytrec_eval.RelevanceEvaluator(judged, {'map', 'map_cut'}).evaluate(ranked)
    by_pytrec_eval = {
        unquote(query): [values[map_column(k)] for k in K] for query, values in results.items()
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
    asked = [*queries, 'of no reference']
    average_precision.export_trec(run, tmp_path / 'qrels', tmp_path / 'run', asked)
    evaluation = average_precision.evaluate(run, queries)
    own = evaluate_trec(tmp_path / 'qrels', tmp_path / 'run', K)
    skipping = AveragePrecision(
        reference, K, definition='trec', queries_without_relevant='skip'
    ).evaluate(run, asked)
    assert own.map.tolist() == skipping.map.tolist() == evaluation.map.tolist()
    places = [queries.index(unquote(query)) for query in own.queries]
    assert own.ap.tolist() == evaluation.ap[places].tolist()
    for results in read_by_others(tmp_path / 'qrels', tmp_path / 'run'):
        assert sorted(results) == queries
        for query, ap in zip(queries, evaluation.ap.tolist(), strict=True):
            assert results[query] == pytest.approx(ap, abs=ROUNDING)


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
    """Its lines would vanish."""
    mark = '#'
    queries = [f'{mark}1', '1', f'b{mark}']
    reference = [(f'{mark}x', 'v', str(shot), query) for shot, query in enumerate(queries)]
    average_precision = AveragePrecision(reference, K, definition='trec')
    run = [(*row, 0.5) for row in reference]
    average_precision.export_trec(run, tmp_path / 'qrels', tmp_path / 'run', queries)
    text = f'{quote(mark)}1 0 {mark}x/v/0 1\n1 0 {mark}x/v/1 1\nb{mark} 0 {mark}x/v/2 1\n'
    assert (tmp_path / 'qrels').read_text() == text
    own = evaluate_trec(tmp_path / 'qrels', tmp_path / 'run', K)
    assert [unquote(query) for query in own.queries] == queries


@quiet
@pytest.mark.parametrize(
    ('video', 'query', 'told'),
    [
        (('x', 'v'), 'zoe', 'queries: found none with a relevant shot; no tool'),
        (('x', 'w'), 'ann', 'run: found no shot for a query with a relevant shot; no tool'),
    ],
)
def test_what_would_be_an_empty_file_is_refused(video, query, told, tmp_path):
    average_precision = AveragePrecision([*REFERENCE, ('x', 'w', '1', 'ann')], subset=[video])
    paths = tmp_path / 'qrels', tmp_path / 'run'
    with pytest.raises(ParameterError, match=f'^{told}'):
        average_precision.export_trec(ROWS, *paths, [query])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_queries_without_relevant_shots_are_told_of(tmp_path):
    average_precision = AveragePrecision(REFERENCE)
    with (
        pytest.warns(DataWarning, match='1 of 2 queries have nothing relevant') as caught,
        pytest.warns(WithoutRelevantWarning, match="'zoe'"),
    ):
        average_precision.export_trec(ROWS, tmp_path / 'qrels', tmp_path / 'run', ['zoe', 'ann'])
    assert caught[0].filename == __file__
    assert (tmp_path / 'qrels').read_text() == 'ann 0 x/v/1 1\n'
    assert 'zoe' not in (tmp_path / 'run').read_text()


@quiet
@pytest.mark.parametrize(
    ('parameters', 'error'),
    [
        ({'tag': 'a b'}, ParameterError),
        ({'k': 2**24 + 1}, ParameterError),
        ({'qrels': 'run'}, ParameterError),
        ({'qrels': 'none/qrels'}, WriteError),
        ({'run': ''}, WriteError),
    ],
)
def test_two_files_or_none(tmp_path, parameters, error):
    """An error after the first file would leave it behind alone."""
    given = {'qrels': 'qrels', 'run': 'run', **parameters}
    paths = [tmp_path / given.pop(name) for name in ('qrels', 'run')]
    with pytest.raises(error):
        AveragePrecision(REFERENCE).export_trec(ROWS, *paths, **given)
    assert list(tmp_path.iterdir()) == []

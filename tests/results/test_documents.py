"""Several results as one document: sorted, failed, in one JSON shape, and equal in all formats."""

import csv
import io
import json
from dataclasses import replace

import pytest
from result_kinds import RESULTS
from schemas import follow_schema

from mediaeval_ap import AveragePrecision, Score
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.described import RESULTS_SCHEMA
from mediaeval_ap.results.result import results_document
from mediaeval_ap.tables import Provenance

QUIET = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'v', '3', 'ann')]


@QUIET
@pytest.mark.parametrize('kind', RESULTS)
@pytest.mark.parametrize('per_query', [False, True])
def test_json_is_as_its_schema_says(kind, per_query):
    result = RESULTS[kind]()
    document = results_document([result] * 2, per_query=per_query, failed=[('bad.txt', 'is empty')])
    written = json.loads(render(document, 'json'))
    follow_schema(written, 'results-1')
    assert written['schema'] == RESULTS_SCHEMA
    assert written['failed'] == [{'run': 'bad.txt', 'error': 'is empty'}]
    assert ('queries' in written['results'][0]) == per_query


def column_of(mean, result):
    """The column whose mean has that name."""
    if isinstance(result, Score):
        return 'value'
    named = {'mean correctness': 'correct', 'EwMAP': 'EwAP'}
    return named.get(mean, mean.removeprefix('M') if mean.startswith('MAP') else mean)


def column_of_count(mean, result):
    """The column with the number of queries that a mean is over."""
    return f'n_queries_{mean}' if mean in getattr(result, 'measures', ()) else 'n_queries'


def as_in_rows(query):
    """A query of JSON with a number for true and false where the last row has their mean."""
    if 'EwAP' not in query:
        return query
    return {**query, 'correct': float(query['correct'])}


@QUIET
@pytest.mark.parametrize('kind', sorted({*RESULTS} - {'two cutoffs', 'lwlrap'}))  # of other columns
def test_all_formats_hold_the_same_numbers(kind):
    result = RESULTS[kind]()
    rows = list(csv.DictReader(io.StringIO(result.to_csv(per_query=True))))
    written = render(results_document([result], per_query=True), 'jsonl').splitlines()
    *others, mean = lines = list(map(json.loads, written))
    (value,) = json.loads(result.to_json(per_query=True))['results']
    for row, line in zip(rows, lines, strict=True):
        assert list(row.items()) == [(k, '' if v is None else str(v)) for k, v in line.items()]
    for line, query in zip(others, value['queries'], strict=True):
        of_query = [name for name in line if name in query or line[name] is not None]
        assert list(query) == of_query[-len(query) :]
        assert repr({name: line[name] for name in query}) == repr(as_in_rows(query))
    assert mean['query'] == 'all'
    columns = {column_of_count(name, result): n for name, n in value['mean_counts'].items()}
    assert columns == {name: mean[name] for name in columns}
    assert columns.keys() == result._count_columns().keys()
    assert all(line[name] is None for line in others for name in columns)
    for name, expected in value['means'].items():
        assert repr(mean[column_of(name, result)]) == repr(expected)
    of_frame = result.to_frame(mean=True).iloc[-1]
    for name, each in mean.items():
        if name in of_frame and isinstance(each, float):
            assert float(of_frame[name]).hex() == each.hex()


RIGHT, WRONG = ('x', 'v', '1', 'ann', 0.5), ('x', 'w', '1', 'ann', 0.9)


def evaluated(name, *run, K=(2, 1)):
    evaluation = AveragePrecision(REFERENCE[:1], K).evaluate(run)
    return replace(evaluation, run=name)


def test_the_best_run_at_the_last_cutoff_is_first():
    runs = [evaluated('bad', WRONG, RIGHT), evaluated('good', RIGHT)]
    for sort, names in (True, ['good', 'bad']), (False, ['bad', 'good']):
        written = json.loads(render(results_document(runs, sort=sort), 'json'))
        assert [each['run'] for each in written['results']] == names
    lines = render(results_document(runs, sort=True), 'table').splitlines()
    table = lines[lines.index('') + 3 :]
    assert [line.split()[0] for line in table[:2]] == ['good', 'bad']


def test_notes_of_several_runs_name_those_that_differ():
    inputs = {'truth': Provenance('t'), 'predictions': Provenance('a\x1b')}
    scores = [
        Score('GAP', 0.5, {}, inputs, {'queries': 1}, notes=['shared', *more])
        for more in ([], ['one more'])
    ]
    assert render(results_document(scores), 'table').endswith('\n\nshared\na\\x1b: one more\n')

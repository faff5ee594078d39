"""Results that are read from JSON: equal to what was written, or refused with the place."""

import io
import json
import pickle
import warnings

import pytest
from result_kinds import REFERENCE, RESULTS, RUN, evaluation

from mediaeval_ap import AveragePrecision, Score, read_results
from mediaeval_ap.definitions import get
from mediaeval_ap.errors import FormatError, ParameterError


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('kind', RESULTS)
def test_what_is_read_is_what_was_written(kind):
    result = RESULTS[kind]()
    (again,) = read_results(io.StringIO(result.to_json()))
    assert again == result
    assert compared(again) == compared(result)


def compared(result):
    """The values that runs are compared by, or the reason why there are none."""
    try:
        each = result.compared_values()
    except ParameterError as error:
        return str(error)
    order = sorted(range(len(each.queries)), key=each.queries.__getitem__)  # GAP has ranks in JSON
    queries = [each.queries[at] for at in order]
    values = {name: repr(column[order].tolist()) for name, column in each.values.items()}
    n_relevant = None if each.n_relevant is None else each.n_relevant[order].tolist()
    return queries, values, n_relevant, each.floor, each.left_out


def changed(result, changes):
    """The JSON of a result with other values at these paths; ``...`` deletes what is there."""
    value = json.loads(result.to_json())
    for path, new in changes.items():
        *way, last = path.split('/')
        at = value
        for each in ['results', 0, *filter(None, way)] if way else []:
            at = at[int(each)] if isinstance(at, list) else at[each]
        if new is ...:
            del at[last]
        else:
            at[int(last) if isinstance(at, list) else last] = new
    return json.dumps(value)


def wrong_definition(**changes):
    """The changes that make another definition of the one in the JSON."""
    return {f'manifest/definition/{name}': value for name, value in changes.items()}


AS_WRITTEN = r'expected one as to_json\(\) writes it, or a command with --format json --per-query$'


@pytest.mark.parametrize(
    ('changes', 'expected'),
    [
        ({'schema': 'mediaeval-ap/problems/1'}, r"schema: found 'm.*/1', expected 'm.*results/1'"),
        ({'results': []}, AS_WRITTEN),
        ({'results': [1]}, AS_WRITTEN),
        ({'results': 5}, 'results: found 5, expected a list, as to_json'),
        ({'results': {'run': 'x'}}, r"results: found \{'run': 'x'\}, expected a list, as"),
        ({'/kind': 'x'}, AS_WRITTEN),
        (
            {'/queries': ...},
            'result 1, queries: found nothing, expected the values of each query: ',
        ),
        ({'/queries': []}, AS_WRITTEN),
        ({'manifest/parameters/K': [0]}, AS_WRITTEN),
        (wrong_definition(depth=['X']), 'depth: found .*, expected a tuple of some of R, k'),
        (wrong_definition(depth=...), "definition: found 'mine', expected one of by-k, hits"),
        (wrong_definition(repeats='x'), 'repeats: found None, expected one of Repeats'),
    ],
)
def test_another_shape_is_an_error_of_one_line(changes, expected):
    stream = io.StringIO(changed(evaluation(), changes))
    stream.name = 'results.json'
    with pytest.raises(FormatError, match=f'^results.json, .*{expected}'):
        read_results(stream)


def test_an_earlier_version_named_a_registered_definition():
    result = AveragePrecision(REFERENCE, [1], definition='trec').evaluate(RUN, ['ann'])
    changes = wrong_definition(depth=..., denominator=...)
    (again,) = read_results(io.StringIO(changed(result, changes)))
    assert again.definition == get('trec')


NOT_AP = {  # in JSON, or as it is read: how an error shows it
    'null': 'None',
    '1e400': 'inf',
    '-1': '-1',
    '1.001': '1.001',
    'true': 'True',
    '"0.5"': "'0.5'",
    '[0.5]': '[0.5]',
}
NOT_A_COUNT = {'1e30': '1e+30', '-3': '-3', '2.5': '2.5', '1.0': '1.0', 'null': 'None'}
NOT_A_COUNT[str(1 << 63)] = str(1 << 63)
NOT_FINITE = {'1e400': 'inf', '-1e400': '-inf', 'false': 'False', '"1"': "'1'"}
NOT_TEXT = {'5': '5', 'null': 'None', '["ann"]': "['ann']"}
ONE = 'a number from 0 to 1'
COUNT = 'an integer of 0 or more'
WRONG = [  # kind, path, wrong values, expected
    ('evaluate', 'queries/1/AP@1', NOT_AP, ONE),
    ('evaluate', 'queries/0/n_relevant', NOT_A_COUNT, COUNT),
    ('evaluate', 'queries/0/query', NOT_TEXT, 'text'),
    ('evaluate', '/run', NOT_TEXT, 'text'),
    ('evaluate', 'manifest/counts/hypotheses', NOT_A_COUNT, COUNT),
    ('measures without a value', 'queries/0/nDCG@10', NOT_FINITE, 'a finite number or null'),
    ('judged', 'queries/0/Judged@1', {'1.5': '1.5', '-1': '-1'}, f'{ONE} or null'),
    ('evidence', 'queries/1/AP', NOT_AP, ONE),
    ('evidence', 'queries/1/ratio', NOT_AP, ONE),
    ('evidence', 'queries/1/name', {'5': '5', 'true': 'True'}, 'text or null'),
    ('evidence', 'queries/1/correct', {'1': '1', 'null': 'None'}, 'true or false'),
    ('evaluate-2015', 'queries/1/n_relevant', NOT_A_COUNT, COUNT),
    ('evaluate-trec', 'queries/0/AP@10', NOT_AP, ONE),
    ('map', 'queries/1/value', NOT_AP, ONE),
    ('map', 'queries/1/n_relevant', NOT_A_COUNT, COUNT),
    ('two cutoffs', 'queries/1/AP@3', NOT_AP, ONE),
    ('first hit', 'queries/1/value', NOT_AP, ONE),
    ('lrap', 'queries/1/value', NOT_AP, ONE),
    ('lwlrap', 'queries/1/n_labels', NOT_A_COUNT, COUNT),
    ('macro-ap', 'queries/0/value', NOT_AP, ONE),
    ('gap', 'queries/0/value', NOT_AP, ONE),
    ('map', 'means/MAP@12', NOT_FINITE, 'a finite number'),
]


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(('kind', 'path', 'values', 'expected'), WRONG)
def test_a_wrong_value_is_named_with_its_query_and_field(kind, path, values, expected):
    result = RESULTS[kind]()
    field = path.split('/')[-1]
    query = ''
    if path.startswith('queries/') and field != 'query':
        query = result.to_dict()['queries'][int(path.split('/')[1])]['query']
    place = f'<file>, result 1{query and f", query {query!r}"}, {field}'
    for text, shown in values.items():
        value = changed(result, {path: '<here>'}).replace('"<here>"', text)
        with pytest.raises(FormatError) as caught:
            read_results(io.StringIO(value))
        assert str(caught.value) == f'{place}: found {shown}, expected {expected}'
    if path.startswith('queries'):
        with pytest.raises(FormatError, match=f'result 1,.* {field}: found nothing, expected '):
            read_results(io.StringIO(changed(result, {path: ...})))


def test_average_precision_above_one_where_the_definition_counts_shots_again():
    reference = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'v', '3', 'bob')]
    run = [('x', 'v', '1', 'ann', number / 8) for number in range(4)]
    for definition, most in ('mediaeval-2016', 3.0), ('trec', 1.0):
        average_precision = AveragePrecision(reference, [3], definition=definition)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            result = average_precision.evaluate(run, ['ann', 'bob'])
        (again,) = read_results(io.StringIO(result.to_json()))
        assert again.ap.tolist() == result.ap.tolist() == [[most], [0.0]]
        with pytest.raises(FormatError, match=f'found 3.5, expected a number from 0 to {most:g}$'):
            read_results(io.StringIO(changed(result, {'queries/0/AP@3': 3.5})))


@pytest.mark.parametrize(
    ('kind', 'changes'),
    [
        ('evaluate', {'means/MAP': 7, 'queries/0/AP@1': 1, 'queries/1/AP@1': 1 + 1e-12}),
        ('map', {'means/MAP@12': -7}),
        ('measures without a value', {'queries/0/nDCG@10': None, 'queries/1/nDCG@10': -5}),
        ('judged', {'queries/0/Judged@1': None}),
        ('evidence', {'queries/1/name': None}),
        ('macro-ap', {'queries/7/value': None, 'queries/7/n_relevant': 0}),
    ],
)
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_values_that_a_metric_can_have(kind, changes):
    """A mean that somebody edited is their own."""
    assert len(read_results(io.StringIO(changed(RESULTS[kind](), changes)))) == 1


def test_a_class_with_a_positive_has_a_value():
    result = RESULTS['macro-ap']()
    row = [row['n_relevant'] > 0 for row in result.to_dict()['queries']].index(True)
    with pytest.raises(FormatError, match='value: found None, expected a number from 0 to 1'):
        read_results(io.StringIO(changed(result, {f'queries/{row}/value': None})))


@pytest.mark.parametrize('kind', RESULTS)
@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_results_are_equal_by_their_values(kind):
    result = RESULTS[kind]()
    assert result == RESULTS[kind]() == pickle.loads(pickle.dumps(result))
    assert result != result.called('other')
    assert result != 'a text'


def test_a_summary_is_not_read_and_names_what_writes_all():
    with pytest.raises(FormatError, match=r'--per-query, in Python .* per_query=True$'):
        read_results(io.StringIO(evaluation().to_json(per_query=False)))


def test_another_kind_than_the_expected_one_is_refused():
    text = evaluation().to_json()
    with pytest.raises(FormatError, match=r'result 1: found Evaluation, expected Score$'):
        read_results(io.StringIO(text), Score)
    with pytest.raises(ParameterError, match="kind: found 'score', expected a class"):
        read_results(io.StringIO(text), 'score')

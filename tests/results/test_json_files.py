"""Results that are read from JSON: equal to what was written, or refused with the place."""

import io
import json
from pathlib import Path

import pytest

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, challenges, read_results
from mediaeval_ap.definitions import Definition, Repeats, get
from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.trec import evaluate_trec

SAMPLES = Path(__file__).parents[2] / 'samples'
REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'w', '1', 'bob')]
RUN = [('x', 'v', '1', 'ann', 0.9), ('x', 'v', '1', 'bob', 0.5)]
MEAN = Definition('mine', ('k', 'N'), ('R', 'H'), 0.5, Repeats.DROP, 'a test')


def evaluation(**options):
    return AveragePrecision(REFERENCE, [1, 'all'], definition=MEAN).evaluate(
        RUN, ['ann', 'bob'], **options
    )


def discovery(evidence):
    folder = SAMPLES / 'discovery_2015'
    told = {'evidence_reference': folder / '2015.eviref'} if evidence else {}
    scorer = PersonDiscovery2015(folder / '2015.shot', folder / '2015.ref', **told)
    return scorer.evaluate(folder / 'run.label', folder / 'run.evidence' if evidence else None)


def challenge(evaluate, name, **options):
    predictions = 'scores' if name == 'sounds' else 'predictions'
    return evaluate(
        SAMPLES / f'{name}_truth.csv',
        SAMPLES / f'{name}_{predictions}.csv',
        per_query=True,
        **options,
    )


RESULTS = {
    'evaluate': evaluation,
    'measures without a value': lambda: AveragePrecision(
        REFERENCE, [1], definition='trec'
    ).evaluate([('y', 'v', '1', 'cid', 0.5), *RUN], ['ann', 'cid'], measures='nDCG@10'),
    'evaluate-2015': lambda: discovery(evidence=False),
    'evidence': lambda: discovery(evidence=True),
    'evaluate-trec': lambda: evaluate_trec({'7': {'d1': 1}}, {'7': {'d2': 0.9, 'd1': 0.5}}, 10),
    'map': lambda: challenge(challenges.evaluate_map, 'fashion'),
    'first hit': lambda: challenge(challenges.evaluate_first_hit, 'whales'),
    'lrap': lambda: challenge(challenges.evaluate_lrap, 'sounds'),
    'lwlrap': lambda: challenge(challenges.evaluate_lrap, 'sounds', label_weighted=True),
    'macro-ap': lambda: challenge(challenges.evaluate_macro_ap, 'sounds'),
    'gap': lambda: challenge(challenges.evaluate_gap, 'landmarks'),
}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('kind', RESULTS)
def test_what_is_read_is_what_was_written(kind):
    result = RESULTS[kind]()
    (again,) = read_results(io.StringIO(result.to_json(per_query=True)))
    assert type(again) is type(result)
    assert without_definition(again) == without_definition(result)
    assert compared(again) == compared(result)


def without_definition(result):
    """The JSON of a result; a score that is read has the name of its definition only."""
    value = json.loads(result.to_json(per_query=True))['results'][0]
    if value['kind'] == 'score':
        value['manifest'].pop('definition', None)
    return value


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
    value = json.loads(result.to_json(per_query=True))
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


AS_WRITTEN = 'expected one as a command writes it with --format json --per-query$'


@pytest.mark.parametrize(
    ('changes', 'expected'),
    [
        (
            {'schema': 'mediaeval-ap/problems/1'},
            r", schema: found 'm.*/1', expected 'm.*results/1'",
        ),
        ({'results': []}, AS_WRITTEN),
        ({'results': [1]}, AS_WRITTEN),
        ({'results': 5}, r'results.json, results: found 5, expected a list, as a command'),
        ({'results': {'run': 'x'}}, r"results: found \{'run': 'x'\}, expected a list, as"),
        ({'/kind': 'x'}, AS_WRITTEN),
        (
            {'/queries': ...},
            'result 1, queries: found nothing, expected the values of each query: '
            'write the file with --format json --per-query$',
        ),
        ({'/queries': []}, AS_WRITTEN),
        ({'queries/1/AP': ...}, f", result 1: found KeyError: 'AP', {AS_WRITTEN}"),
        ({'queries/1/AP@1': 'high'}, AS_WRITTEN),
        ({'manifest/parameters/K': [0]}, AS_WRITTEN),
        (
            wrong_definition(depth=['X']),
            r'depth: found \(\'X\',\), expected a tuple of some of R, k',
        ),
        (wrong_definition(depth=...), "definition: found 'mine', expected one of by-k, hits"),
        (wrong_definition(repeats='x'), 'repeats: found None, expected one of Repeats'),
    ],
)
def test_another_shape_is_an_error_of_one_line(changes, expected):
    stream = io.StringIO(changed(evaluation(), changes))
    stream.name = 'results.json'
    with pytest.raises(FormatError, match=expected) as caught:
        read_results(stream)
    assert str(caught.value).startswith('results.json, ')
    assert '\n' not in str(caught.value)


def test_an_earlier_version_named_a_registered_definition():
    result = AveragePrecision(REFERENCE, [1], definition='trec').evaluate(RUN, ['ann'])
    changes = wrong_definition(depth=..., denominator=...)
    (again,) = read_results(io.StringIO(changed(result, changes)))
    assert again.definition == get('trec')

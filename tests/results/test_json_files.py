"""Results that are read from JSON: equal to what was written, or refused with the place."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, challenges, read_results
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.errors import FormatError, ParameterError, ReadError
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import describe
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
    'gap': lambda: challenge(challenges.evaluate_gap, 'landmarks'),
}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('kind', RESULTS)
def test_what_is_read_is_what_was_written(kind):
    results = RESULTS[kind]()
    results = results if isinstance(results, list) else [results]
    text = render(describe(results, per_query=True), 'json')
    again = read_results(io.StringIO(text))
    assert [type(each) for each in again] == [type(each) for each in results]
    assert [without_definition(each) for each in again] == [
        without_definition(each) for each in results
    ]
    for one, other in zip(again, results, strict=True):
        assert compared(one) == compared(other)


def without_definition(result):
    """The JSON of a result; a score that is read has the name of its definition only."""
    value = json.loads(render(describe([result], per_query=True), 'json'))['results'][0]
    if value['kind'] == 'score':
        value['manifest'].pop('definition', None)
    return value


def compared(result):
    """The values that runs are compared by, or the reason why there are none."""
    try:
        each = result._compared()
    except ParameterError as error:
        return str(error)
    values = {name: column.tolist() for name, column in each.values.items()}
    n_relevant = None if each.n_relevant is None else each.n_relevant.tolist()
    return list(each.queries), values, n_relevant, each.floor, each.left_out


def test_a_file(tmp_path):
    path = tmp_path / 'results.json.gz'
    evaluation().to_json(path, per_query=True)
    (again,) = read_results(path)
    assert again.to_dict() == evaluation().to_dict()
    assert np.array_equal(again.map, evaluation().map)
    assert again.definition == MEAN
    with pytest.raises(ReadError, match=r'none\.json: No such file'):
        read_results(tmp_path / 'none.json')


def written(change):
    value = json.loads(evaluation().to_json(per_query=True))
    value = change(value) or value
    return value if isinstance(value, str) else json.dumps(value)


def first(value):
    return value['results'][0]


def both(value, row, means):
    """Change the values of the second query, and the means with them."""
    first(value)['queries'][1].update(row)
    first(value)['means'].update(means)


WRONG = {
    'no JSON': (lambda _: '{"a": 1,\n}', 'line 2: found no JSON: .*, expected JSON$'),
    'nothing': (lambda _: ' ', 'line 1: found no JSON'),
    'a table': (lambda _: 'query  AP@1', 'line 1: found no JSON'),
    'not finite': (
        lambda _: '{"a": [0, NaN]}',
        r'a\[1\]: found NaN, expected numbers of JSON, which are',
    ),
    'brackets': (
        lambda _: '[' * 100_000,
        'found a number of too many digits, or too many brackets, expected ',
    ),
    'digits': (
        lambda _: '1' * 5_000,
        'found a number of too many digits, or too many brackets, expected ',
    ),
    'a list': (lambda _: '[]', "schema: found .*, expected 'mediaeval-ap/results/1', as --format"),
    'schema': (
        lambda value: value.update(schema='mediaeval-ap/problems/1'),
        "schema: found 'mediaeval-ap/problems/1', expected 'mediaeval-ap/results/1', as --format",
    ),
    'no result': (lambda value: value.update(results=[]), 'results: found none, expected one or'),
    'a result': (lambda value: value.update(results=[1]), 'result 1: found 1, expected an object'),
    'kind': (
        lambda value: first(value).update(kind='x'),
        "result 1, kind: found 'x', expected one of evaluation, evaluation-2015, score$",
    ),
    'means only': (
        lambda value: first(value).pop('queries') and None,
        r"result 1 \('<rows>'\), queries: found nothing, expected the values of each query: "
        'write the file with --format json --per-query$',
    ),
    'no query': (
        lambda value: first(value).update(queries=[]),
        r'queries: found \[\], expected an object for each query$',
    ),
    'a text': (
        lambda value: first(value)['queries'][1].update({'AP@1': '0.5'}),
        r"query 2 \('bob'\), AP@1: found '0.5', expected a number$",
    ),
    'nothing there': (
        lambda value: first(value)['queries'][1].pop('AP') and None,
        r"query 2 \('bob'\), AP: found nothing, expected a number$",
    ),
    'true': (
        lambda value: first(value)['queries'][1].update({'AP@1': True}),
        r"query 2 \('bob'\), AP@1: found True, expected a number$",
    ),
    'too large': (
        lambda value: first(value)['queries'][0].update({'AP@1': 10**400}),
        'AP@1: found an integer of too many digits',
    ),
    'infinite': (
        lambda value: json.dumps(value).replace('"AP@1": 1.0', '"AP@1": 1e999'),
        r"query 1 \('ann'\), AP@1: found inf, expected a number from 0 to 1$",
    ),
    'a count': (
        lambda value: first(value)['queries'][1].update(n_relevant=0.5),
        r"query 2 \('bob'\), n_relevant: found 0\.5, expected an integer$",
    ),
    'a count below 0': (
        lambda value: first(value)['queries'][1].update(n_relevant=-1),
        rf"query 2 \('bob'\), n_relevant: found -1, expected an integer from 0 to {2**53}$",
    ),
    'half of a character': (
        lambda value: first(value)['queries'][1].update(query='\ud800'),
        r'results\[0\]\.queries\[1\]\.query: found half of a character, expected JSON of Unicode$',
    ),
    'another value': (
        lambda value: first(value)['queries'][0].update({'AP@1': 0.25}),
        'MAP@1: found 0.5, expected 0.125, the mean of the values of its queries$',
    ),
    'a mean that is text': (
        lambda value: first(value)['means'].update({'MAP@1': '0.5'}),
        "MAP@1: found '0.5', expected a number$",
    ),
    'a mean without values': (
        lambda value: first(value)['means'].update({'MAP@7': 0.5}),
        "means: found 'MAP@7', expected means of the values of its queries$",
    ),
    'a negative AP': (
        lambda value: both(value, {'AP@1': -0.5}, {'MAP@1': 0.0}),
        r"query 2 \('bob'\), AP@1: found -0\.5, expected a number from 0 to 1$",
    ),
    'an AP above 1': (
        lambda value: both(value, {'AP': 1.5}, {'MAP': 1.25}),
        r"query 2 \('bob'\), AP: found 1\.5, expected a number from 0 to 1$",
    ),
    'values whose sum overflows': (
        lambda value: [row.update({'AP': 1.7e308}) for row in first(value)['queries']] and None,
        r"query 1 \('ann'\), AP: found 1\.7e\+308, expected a number from 0 to 1$",
    ),
    'the value without a relevant shot': (
        lambda value: both(value, {'n_relevant': 0}, {}),
        r"query 2 \('bob'\), AP@1: found 0\.0, expected 0\.5$",
    ),
    'a measure': (
        lambda value: [row.update({'P@5': 1.25}) for row in first(value)['queries']] and None,
        r"query 1 \('ann'\), P@5: found 1\.25, expected a number from 0 to 1$",
    ),
    'a measure that counts': (
        lambda value: [row.update({'NumRet': -1}) for row in first(value)['queries']] and None,
        r"query 1 \('ann'\), NumRet: found -1, expected a number from 0 to ",
    ),
    'a key twice': (
        lambda value: json.dumps(value).replace('"AP@1": 1.0', '"AP@1": 0.0, "AP@1": 1.0'),
        r"results\[0\]\.queries\[0\]: found the key 'AP@1' twice, expected each key of an object ",
    ),
    'a count of the manifest': (
        lambda value: first(value)['manifest']['counts'].update(hypotheses='many'),
        "hypotheses: found 'many', expected an integer$",
    ),
    'the number of queries': (
        lambda value: first(value).update(n_queries=3),
        'n_queries: found 3, expected 2, as of its queries$',
    ),
    'the number of queries in the manifest': (
        lambda value: first(value)['manifest']['counts'].update(queries=3),
        'queries: found 3, expected 2, as of its queries$',
    ),
    'the number of queries without a relevant shot': (
        lambda value: first(value)['manifest']['counts'].update(queries_without_relevant=1),
        'queries_without_relevant: found 1, expected 0, as of its queries$',
    ),
    'a query that was left out': (
        lambda value: (
            first(value)['manifest']['counts'].update(queries_skipped=1),
            both(value, {'n_relevant': 0, 'AP@1': 0.5, 'AP': 0.5}, {'MAP@1': 0.75, 'MAP': 0.75}),
        )[1],
        'n_relevant: found 0, expected 1 or more, as queries with 0 were left out$',
    ),
    'a digest': (
        lambda value: first(value)['manifest']['inputs']['hypothesis'].update(sha256=7),
        'sha256: found 7, expected text$',
    ),
    'formula': (
        lambda value: first(value)['manifest']['definition'].update(formula='S(x) / R'),
        r"definition: found {'name': 'mine'.*, expected a definition as Definition\.to_dict ",
    ),
    'cutoffs': (
        lambda value: first(value)['manifest']['parameters'].update(K=[0]),
        r'K: found \[0\], expected cutoffs of mine$',
    ),
    'inputs': (
        lambda value: first(value)['manifest']['inputs'].pop('hypothesis') and None,
        'inputs: found reference, queries, expected hypothesis$',
    ),
}


IN_RESULT = r"result 1 \('<rows>'\), "


@pytest.mark.parametrize('fault', WRONG)
def test_errors_name_the_place(fault):
    change, expected = WRONG[fault]
    stream = io.StringIO(written(change))
    stream.name = 'results.json'
    with pytest.raises(
        FormatError, match=rf'^results\.json(, |: )({IN_RESULT})?{expected}'
    ) as caught:
        read_results(stream)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    ('content', 'encoding'),
    [
        (b'"\xff"', 'UTF-8'),
        (b'\n"\xed\xa0\x80"', 'UTF-8'),  # half of a surrogate pair, as bytes
        ('"\ud800"'.encode('utf-16', 'surrogatepass'), 'UTF-16'),
    ],
)
def test_bytes_that_are_no_text(content, encoding):
    line = content.count(b'\n') + 1
    with pytest.raises(
        FormatError, match=rf', line {line}: found bytes that are not {encoding}, expected JSON$'
    ):
        read_results(io.BytesIO(content))


SCORES = {
    'a value': ('map', {'value': 1.5}, r'value: found 1\.5, expected a number from 0 to 1$'),
    'no reciprocal': ('first hit', {'value': 0.7}, r'value: found 0\.7, expected 1$'),
    'a mean': (
        'map',
        {'value': 0.0, 'n_relevant': 1},
        r'MAP@12: found .*, expected .*, the mean of',
    ),
    'another rank': (
        'first hit',
        {'value': 0.0},
        r'first-hit MAP@5: found .*, expected .*, the mean',
    ),
    'a mean of samples': ('lrap', {'value': 0.0}, 'LRAP: found .*, expected .*, the mean of'),
    'a mean of labels': ('lwlrap', {'value': 0.0}, 'lwlrap: found .*, expected .*, the mean of'),
    'a sum': ('gap', {'value': 1.0}, 'GAP: found .*, expected .*, the mean of'),
    'text': ('gap', {'query': 7}, r'query 1, query: found 7, expected text$'),
}


@pytest.mark.parametrize('fault', SCORES)
def test_errors_of_scores_name_the_place(fault):
    kind, change, expected = SCORES[fault]
    value = json.loads(render(describe([RESULTS[kind]()], per_query=True), 'json'))
    first(value)['queries'][0].update(change)
    with pytest.raises(FormatError, match=expected):
        read_results(io.StringIO(json.dumps(value)))


def test_errors_of_2015_name_the_place():
    (result,) = [discovery(evidence=True)]
    for change, expected in [
        ({'ratio': 1.5}, r'ratio: found 1\.5, expected a number from 0 to 1$'),
        ({'correct': 'yes'}, "correct: found 'yes', expected true or false$"),
        ({'EwAP': 0.123}, r'EwAP: found 0\.123, expected '),
        ({'name': 5}, 'name: found 5, expected text$'),
    ]:
        value = json.loads(result.to_json(per_query=True))
        first(value)['queries'][2].update(change)
        with pytest.raises(FormatError, match=rf'query 3 \(.*\), {expected}'):
            read_results(io.StringIO(json.dumps(value)))


def test_a_named_pipe_is_an_error_and_a_pipe_of_the_shell_is_read(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(ReadError, match=r'pipe: is a named pipe: read it as standard input'):
        read_results(tmp_path / 'pipe')
    reading, writing = os.pipe()
    with open(writing, 'w') as file:
        file.write(evaluation().to_json(per_query=True))  # less than a pipe holds
    with open(reading):
        (again,) = read_results(f'/dev/fd/{reading}')
    assert again.to_dict() == evaluation().to_dict()

"""Results that are read from JSON: equal to what was written, or refused with the place."""

import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, challenges, read_results
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.errors import FormatError, ParameterError, ReadError
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.sources import Source
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


def other_metric():
    """A metric by shots that the package does not know: its values are no average precision."""
    table = pd.DataFrame({'query': ['a', 'b'], 'value': [0.5, 0.0], 'n_relevant': [4, 0]})
    return Score(
        metric='recall@2',
        value=0.5,
        table=table,
        queries=pa.array(table['query']),
        values={name: table[name].to_numpy() for name in ('value', 'n_relevant')},
        inputs={Score._RUN: Source('run', None)},
        counts={'queries': 2},
        parameters={'k': 2},
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
    'recall': other_metric,
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
        each = result._compared()
    except ParameterError as error:
        return str(error)
    order = sorted(range(len(each.queries)), key=each.queries.__getitem__)  # GAP has ranks in JSON
    queries = [each.queries[at] for at in order]
    values = {name: repr(column[order].tolist()) for name, column in each.values.items()}
    n_relevant = None if each.n_relevant is None else each.n_relevant[order].tolist()
    return queries, values, n_relevant, each.floor, each.left_out


def test_a_file(tmp_path):
    path = tmp_path / 'results.json.gz'
    evaluation().to_json(path, per_query=True)
    (again,) = read_results(path)
    assert again.to_dict() == evaluation().to_dict()
    assert np.array_equal(again.map, evaluation().map)
    assert again.definition == MEAN
    with pytest.raises(ReadError, match=r'none\.json: No such file'):
        read_results(tmp_path / 'none.json')


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


def refusal(text):
    """The error of a text that is read as results."""
    stream = io.StringIO(text)
    stream.name = 'results.json'
    with pytest.raises(FormatError) as caught:
        read_results(stream)
    assert '\n' not in str(caught.value)
    return str(caught.value).removeprefix('results.json')


TOO_MUCH = ': found a number of too many digits, or too many brackets, expected '
AS_WRITTEN = "expected 'mediaeval-ap/results/1', as --format"


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('{"a": 1,\n}', r', line 2: found no JSON: .*, expected JSON$'),
        (' ', ', line 1: found no JSON'),
        ('query  AP@1', ', line 1: found no JSON'),
        ('{"a": [0, NaN]}', r', a\[1\]: found NaN, expected numbers of JSON, which are'),
        ('[' * 100_000, TOO_MUCH),
        ('1' * 5_000, TOO_MUCH),
        ('[]', f', schema: found .*, {AS_WRITTEN}'),
        ('{"a": 0, "a": 1}', r": found the key 'a' twice, expected each key of an object "),
        (r'["\ud800"]', r', \[0\]: found half of a character, expected JSON of Unicode$'),
    ],
)
def test_text_that_is_no_json_of_results(text, expected):
    assert re.match(expected, refusal(text))


SECOND = r"\('<rows>'\), query 2 \('bob'\), "
BOB = 'queries/1'
MANIFEST = 'manifest'


@pytest.mark.parametrize(
    ('changes', 'expected'),
    [
        ({'schema': 'mediaeval-ap/problems/1'}, f"schema: found 'm.*problems/1', {AS_WRITTEN}"),
        ({'results': []}, 'results: found none, expected one or more$'),
        ({'results': [1]}, 'result 1: found 1, expected an object$'),
        (
            {'/kind': 'x'},
            "result 1, kind: found 'x', expected one of evaluation, evaluation-2015, score$",
        ),
        (
            {'/queries': ...},
            r"result 1 \('<rows>'\), queries: found nothing, expected the values of each query: "
            'write the file with --format json --per-query$',
        ),
        ({'/queries': []}, r'queries: found \[\], expected an object for each query$'),
        ({f'{BOB}/AP@1': '0.5'}, f"{SECOND}AP@1: found '0.5', expected a number$"),
        ({f'{BOB}/AP': ...}, f'{SECOND}AP: found nothing, expected a number$'),
        ({f'{BOB}/AP@1': True}, f'{SECOND}AP@1: found True, expected a number$'),
        ({f'{BOB}/AP@1': 10**400}, 'AP@1: found an integer of too many digits'),
        ({f'{BOB}/AP': 1.7e308}, rf'{SECOND}AP: found 1\.7e\+308, expected a number from 0 to 1$'),
        ({f'{BOB}/AP': 1.5}, rf'{SECOND}AP: found 1\.5, expected a number from 0 to 1$'),
        ({f'{BOB}/AP@1': -0.5}, rf'{SECOND}AP@1: found -0\.5, expected a number from 0 to 1$'),
        ({f'{BOB}/n_relevant': 0.5}, rf'{SECOND}n_relevant: found 0\.5, expected an integer$'),
        (
            {f'{BOB}/n_relevant': -1},
            rf'{SECOND}n_relevant: found -1, expected an integer from 0 to {2**53}$',
        ),
        ({f'{BOB}/n_relevant': 0}, rf'{SECOND}AP@1: found 0\.0, expected 0\.5$'),
        (
            {'queries/0/AP@1': 0.25},
            'MAP@1: found 0.5, expected 0.125, the mean of the values of its queries$',
        ),
        ({'means/MAP@1': '0.5'}, "MAP@1: found '0.5', expected a number$"),
        (
            {'means/MAP@7': 0.5},
            "means: found 'MAP@7', expected means of the values of its queries$",
        ),
        (
            {f'queries/{i}/P@5': 1.25 for i in (0, 1)},
            r"query 1 \('ann'\), P@5: found 1\.25, expected a number from 0 to 1$",
        ),
        (
            {f'queries/{i}/NumRet': -1 for i in (0, 1)},
            r"query 1 \('ann'\), NumRet: found -1, expected a number from 0 to ",
        ),
        (
            {f'{MANIFEST}/counts/hypotheses': 'many'},
            "hypotheses: found 'many', expected an integer$",
        ),
        ({'/n_queries': 3}, 'n_queries: found 3, expected 2, as of its queries$'),
        ({f'{MANIFEST}/counts/queries': 3}, 'queries: found 3, expected 2, as of its queries$'),
        (
            {f'{MANIFEST}/counts/queries_without_relevant': 1},
            'queries_without_relevant: found 1, expected 0, as of its queries$',
        ),
        (
            {
                f'{MANIFEST}/counts/queries_skipped': 1,
                f'{BOB}/n_relevant': 0,
                f'{BOB}/AP@1': 0.5,
                f'{BOB}/AP': 0.5,
                'means/MAP@1': 0.75,
                'means/MAP': 0.75,
            },
            'n_relevant: found 0, expected 1 or more, as queries with 0 were left out$',
        ),
        ({f'{MANIFEST}/inputs/hypothesis/sha256': 7}, 'sha256: found 7, expected text$'),
        (
            {f'{MANIFEST}/definition/formula': 'S(x) / R'},
            r"definition: found {'name': 'mine'.*, expected a definition as Definition\.to_dict ",
        ),
        ({f'{MANIFEST}/parameters/K': [0]}, r'K: found \[0\], expected cutoffs of mine$'),
        (
            {f'{MANIFEST}/inputs/hypothesis': ...},
            'inputs: found reference, queries, expected hypothesis$',
        ),
    ],
)
def test_errors_name_the_place(changes, expected):
    said = refusal(changed(evaluation(), changes))
    assert re.search(expected, said)
    assert said.startswith(", result 1 ('<rows>'), ") or expected.startswith(('res', 'schema'))


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
    expected = rf', line {line}: found bytes that are not {encoding}, expected JSON$'
    with pytest.raises(FormatError, match=expected):
        read_results(io.BytesIO(content))


@pytest.mark.parametrize(
    ('kind', 'query', 'change', 'expected'),
    [
        ('map', 0, {'': {}}, 'query 1, value: found nothing, expected a number$'),
        ('map', 0, {'value': 1.5}, r'value: found 1\.5, expected a number from 0 to 1$'),
        ('map', 0, {'value': 0.0, 'n_relevant': 1}, r'MAP@12: found .*, the mean of'),
        ('first hit', 0, {'value': 0.7}, r'value: found 0\.7, expected 1$'),
        ('first hit', 0, {'value': 0.0}, 'first-hit MAP@5: found .*, the mean'),
        ('lrap', 0, {'value': 0.0}, 'LRAP: found .*, expected .*, the mean of'),
        ('lrap', 0, {'value': 1.5}, r'value: found 1\.5, expected a number from 0 to 1$'),
        ('lwlrap', 0, {'value': 0.0}, 'lwlrap: found .*, expected .*, the mean of'),
        ('gap', 0, {'value': 1.0}, 'GAP: found .*, expected .*, the mean of'),
        ('gap', 0, {'query': 7}, r'query 1, query: found 7, expected text$'),
        ('evidence', 2, {'ratio': 1.5}, r'ratio: found 1\.5, expected a number from 0 to 1$'),
        ('evidence', 2, {'correct': 'yes'}, "correct: found 'yes', expected true or false$"),
        ('evidence', 2, {'EwAP': 0.123}, r'query 3 \(.*\), EwAP: found 0\.123, expected '),
        ('evidence', 2, {'name': 5}, 'name: found 5, expected text$'),
    ],
)
def test_errors_of_other_kinds_name_the_place(kind, query, change, expected):
    changes = {f'queries/{query}/{name}'.rstrip('/'): new for name, new in change.items()}
    assert re.search(expected, refusal(changed(RESULTS[kind](), changes)))


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

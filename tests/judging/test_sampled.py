"""The mean over all queries from some that were judged completely, in a pool."""

import json
from pathlib import Path
from random import Random

import jsonschema
import numpy as np
import pytest

from mediaeval_ap import AveragePrecision
from mediaeval_ap.comparison.prediction_powered import prediction_powered
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.judging.candidates import pool_pairs
from mediaeval_ap.judging.sampled import FOLDS, _predicted

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/pool-1.schema.json').read_text())
QUERIES = [f'{chr(97 + n // 12) * 3}{chr(97 + n % 12) * 3}' for n in range(130)]
SAMPLE = Random(3).sample(QUERIES, 100)  # fixed, as the corpus below: one example of its size
TEAMS = {'a_1': 'a', 'b_1': 'b'}


def campaign():
    """Two runs of three shots for each query, of which the first are relevant more often."""
    chance = Random(7)
    reference, runs = [], {name: [] for name in TEAMS}
    for query in QUERIES:
        shots = [('x', query, str(number)) for number in range(4)]
        reference += [(*shot, query) for shot in shots if chance.random() < 0.6]
        for rows in runs.values():
            for rank, shot in enumerate(chance.sample(shots, 3)):
                rows.append((*shot, query, 0.9 - rank / 10))
    return reference, runs


def pairs_of(reference, runs):
    criteria = AveragePrecision(reference, K=[10], definition='trec')._criteria
    return pool_pairs(criteria, runs, criteria.read_queries(QUERIES), TEAMS, 20, 0.2)


@pytest.fixture(scope='module')
def pairs():
    return pairs_of(*campaign())


def test_what_was_measured_and_predicted_is_put_together(pairs):
    reference, runs = campaign()
    average_precision = AveragePrecision(reference, K=[1, 10], definition='trec')
    numbers = np.array([QUERIES.index(name) for name in SAMPLE])
    predicted, others = _predicted(pairs, numbers, pairs.labels(pairs.criteria.reference))
    pool = average_precision.pool(runs, QUERIES, sampled_queries=SAMPLE)
    assert list(pool.sampled) == list(runs)
    for row, (name, run) in enumerate(runs.items()):
        measured = average_precision.evaluate(run, SAMPLE).ap[:, 1]
        assert pool.sampled[name] == prediction_powered(measured, predicted[row], others[row])
        whole = average_precision.evaluate(run, QUERIES).map[1]
        assert pool.sampled[name].low < whole < pool.sampled[name].high
    value = json.loads(pool.to_json())
    jsonschema.Draft202012Validator(SHAPE).validate(value)
    assert [each['run'] for each in value['sampled']] == list(runs)
    assert 'MAP@10 over all 130 queries, from 100 judged completely' in pool.to_markdown()
    assert average_precision.pool(runs, QUERIES).sampled == {}


def test_no_query_is_predicted_from_its_own_judgements(pairs):
    """Else the judged ones would be predicted better than the others, and correct too little."""
    numbers = np.array([QUERIES.index(name) for name in SAMPLE])
    labels = pairs.labels(pairs.criteria.reference)
    before, others = _predicted(pairs, numbers, labels)
    for at in 0, 41:
        turned = labels.copy()
        of_query = pairs.query == numbers[at]
        turned[of_query] = 1 - turned[of_query]
        after, _ = _predicted(pairs, numbers, turned)
        same_fold = np.arange(len(numbers)) % FOLDS == at % FOLDS
        assert (after[:, same_fold] == before[:, same_fold]).all()
        assert (after[:, ~same_fold] != before[:, ~same_fold]).any()
    unknown = labels.copy()
    unknown[~np.isin(pairs.query, numbers)] = 1  # what nobody judged
    again, others_again = _predicted(pairs, numbers, unknown)
    assert (again == before).all()
    assert (others_again == others).all()


@pytest.mark.parametrize(
    ('sample', 'message'),
    [
        (SAMPLE[:99], r'^sampled_queries: found 99 queries, expected 100 or more'),
        ([*SAMPLE, SAMPLE[0]], r"^sampled_queries: found '\w+' twice, expected each query once"),
        ([*SAMPLE, 'zoe'], r"^sampled_queries: found 'zoe', expected queries of the runs"),
    ],
)
def test_wrong_samples(sample, message):
    reference, runs = campaign()
    with pytest.raises(ParameterError, match=message):
        AveragePrecision(reference, K=[10]).pool(runs, QUERIES, sampled_queries=sample)


def test_a_sample_must_be_judged_completely():
    reference, runs = campaign()
    shots = {row[:3] for rows in (reference, *runs.values()) for row in rows}
    relevant = {row[:3] for row in reference}
    missing = min(shot for shot in shots - relevant if shot[1] in SAMPLE)
    for judged, is_whole in (shots, True), (shots - {missing}, False):
        average_precision = AveragePrecision(reference, K=[10], judged=sorted(judged))
        if is_whole:
            assert average_precision.pool(runs, QUERIES, sampled_queries=SAMPLE).sampled
            continue
        found = f"^sampled_queries: found '{missing[1]}', for which '{'/'.join(missing)}' of the "
        with pytest.raises(ParameterError, match=found):
            average_precision.pool(runs, QUERIES, sampled_queries=SAMPLE)

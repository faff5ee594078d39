"""Comparisons and diagnoses that are read from JSON: equal to what was written, or refused."""

import gzip
import io
import json
import pickle

import pandas
import pytest
from compared_runs import several
from result_kinds import REFERENCE, RESULTS, RUN
from schemas import follow_schema

from mediaeval_ap import AveragePrecision, Comparison, Evaluation, TrecTopics, compare, read_results
from mediaeval_ap.errors import FormatError, ParameterError

SAMPLE = 'samples/scores.csv'
RUNS = several([1, 0.5, 0, 0.25, 1, 0.5, 0.75], [0, 0.5, 0, 0.25, 0.5, 1, 0])
pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


def diagnosis(**options):
    return AveragePrecision(REFERENCE, **options).explain(RUN)


SAVED = {
    'comparison': lambda: compare(RUNS, baseline='b', power=0.1, fail_if_worse=0.2),
    'score tables': lambda: compare(SAMPLE),
    'groups': lambda: compare(RUNS, by='relevant'),
    'no mean': lambda: compare(RESULTS['lwlrap']()),
    'diagnosis': diagnosis,
    'judged': lambda: diagnosis(judged=[row[:3] for row in RUN + REFERENCE]),
    'unknown bounds': lambda: diagnosis(definition='hits'),
    'topics': lambda: TrecTopics({'7': {'d1': 1}}).explain({'7': {'d2': 0.9, 'd1': 0.5}}),
}


def read(text):
    (again,) = read_results(io.StringIO(text))
    return again


@pytest.mark.parametrize('kind', SAVED)
def test_what_is_read_is_what_was_written(kind):
    saved = SAVED[kind]()
    again = read(saved.to_json())
    assert again == saved == pickle.loads(pickle.dumps(saved))
    assert again.to_json() == saved.to_json()
    assert repr(again) == repr(saved)
    assert again.to_latex() == saved.to_latex()
    pandas.testing.assert_frame_equal(again.to_frame(), saved.to_frame())


def test_a_comparison_has_its_values_and_figures_again(tmp_path):
    comparison = SAVED['comparison']()
    follow_schema(json.loads(compare(SAMPLE).to_json()), 'comparison-3')
    path = tmp_path / 'comparison.json.gz'
    comparison.to_json(path)
    assert gzip.decompress(path.read_bytes()).decode() == comparison.to_json()
    (again,) = read_results(path, Comparison)
    for metric, values in comparison.values.items():
        assert again.values[metric].tolist() == values.tolist()
    assert again.plot().to_dict() == again.plot.leaderboard().to_dict()
    assert again.plot.scatter().to_dict() == comparison.plot.scatter().to_dict()


def test_a_diagnosis_that_was_read_has_no_ranking():
    again = read(diagnosis().to_json())
    assert again.against(diagnosis()).map == 0
    with pytest.raises(ParameterError, match=r'^of: found no ranking.*; explain the run again$'):
        again.of('ann')
    other = AveragePrecision('samples/reference.txt').explain(RUN, ['ann', 'bob'])
    with pytest.raises(ParameterError, match=r'against: .* another reference'):
        again.against(other)


def test_a_comparison_without_values_names_what_writes_them():
    with pytest.raises(FormatError, match=r'--per-query, in Python .* per_query=True$'):
        read(compare(SAMPLE).to_json(per_query=False))


def test_another_kind_than_the_expected_one_is_refused():
    text = compare(SAMPLE).to_json()
    with pytest.raises(FormatError, match=r'result 1: found Comparison, expected Evaluation$'):
        read_results(io.StringIO(text), Evaluation)
    with pytest.raises(ParameterError, match="kind: found 'evaluation', expected a class"):
        read_results(io.StringIO(text), 'evaluation')


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('"wins": ', '"wins": true, "no_wins": '),
        ('"metric":', '"no_metric":'),
        ('"counts": {', '"counts": [], "no_counts": {'),
        ('"values": {', '"values": 5, "no_values": {'),
        ('"correction": "holm"', '"correction": 5'),
    ],
)
def test_other_values_are_an_error_of_one_line(old, new):
    text = compare(SAMPLE).to_json()
    assert old in text
    with pytest.raises(FormatError, match=r'^<file>, result 1: found .*, expected one as to_json'):
        read(text.replace(old, new))

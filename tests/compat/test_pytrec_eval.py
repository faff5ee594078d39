"""The class of pytrec_eval beside its own, on runs full of ties."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.compat.pytrec_eval import RelevanceEvaluator
from mediaeval_ap.errors import FormatError, ParameterError

# Scores that are equal in single precision alone, signs of zero, and what it does not hold.
SCORES = [0.5, 0.5 + 1e-9, 0.25, 0.0, -0.0, -1.5, 1e30, 1e39, 1, float('inf'), -float('inf')]
docs = st.sampled_from(['d1', 'd10', 'd2', 'D1', 'é', '€', '𝄞', 'z'])
topics = st.sampled_from(['1', '2', '3', 'q'])
qrels = st.dictionaries(topics, st.dictionaries(docs, st.integers(0, 3)), min_size=1)
runs = st.dictionaries(topics, st.dictionaries(docs, st.sampled_from(SCORES)))
OWN = [{'map'}, {'map_cut'}, {'map', 'map_cut_1', 'map_cut.3,5'}, {'map_cut', 'map_cut_2'}]
OTHERS = ['ndcg', 'P_1', 'recip_rank', 'num_rel', 'gm_map', 'ndcg_cut_2', 'official']


def as_text(values):
    """Every digit; pytrec_eval has values that are no numbers, which equal nothing."""
    return {
        topic: {name: repr(each) for name, each in row.items()} for topic, row in values.items()
    }


@given(qrels, runs, st.sampled_from(OWN), st.sets(st.sampled_from(OTHERS)), st.integers(1, 2))
def test_every_value_is_that_of_pytrec_eval(qrel, run, own, others, level):
    """To the last bit, in the same order of topics, and whatever else is asked for."""
    expected = pytrec_eval.RelevanceEvaluator(qrel, own | others, level).evaluate(run)
    found = RelevanceEvaluator(qrel, own | others, level).evaluate(run)
    assert list(found) == list(expected)
    assert as_text(found) == as_text(expected)


def random_pair(generator, n_topics, n_documents):
    """Return judgements and a run in which most documents are tied, and some not judged."""
    qrel, run = {}, {}
    for topic in map(str, range(n_topics)):
        names = [f'd{number}' for number in generator.permutation(3 * n_documents)]
        n_levels = generator.integers(1, n_documents)
        scores = generator.integers(0, n_levels, n_documents) / n_levels
        run[topic] = dict(zip(names, scores.tolist(), strict=False))
        judged = generator.choice(names[: 2 * n_documents], n_documents, replace=False).tolist()
        grades = generator.integers(-1, 3, n_documents).tolist()
        qrel[topic] = {**dict(zip(judged, grades, strict=True)), 'd': 0}
    return qrel, run


@pytest.mark.parametrize('n_runs', [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_tied_runs(n_runs):
    generator = np.random.default_rng(28)  # any seed would do: each run is another
    for _ in range(n_runs):
        qrel, run = random_pair(generator, 5, int(generator.integers(2, 60)))
        expected = pytrec_eval.RelevanceEvaluator(qrel, {'map', 'map_cut'}).evaluate(run)
        assert RelevanceEvaluator(qrel, {'map', 'map_cut'}).evaluate(run) == expected


def test_judged_documents_alone():
    qrel, run = random_pair(np.random.default_rng(5), 3, 20)
    arguments = qrel, {'map', 'map_cut', 'P_5'}, 1, True
    expected = pytrec_eval.RelevanceEvaluator(*arguments).evaluate(run)
    assert RelevanceEvaluator(*arguments).evaluate(run) == expected
    assert RelevanceEvaluator(qrel, {'map'}).evaluate(run)['0'] != expected['0']['map']


@pytest.mark.parametrize('wrong', [float('nan'), '0.5', None])
def test_scores_that_are_no_numbers(wrong):
    evaluator = RelevanceEvaluator({'7': {'d1': 1}, '8': {'d1': 1}}, {'map'})
    found = r"^<run>, topic '8', docno 'd3', score: found .*, expected a number$"
    with pytest.raises(FormatError, match=found):
        evaluator.evaluate({'7': {'d1': 1}, '8': {'d2': 0.5, 'd3': wrong}})


def test_measures_and_levels_that_do_not_exist():
    with pytest.raises(ValueError, match='unsupported measure MAP'):  # of pytrec_eval itself
        RelevanceEvaluator({'7': {'d1': 1}}, {'MAP'})
    with pytest.raises(ParameterError, match='relevance_level: found 0, expected a positive'):
        RelevanceEvaluator({'7': {'d1': 1}}, {'map'}, 0)
    with pytest.raises(ParameterError, match='map_cut: found 0, expected positive integers'):
        RelevanceEvaluator({'7': {'d1': 1}}, {'map_cut_0'})


def test_empty_runs_and_judgements():
    evaluator = RelevanceEvaluator({'7': {'d1': 1}, '8': {}}, {'map', 'ndcg'})
    assert evaluator.evaluate({}) == {}
    assert evaluator.evaluate({'8': {'d1': 1.0}, '9': {'d1': 1.0}}) == {}
    assert evaluator.evaluate({'7': {}}) == {'7': {'map': 0.0, 'ndcg': 0.0}}

"""AP by any definition as a measure of ir_measures."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, Qrel, ScoredDoc

from mediaeval_ap import definitions, evaluate_trec
from mediaeval_ap.choices import TREC_TIES
from mediaeval_ap.compat.ir_measures import register
from mediaeval_ap.errors import ParameterError

DefinedAP = register()
docs = st.sampled_from(['d1', 'd2', 'd3', 'd4'])
topics = st.sampled_from(['1', '2', '3'])
qrels = st.dictionaries(
    topics, st.dictionaries(docs, st.integers(0, 2), min_size=1), min_size=1
).filter(lambda qrel: any(max(docs.values()) for docs in qrel.values()))
runs = st.dictionaries(topics, st.dictionaries(docs, st.sampled_from([0.25, 0.5, 1.0])))


def values(measures, qrel, run):
    found = ir_measures.iter_calc(measures, qrel, run)
    return {(str(each.measure), each.query_id): each.value for each in found}


@given(qrels, runs)
def test_with_ties_of_trec_eval_9_it_is_ap(qrel, run):
    """Also beside other measures, and for topics that the run lacks."""
    found = values([DefinedAP(ties='trec_eval-9') @ 2, AP @ 2, DefinedAP, AP, RR], qrel, run)
    for topic in qrel:
        assert found["DefinedAP(ties='trec_eval-9')@2", topic] == pytest.approx(
            found['AP@2', topic],
            abs=1e-15,  # ir_measures may add in another order
        )
        assert found['DefinedAP', topic] == pytest.approx(found['AP', topic], abs=1e-15)
        assert ('RR', topic) in found


JUDGED = {'1': {'d1': 2, 'd2': 1, 'd4': 1}, '2': {'d1': 1}}
RETURNED = {'1': {'d3': 0.5, 'd1': 0.5, 'd2': 0.25}}


@pytest.mark.parametrize('definition', definitions.names())
@pytest.mark.parametrize('ties', TREC_TIES)
def test_any_definition_and_ties(definition, ties):
    if ties in ('best', 'expected', 'worst') and definition == 'hits':
        with pytest.raises(ParameterError, match='is not defined for'):
            values([DefinedAP(definition=definition, ties=ties) @ 2], JUDGED, RETURNED)
        return
    measures = [DefinedAP(definition=definition, ties=ties, rel=rel) @ 2 for rel in (1, 2)]
    found = values(measures, JUDGED, RETURNED)
    for measure, level in zip(measures, (1, 2), strict=True):
        with pytest.warns():
            expected = evaluate_trec(
                JUDGED, RETURNED, 2, definition=definition, ties=ties,
                relevance_level=level, missing='zero',
            )  # fmt: skip
        for topic, ap in zip(expected.queries, expected.ap[:, 0].tolist(), strict=True):
            assert found[str(measure), topic] == ap


def test_it_is_found_by_name_and_registered_once():
    assert register() is DefinedAP
    text = "DefinedAP(definition='kaggle',ties='best')@2"
    assert (
        str(ir_measures.measures.registry['DefinedAP'](definition='kaggle', ties='best') @ 2)
        == text
    )
    names = [each.NAME for each in ir_measures.DefaultPipeline.providers]
    assert names.count('mediaeval_ap') == 1
    provider = ir_measures.providers.registry['mediaeval_ap']
    assert provider.supports(DefinedAP @ 5)
    assert not provider.supports(AP)


def test_tuples_and_an_empty_run():
    judged = [Qrel(topic, each, n) for topic, docs in JUDGED.items() for each, n in docs.items()]
    run = [ScoredDoc('1', each, score) for each, score in RETURNED['1'].items()]
    assert values([DefinedAP @ 2], judged, run) == values([DefinedAP @ 2], JUDGED, RETURNED)
    assert values([DefinedAP @ 2], judged, []) == {
        ('DefinedAP@2', '1'): 0.0, ('DefinedAP@2', '2'): 0.0
    }  # fmt: skip

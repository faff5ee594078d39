"""Measures of ir_measures stand beside average precision, of a campaign and of files of TREC."""

import json
import re

import ir_measures
import numpy as np
import oracle
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trec_rows import QRELS, REFERENCE, ROWS, RUN, qrels_text, quiet, run_text

from mediaeval_ap import AveragePrecision, evaluate_trec
from mediaeval_ap.choices import TREC_TIES
from mediaeval_ap.errors import FormatError, MissingExtraError, ParameterError
from mediaeval_ap.trec.measures import needs_nonrelevant, parse_measures

# Sums of as many quotients, in another order.
ROUNDING = 1e-12


@quiet
def test_measures_are_those_of_ir_measures(tmp_path):
    average_precision = AveragePrecision(REFERENCE, [2], definition='trec')
    queries = ['ann', 'zoe', 'ann', 'bob lee']
    evaluation = average_precision.evaluate(ROWS, queries, measures='RR P@2')
    assert list(evaluation.measures) == ['RR', 'P@2']
    assert evaluation.measures['RR'].tolist() == pytest.approx([0.5, np.nan, 0.5, 1], nan_ok=True)
    assert evaluation.mean_measures == {'RR': pytest.approx(2 / 3), 'P@2': 0.5}
    frame = evaluation.to_frame()
    assert frame.columns.tolist() == ['AP@2', 'RR', 'P@2', 'n_relevant']
    described = json.loads(json.dumps(evaluation.to_dict()))
    assert [query['P@2'] for query in described['queries']] == [0.5, None, 0.5, 0.5]
    nothing = average_precision.evaluate(ROWS, ['zoe'], measures=['RR', 'RR'])
    assert nothing.mean_measures == {'RR': None}
    over = 'RR is over the 0 queries that have a relevant shot; the score, MAP@2, is over all 1'
    assert nothing.notes[0] == f'{over}, where the other 1 counts 0'
    assert average_precision.evaluate(ROWS).measures == {}


def test_measures_have_the_names_that_ir_measures_gives_them():
    names = {
        'RR': ir_measures.RR,
        'nDCG@10': ir_measures.nDCG @ 10,
        'AP(rel=2)@10': ir_measures.AP(rel=2) @ 10,
        'P(cutoff=3)@5': ir_measures.P @ 5,
        "nDCG(dcg='exp-log2', gains={0: 1, 1: 7})": ir_measures.nDCG(
            dcg='exp-log2', gains={0: 1, 1: 7}
        ),
        'IPrec@0.5': ir_measures.IPrec @ 0.5,
        'P(judged_only=True)@5': ir_measures.P(judged_only=True) @ 5,
    }
    expected = list(names.values())
    separated = ' '.join(names), ' ' + ',\t'.join(names) + ','
    for measures in (names, names.values(), iter(names), *separated):
        assert parse_measures(measures) == expected


WRONG_MEASURES = [5, ir_measures.RR, [5], 'foo@10', 'P@', ' ', 'P(5)', 'P(rel=[1])@5']
WRONG_MEASURES += ['P(rel=-1)@5', 'RR;RR', 'P(**{})@5', 'x=RR', 'P.x', 'P(rel=1', 'BPM']


@pytest.mark.parametrize('measures', WRONG_MEASURES)
def test_measures_that_there_are_not(measures):
    with pytest.raises(ParameterError, match='measures: '):
        parse_measures(measures)


@pytest.mark.parametrize(
    ('measure', 'expected'),
    [
        ('P@16777217', 'expected a cutoff from 1 to 16777216'),
        ('P@0', 'expected a cutoff from 1 to 16777216'),
        ('P', 'expected its cutoff as well'),
        ('IPrec', 'expected its recall as well'),
        ('AP(recall=0.5)', 'expected only these parameters: cutoff, rel, judged_only'),
        ('Bpref@10', 'expected only these parameters: rel'),
    ],
)
def test_measures_that_could_not_be_right(measure, expected):
    with pytest.raises(ParameterError, match=re.escape(f'measures: found {measure!r}, {expected}')):
        parse_measures(f'P@5 {measure}')


def test_measures_see_as_deep_as_they_ask(monkeypatch):
    """A cutoff below the exported depth would cut the ranking that a measure sees."""
    monkeypatch.setattr('mediaeval_ap.trec.measures.TREC_DEPTH', 5)
    reference = [('x', 'v', str(shot), 'ann') for shot in range(20)]
    run = [(*row, 1 - int(row[2]) / 100) for row in reference]
    average_precision = AveragePrecision(reference, K=[5], definition='trec')
    names = 'AP@20 R@20 nDCG@20 Rprec AP'
    evaluation = average_precision.evaluate(run, measures=names)
    assert evaluation.mean_measures == dict.fromkeys(names.split(), pytest.approx(1.0))


@quiet
def test_measures_without_the_extra(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'ir_measures', None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[trec\]'"):
        AveragePrecision(REFERENCE).evaluate(ROWS, measures='RR')


PARAMETERS = [
    *('', 'rel=0', 'rel=2', 'judged_only=True', 'recall=0.5', 'relative=True', 'normalize=False'),
    *('gains={0: 1, 1: 2}', 'gains={0: 0, 1: 2}', 'beta=0.5'),
]


def computed(measure, qrels, run):
    values = ir_measures.iter_calc([measure], qrels, run)
    return [each.value for each in values]


def measures_of_every_kind():
    """All that ir_measures computes here, with and without cutoff, by parameters."""
    known = [ir_measures.Qrel('1', 'a', 1)], [ir_measures.ScoredDoc('1', 'a', 1.0)]
    for name in sorted(set(ir_measures.measures.registry)):
        for parameter in PARAMETERS:
            for cutoff in '', '@3':
                try:
                    (measure,) = parse_measures(f'{name}({parameter}){cutoff}')
                    computed(measure, *known)
                except (ArithmeticError, AssertionError, ParameterError, TypeError, ValueError):
                    continue
                yield measure


def test_measures_that_need_documents_judged_not_relevant_are_those_that_they_change():
    run = [ir_measures.ScoredDoc('1', str(shot), -float(shot)) for shot in range(12)]
    relevant = [ir_measures.Qrel('1', str(shot), 1 + (shot > 5)) for shot in (5, 6, 8, 10, 20)]
    others = [[0], [1, 3], [0, 1, 2, 7], [20 + shot for shot in range(1, 5)]]
    added = [[ir_measures.Qrel('1', str(shot), 0) for shot in each] for each in others]
    measures = list(dict.fromkeys(measures_of_every_kind()))
    assert len(measures) > 40
    needing = []
    for measure in measures:
        alone = computed(measure, relevant, run)
        changes = any(computed(measure, relevant + each, run) != alone for each in added)
        assert needs_nonrelevant(measure) == changes, measure
        needing += [str(measure)] if changes else []
    assert {'Bpref', 'infAP', 'Judged@3', 'P(judged_only=True)@3', 'RR(rel=0)@3'} <= {*needing}


NEEDING = ['Bpref', 'nDCG(judged_only=True)@10']


@quiet
@pytest.mark.parametrize('measure', NEEDING)
def test_positives_alone_have_no_measure_of_judged_documents(measure):
    """`Judged@10` would be P@10, and `Bpref` recall."""
    average_precision = AveragePrecision(REFERENCE, [10])
    found = re.escape(f'measures: found {measure}, which needs documents that are judged not ')
    with pytest.raises(ParameterError, match=found):
        average_precision.evaluate(ROWS, measures=f'P@5 {measure}')
    run = {'7': {'d1': 0.9, 'd2': 0.5}}
    found = r'relevance: found no row of 0, expected documents that are judged not relevant, for '
    with pytest.raises(FormatError, match=found + re.escape(measure)):
        evaluate_trec({'7': {'d1': 1}}, run, 10, measures=measure)
    assert evaluate_trec({'7': {'d1': 1, 'd2': 0}}, run, 10, measures=measure).measures[measure]


OF_JUDGED = 'Judged@2 Bpref infAP AP(judged_only=True) P@2 RR nDCG(gains={0:1,1:3})@3'
campaign_shots = st.tuples(st.just('x'), st.sampled_from('vw'), st.sampled_from('12345678'))


@quiet
@given(
    relevant=st.sets(st.tuples(campaign_shots, st.sampled_from(['ann', 'bob'])), min_size=1),
    others=st.sets(campaign_shots, max_size=6),
    of_pairs=st.booleans(),
    returned=st.lists(campaign_shots, min_size=1, max_size=9),
)
def test_measures_of_what_was_judged_are_those_of_ir_measures(relevant, others, of_pairs, returned):
    """On qrels with all rows of 0, though not all of them are handed over."""
    judged = sorted({shot for shot, _ in relevant} | others)
    pairs = [(*shot, name, int((shot, name) in relevant)) for shot in judged for name in NAMES]
    average_precision = AveragePrecision(
        [(*shot, name) for shot, name in relevant],
        [2],
        definition='trec',
        judged=pairs if of_pairs else judged,
    )
    rows = [(*shot, 'anna', 1 - at / 10) for at, shot in enumerate(returned)]
    evaluation = average_precision.evaluate(rows, NAMES, measures=OF_JUDGED)
    qrels = [ir_measures.Qrel(row[3], '/'.join(row[:3]), row[4]) for row in pairs]
    ranking = ['/'.join(shot) for shot in dict.fromkeys(shot for *_, shot in sorted_by(rows))]
    run = [
        ir_measures.ScoredDoc(name, document, -float(rank))
        for name in NAMES
        for rank, document in enumerate(ranking)
    ]
    measures = parse_measures(OF_JUDGED)
    expected = {str(measure): {} for measure in measures}
    for value in ir_measures.iter_calc(measures, qrels, run):
        expected[str(value.measure)][value.query_id] = value.value
    for name, values in evaluation.measures.items():
        assert values.tolist() == [expected[name][query] for query in NAMES]
    assert evaluation.judged[:, 0].tolist() == evaluation.measures['Judged@2'].tolist()


NAMES = ['ann', 'bob']


def sorted_by(rows):
    """Rows of one name in the order of the oracle, with their shots at the end."""
    return [(row[4], row[:3]) for row in oracle.ranked(rows, 'ann')]


# Graded, with a topic without a relevant document, and documents that are not judged.
graded = st.lists(
    st.tuples(st.sampled_from('78'), st.sampled_from('abcdef'), st.integers(-1, 3)),
    min_size=1,
    unique_by=lambda row: row[:2],
)
# No two scores are equal, in single precision either.
scored = st.lists(
    st.tuples(st.sampled_from('78'), st.sampled_from('abcdefgh'), st.integers(-50, 50)),
    min_size=1,
    unique_by=(lambda row: row[:2], lambda row: row[2]),
)
MEASURES = 'nDCG@3 nDCG RR P(rel=2)@2 R@2 Bpref Judged@3 NumRel NumRet Rprec(rel=3) SetF AP(rel=2)'


def as_tools_take(qrels):
    """Return qrels in which no topic has negative relevance alone, which ends pytrec_eval."""
    return [*qrels, *((topic, 'zero', 0) for topic in dict.fromkeys(row[0] for row in qrels))]


@quiet
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # written anew each time
@given(
    qrels=graded.map(as_tools_take),
    run=scored,
    ties=st.sampled_from(sorted({*TREC_TIES} - {'expected', 'threshold'})),
)
def test_measures_of_files_are_those_of_ir_measures(qrels, run, ties, tmp_path):
    paths = tmp_path / 'qrels', tmp_path / 'run'
    paths[0].write_text(qrels_text(qrels))
    paths[1].write_text(run_text(run))
    measures = parse_measures(MEASURES)
    expected = {str(measure): {} for measure in measures}
    readers = ir_measures.read_trec_qrels, ir_measures.read_trec_run
    judged, returned = (list(read(str(path))) for read, path in zip(readers, paths, strict=True))
    for value in ir_measures.iter_calc(measures, judged, returned):
        expected[str(value.measure)][value.query_id] = value.value
    policies = {'missing': 'zero', 'unknown': 'drop', 'ties': ties}
    evaluation = evaluate_trec(*paths, 1, measures=MEASURES, **policies)
    assert evaluation.measures.keys() == expected.keys()
    for name, values in evaluation.measures.items():
        assert values.tolist() == [expected[name][topic] for topic in evaluation.queries]
    answered = [topic for topic in evaluation.queries if topic in {row[0] for row in run}]
    if answered:
        skipped = evaluate_trec(*paths, 1, measures='RR', **{**policies, 'missing': 'skip'})
        assert skipped.measures['RR'].tolist() == [expected['RR'][topic] for topic in answered]


def rows_of(numbers):
    documents = st.sampled_from(['d1', 'd10', 'D2', 'é', '%', '#x'])
    row = st.tuples(st.sampled_from('78'), documents, numbers)
    return st.lists(row, min_size=1, unique_by=lambda row: row[:2])


@quiet
@given(
    qrels=rows_of(st.integers(-1, 3)).map(as_tools_take),
    run=rows_of(st.sampled_from([0.5, 0.5 + 1e-12, -1e300, 2])),
    ties=st.sampled_from(sorted({*TREC_TIES} - {'expected', 'threshold'})),
    level=st.integers(1, 3),
)
def test_measures_of_files_break_ties_alike(qrels, run, ties, level):
    """AP of ir_measures, at the level of relevance, is AP of this package for every order."""
    policies = {'missing': 'zero', 'unknown': 'drop', 'ties': ties, 'relevance_level': level}
    evaluation = evaluate_trec(qrels, run, [3], measures=f'AP(rel={level})@2', **policies)
    own = evaluate_trec(qrels, run, [2], **policies)
    (values,) = evaluation.measures.values()
    assert values.tolist() == pytest.approx(own.ap[:, 0].tolist(), abs=ROUNDING)


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'ties': 'expected', 'measures': 'RR'}, 'measures: use another order of ties'),
        ({'relevance_level': 2, 'measures': 'RR'}, 'found RR, which has the level 1, beside rel'),
        ({'K': 5, 'measures': 'AP@5'}, 'found AP@5, which is already a column'),
        ({'measures': 'P(rel=4294967297)@5'}, 'an integer of at most 1000 as its rel'),
        ({'measures': ' , '}, 'measures: found none'),
    ],
)
def test_measures_that_files_do_not_have(parameters, message):
    with pytest.raises(ParameterError, match=message):
        evaluate_trec(QRELS, RUN, **parameters)


def test_a_relevance_that_tools_could_not_take():
    """Beyond 2**31 trec_eval takes it for another, and shortly below it ends the process."""
    qrels = [*QRELS, ('7', 'd4', 1001), ('7', 'd5', -(2**40))]
    assert evaluate_trec(qrels, RUN, 10).n_relevant.tolist() == [3, 1]
    message = '<qrels>, row 5, relevance: found 1001, expected -1000 to 1000 .*1 more wrong row'
    with pytest.raises(FormatError, match=message):
        evaluate_trec(qrels, RUN, measures='RR')


def test_a_topic_with_negative_relevance_alone():
    """pytrec_eval writes before its array, which ends the process sooner or later."""
    qrels = [*QRELS, ('9', 'd1', -1), ('9', 'd2', -2)]
    run = [*RUN, ('9', 'd1', 0.5)]
    with pytest.raises(FormatError, match=r"row 5, relevance: found none from 0 for topic '9'"):
        evaluate_trec(qrels, run, measures='RR')


def test_more_documents_than_single_precision_counts(monkeypatch):
    """Scores by rank beyond 2**24 would be equal to each other in trec_eval 9."""
    monkeypatch.setattr('mediaeval_ap.trec.measures.LARGEST_TREC_DEPTH', 2)
    assert evaluate_trec(QRELS, RUN, measures='RR').measures['RR'].tolist() == [0.5, 1]
    monkeypatch.setattr('mediaeval_ap.trec.measures.LARGEST_TREC_DEPTH', 1)
    with pytest.raises(ParameterError, match="found 2 documents for topic '7', expected at most 1"):
        evaluate_trec(QRELS, RUN, measures='RR')

"""Evaluations in every format, and blocks of queries put together."""

import csv
import io
import json
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mediaeval_ap import (
    AveragePrecision,
    Evaluation,
    PersonDiscovery2015,
    definitions,
    errors,
    evaluate_trec,
    summary,
)
from mediaeval_ap.render.formats import render
from mediaeval_ap.results.result import results_document
from mediaeval_ap.tables import Provenance

REFERENCE = [('x', 'v', '1', 'a|b_c'), ('x', 'v', '2', 'é\x1b[31m')]
RUN = [('x', 'v', '1', 'a|b_c', 1 / 3), ('x', 'v', '2', 'a|b_c', 0.25)]


@pytest.fixture
def evaluation():
    with pytest.warns(errors.WithoutRelevantWarning):
        return AveragePrecision(REFERENCE, [1, 2]).evaluate(RUN, ['a|b_c', 'é\x1b[31m', 'none'])


def shown(evaluations, format='table', **options):
    return render(results_document(evaluations, **options), format)


TABLE = r"""<hypothesis> (mediaeval-2016)

query        AP@1    AP@2    n_relevant
---------  ------  ------  ------------
a|b_c       1.000   1.000             1
é\x1b[31m   0.000   0.500             1
none        1.000   1.000             0

MEAN AVERAGE PRECISION      3 queries
------------------------  -----------
MAP@1                           0.667
MAP@2                           0.833

1 of 3 queries have nothing relevant: each counts 1, and an empty run has MAP 0.333
"""


def test_table(evaluation):
    assert shown([evaluation], per_query=True) == TABLE
    runs = shown([evaluation] * 2)
    assert runs.startswith('Over 3 queries (mediaeval-2016):\n\nrun             MAP@1    MAP@2\n')
    assert runs.endswith('\n<hypothesis>    0.667    0.833\n\n' + TABLE.splitlines(True)[-1])
    assert shown([evaluation] * 2, per_query=True).startswith(f'{TABLE}\n{TABLE}\n')
    judged = replace(evaluation, judged=np.ones((3, 2)))
    assert 'METRIC  ' in shown([judged])  # which is no average precision


OVER = (
    'RR, P@1 are over the 2 queries that have a relevant shot; '
    'the score, MAP@1, is over all 4, where the other 2 count 0\n'
)
MEASURED = f"""<hypothesis> (trec)

{OVER}
METRIC      mean    queries
--------  ------  ---------
MAP@1      0.250          4
RR         0.750          2
P@1        0.500          2

2 of 4 queries have nothing relevant: each counts 0
"""


@pytest.fixture
def measured():
    asked = ['a|b_c', 'none', 'é\x1b[31m', 'nobody']
    with pytest.warns(errors.WithoutRelevantWarning):
        return AveragePrecision(REFERENCE, [1], definition='trec').evaluate(
            RUN, asked, measures='RR P@1'
        )


PAPER = r"""\begin{table}
\centering
\caption{MAP@1, MAP@2 over 3 queries (mediaeval-2016). Best in bold.}
\label{tab:scores}
\medskip
\footnotesize\setlength{\tabcolsep}{4pt}
\begin{tabular}{@{}lrr@{}}
\toprule
 run & \shortstack[l]{MAP\\@1} & \shortstack[l]{MAP\\@2} \\
\midrule
 a\_1 & 0.667 & \textbf{0.833} \\
 b & \textbf{1.000} & 0.500 \\
 c & \textbf{1.000} & \textbf{0.833} \\
\bottomrule
\end{tabular}

\smallskip
\parbox{\linewidth}{\footnotesize 1 of 3 queries have nothing relevant: each counts 1, and an
empty run has MAP 0.333. c: 1 of 3 queries have an AP above 1: mediaeval-2016 counts a shot each
time it is returned.}
\end{table}
"""


def test_a_table_for_a_paper(evaluation):
    """One run alone has nothing in bold."""
    ap_by_run = {'b': [[1, 0.5]] * 3, 'c': [[1, 2.5], [1, 0], [1, 0.0001]]}
    others = [
        replace(evaluation, run=run, ap=np.array(ap, dtype=float)) for run, ap in ap_by_run.items()
    ]
    text = shown([evaluation.called('a_1'), *others], 'latex')
    assert text.split() == PAPER.split()
    alone = shown([evaluation], 'latex')
    assert r'\caption{MAP@1, MAP@2 over 3 queries (mediaeval-2016).}' in alone
    assert 'textbf' not in alone


def test_worst_first_then_most_relevant_then_by_name(evaluation):
    ordered = replace(
        evaluation,
        queries=['d', 'c', 'b', 'a'],
        ap=np.array([[0, 0.5], [0, 0.5], [0, 0.5], [1, 0.25]]),
        n_relevant=np.array([1, 2, 1, 1]),
    ).worst_first()
    assert ordered.queries == ['a', 'c', 'b', 'd']
    assert ordered.n_relevant.tolist() == [1, 2, 1, 1]


def test_each_mean_has_its_number_of_queries(measured):
    assert shown([measured]) == MEASURED
    runs = shown([measured] * 2).splitlines()
    assert runs[1:3] == ['Over different queries (trec):', '']
    assert runs[3].split() == ['run', 'MAP@1', 'RR', 'P@1']
    assert repr(measured).splitlines()[1:] == [
        *('  MAP@1  0.250', '  RR     0.750 over 2 queries', '  P@1    0.500 over 2 queries')
    ]
    assert measured.means == {'MAP@1': 0.25, 'RR': 0.75, 'P@1': 0.5}
    counts = {'MAP@1': 4, 'RR': 2, 'P@1': 2}
    assert measured.mean_counts == measured.to_dict()['mean_counts'] == counts
    (row,) = csv.DictReader(io.StringIO(measured.to_csv()))
    columns = {'n_queries': '4', 'n_queries_RR': '2', 'n_queries_P@1': '2'}
    assert {name: row[name] for name in columns} == columns
    frame = measured.to_frame(mean=True)
    assert frame.loc['all', list(columns)].tolist() == [4, 2, 2]
    assert frame.loc['none', list(columns)].isna().all()
    assert summary([measured] * 2)[list(columns)].values.tolist() == [[4, 2, 2]] * 2


@pytest.mark.parametrize(
    ('rr', 'p', 'sentence'),
    [
        ([0.5, 0.5, 0.5, 0.5], [0] * 4, None),
        ([0.5, np.nan, 0.5, 0.5], [0] * 4, 'RR is over the 3 queries that have a value'),
        (
            [np.nan] * 4,
            [np.nan, np.nan, 0.5, np.nan],
            'RR is over the 0 queries that have a value; P@1 is over the 1 query that has a value',
        ),
    ],
)
def test_measures_without_a_value_for_other_reasons(measured, rr, p, sentence):
    changed = replace(measured, measures={'RR': np.array(rr), 'P@1': np.array(p)})
    line = shown([changed]).splitlines()[2]
    assert (line == f'{sentence}; the score, MAP@1, is over all 4') == (sentence is not None)
    assert ('4 queries' in line) == (sentence is None)


def test_runs_over_different_numbers_of_queries():
    qrels = [('1', 'd', 1), ('2', 'd', 1)]
    runs = [('1', 'd', 0.5)], [('1', 'd', 0.5), ('2', 'd', 0.5)]
    with pytest.warns(errors.DataWarning, match='1 of 2 topics of <qrels> are missing'):
        results = [evaluate_trec(qrels, each, [1], missing='skip') for each in runs]
    lines = shown(results).splitlines()
    assert lines[0] == 'Over different queries (trec):'
    assert [line.split()[1:] for line in lines[4:]] == [['1.000', '1'], ['1.000', '2']]


NAMES = ['a|b_c', 'a|b', 'none', 'é\x1b[31m', '?']
EVIDENCE = [('a|b_c', 'v', '1', 'image')]


def evaluated(queries):
    """An evaluation with a measure, and one by the protocol of 2015 with evidence and without."""
    average_precision = AveragePrecision(REFERENCE, [1, 2, 'all'])
    yield average_precision.evaluate(RUN, queries, measures='P@1 RR')
    reference = [row[1:] for row in REFERENCE]
    labels = [row[1:] for row in RUN]
    shots = [row[:2] for row in reference]
    seen = [('v', '1', 'a|b_c', 'image')]
    discovery = PersonDiscovery2015(shots, reference, evidence_reference=seen, ratio=0.5)
    yield discovery.evaluate(labels, EVIDENCE, queries)
    yield PersonDiscovery2015(shots, reference).evaluate(labels, queries=queries)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@given(blocks=st.lists(st.lists(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=4))
@settings(max_examples=25)
def test_blocks_of_queries_put_together_are_one_evaluation(blocks):
    whole = evaluated(list(chain(*blocks)))
    for parts, expected in zip(zip(*map(evaluated, blocks), strict=True), whole, strict=True):
        joined = type(expected).concat(parts)
        assert json.dumps(joined.to_dict()) == json.dumps(expected.to_dict())
        assert joined.to_frame().equals(expected.to_frame())


@pytest.mark.parametrize(
    ('changed', 'reason'),
    [
        ({'K': [1]}, r'K: found \[1\], expected \[1, 2\]'),
        ({'definition': definitions.get('trec')}, "definition: found Definition.name='trec'"),
        ({'parameters': {'ties': 'best'}}, r"parameters: found \['ties'\], expected \[\]"),
        ({'inputs': {'hypothesis': Provenance('b.txt')}}, "inputs: found .'hypothesis'"),
        ({'counts': {}}, r"counts: found \[\], expected \['queries', "),
        ({'measures': {'RR': np.zeros(3)}}, r"measures: found \['RR'\], expected \[\]"),
    ],
)
def test_mixtures_are_refused(evaluation, changed, reason):
    with pytest.raises(errors.ParameterError, match=f'^concat: {reason}'):
        Evaluation.concat([evaluation, replace(evaluation, **changed)])

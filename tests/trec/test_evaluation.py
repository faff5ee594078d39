"""Which topics are scored, and which parameters there are."""

import warnings

import pytest
from click.testing import CliRunner
from trec_rows import QRELS, RUN, quiet, run_text

from mediaeval_ap import evaluate_trec
from mediaeval_ap.cli import main
from mediaeval_ap.errors import (
    FormatError,
    MissingIdsWarning,
    NoOverlapWarning,
    ParameterError,
    UndefinedScoreError,
    UnknownIdsWarning,
)


def test_topics_that_are_missing_or_unknown_are_reported(folder):
    (folder / 'run').write_text(run_text([*RUN[:1], RUN[2], ('9', 'd1', 0.5)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        evaluation = evaluate_trec('qrels', 'run', [10], missing='zero', unknown='drop')
    assert [(each.category, str(each.message)) for each in caught] == [
        (
            MissingIdsWarning,
            'run: 1 of 2 topics of qrels are missing, and scored as if nothing were returned',
        ),
        (UnknownIdsWarning, 'run: 1 of 2 topics are not in qrels, and left out'),
    ]
    assert {each.filename for each in caught} == {__file__}
    assert (evaluation.queries, evaluation.ap.tolist()) == (['7', '8'], [[0.25], [0.0]])
    assert (evaluation.counts['missing'], evaluation.counts['unknown']) == (1, 1)
    with (
        pytest.warns(MissingIdsWarning, match='missing, and left out'),
        pytest.warns(UnknownIdsWarning),
    ):
        evaluation = evaluate_trec('qrels', 'run', [10], missing='skip', unknown='drop')
    assert (evaluation.queries, evaluation.map.tolist()) == (['7'], [0.25])


def test_topics_that_are_missing_or_unknown_are_errors_by_default(folder):
    rows = [RUN[1], ('9', 'd1', 0.5), ('9', 'd2', 0.4)]
    (folder / 'run').write_text(run_text(rows))
    with pytest.raises(FormatError) as caught:
        evaluate_trec('qrels', 'run', missing='zero')
    assert str(caught.value) == (
        "run, line 2, qid: found '9', which qrels lacks, expected a topic of the qrels; leave "
        "others out by --unknown drop, in Python unknown='drop' (1 more wrong line)"
    )
    for qrels, found in (('qrels', "'7'"), ([*QRELS, ('a', 'd', 1)], "'7' and 1 more")):
        with pytest.raises(FormatError) as caught:
            evaluate_trec(qrels, 'run', unknown='drop')
        name = qrels if isinstance(qrels, str) else '<rows>'
        assert str(caught.value) == (
            f'run, qid: found no row for {found}, expected one for each topic of {name}; score it '
            "0 or leave it out by --missing zero or skip, in Python missing='zero' or 'skip'"
        )
    result = CliRunner().invoke(main, ['evaluate-trec', 'qrels', 'run'])
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith("Error: run, line 2, qid: found '9', which qrels lacks")


def test_topics_with_another_spelling_are_told_of():
    run = [('07', 'd1', 0.5), ('08', 'd1', 0.5)]
    with pytest.raises(FormatError, match=r'; no topic is in both files: .* leading zeros'):
        evaluate_trec(QRELS, run)
    with (
        pytest.warns(UnknownIdsWarning),
        pytest.warns(MissingIdsWarning),
        pytest.warns(NoOverlapWarning, match='leading zeros'),
    ):
        evaluate_trec(QRELS, run, missing='zero', unknown='drop')


@quiet
def test_nothing_to_score_is_an_error():
    with pytest.raises(UndefinedScoreError, match='no topic of this run is judged'):
        evaluate_trec(QRELS, [('9', 'd1', 0.5)], missing='skip', unknown='drop')


def test_one_cutoff_is_a_list_of_one():
    for k in (10, 'all'):
        evaluation = evaluate_trec(QRELS, RUN, k)
        assert [k] == evaluation.K
        assert evaluation.ap.tolist() == evaluate_trec(QRELS, RUN, [k]).ap.tolist()


@pytest.mark.parametrize(
    'parameters',
    [
        {'ties': 'random'},
        {'missing': 'drop'},
        {'unknown': 'zero'},
        {'K': []},
        {'definition': 'map'},
        {'definition': 'hits', 'ties': 'expected'},
        {'relevance_level': '1'},
        {'relevance_level': None},
        {'relevance_level': 0.5},
        {'relevance_level': 10**400},
        {'relevance_level': float('nan')},
        {'relevance_level': 'high'},
    ],
)
def test_parameters_that_there_are_not(parameters):
    with pytest.raises(ParameterError):
        evaluate_trec(QRELS, RUN, **parameters)


def test_no_uncut_value_of_what_divides_by_k(folder):
    with pytest.raises(ParameterError, match='K: found all, expected numbers: by-k divides by k'):
        evaluate_trec(QRELS, RUN, ['all'], definition='by-k')
    command = ['evaluate-trec', 'qrels', 'run', '-K', '1', '-K', 'all']
    result = CliRunner().invoke(main, [*command, '--format', 'csv'])
    assert result.output.splitlines() == [
        'run,definition,query,AP@1,AP,n_relevant,n_queries',
        'run,trec,all,0.5,0.625,3,2',
    ]

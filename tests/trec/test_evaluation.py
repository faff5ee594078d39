"""Which topics are scored, and which parameters there are."""

import warnings

import pytest
from click.testing import CliRunner
from trec_rows import QRELS, RUN, quiet, run_text

from mediaeval_ap import evaluate_trec
from mediaeval_ap.cli import main
from mediaeval_ap.errors import MissingIdsWarning, ParameterError, UnknownIdsWarning


def test_topics_that_are_missing_or_unknown_are_reported(folder):
    (folder / 'run').write_text(run_text([*RUN[:1], RUN[2], ('9', 'd1', 0.5)]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        evaluation = evaluate_trec('qrels', 'run', [10])
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
        evaluation = evaluate_trec('qrels', 'run', [10], missing='skip')
    assert (evaluation.queries, evaluation.map.tolist()) == (['7'], [0.25])


@quiet
def test_nothing_to_score_is_an_error():
    with pytest.raises(ParameterError, match='no topic of this run is judged'):
        evaluate_trec(QRELS, [('9', 'd1', 0.5)], missing='skip')


@pytest.mark.parametrize(
    'parameters',
    [
        {'ties': 'random'},
        {'missing': 'error'},
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
    assert result.output == 'run,definition,MAP@1,MAP\nrun,trec,0.5,0.625\n'

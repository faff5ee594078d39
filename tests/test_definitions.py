"""The registry, and the cases that tell the definitions apart."""

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from mediaeval_ap import definitions
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics import average_precision_of_hits


def ap(name, ranks, n_relevant, n_returned, k):
    ranks = np.array(ranks, dtype=int)
    ((value,),) = average_precision_of_hits(
        np.zeros_like(ranks), ranks, np.array([n_relevant]), n_returned, [k], definitions.get(name)
    )
    return value


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('trec', 1 / 3),
        ('kaggle', 1 / 2),
        ('by-k', 1 / 2),
        ('mediaeval-2016-final', 1 / 2),
        ('hits', 1),
    ],
)
def test_three_relevant_and_ranking_1010_at_2(name, value):
    assert ap(name, [1, 3], 3, 4, 2) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('mediaeval-2016-final', 0),
        ('trec', 1 / 2),
        ('kaggle', 1 / 2),
        ('hits', 1 / 2),
        ('by-k', 1 / 200),
    ],
)
def test_one_relevant_found_at_rank_2(name, value):
    assert ap(name, [2], 1, 500, 100) == pytest.approx(value, rel=1e-15)


def test_run_shorter_than_relevant_and_cutoff():
    """The first metric divides by what was returned; the final one takes it for not relevant."""
    assert ap('mediaeval-2016', [1, 2], 10, 2, 100) == 1.0
    assert ap('mediaeval-2016-final', [1, 2], 10, 2, 100) == 0.2


@pytest.mark.parametrize('name', definitions.names())
def test_nothing_returned(name):
    assert ap(name, [], 3, 0, 10) == 0.0


@pytest.mark.parametrize('name', definitions.names())
def test_nothing_relevant(name):
    expected = 1.0 if name.startswith('mediaeval') else 0.0
    assert ap(name, [], 0, 5, 10) == ap(name, [], 0, 0, 10) == expected


def test_formulas():
    assert {str(each): each.formula for each in definitions.registered()} == {
        'mediaeval-2016': 'S(k) / min(R, k, N)',
        'mediaeval-2016-final': "S(k') / k', k' = min(R, k)",
        'trec': 'S(k) / R',
        'kaggle': 'S(k) / min(R, k)',
        'by-k': 'S(k) / k',
        'hits': 'S(k) / H',
    }


def test_definitions_are_frozen_values():
    trec = definitions.get('trec')
    with pytest.raises(FrozenInstanceError):
        trec.name = 'other'
    assert pickle.loads(pickle.dumps(trec)) == trec
    assert len({trec, definitions.get('trec'), replace(trec)}) == 1
    assert definitions.get(trec) is trec


def test_duplicates_are_refused():
    with pytest.raises(ParameterError, match="'trec' is registered already"):
        definitions.register(replace(definitions.get('kaggle'), name='trec'))
    assert definitions.get('trec').denominator == ('R',)


def test_definition_of_ones_own_needs_no_registration():
    mine = replace(definitions.get('kaggle'), name='mine', denominator=('R', 'N'))
    assert ap(mine, [1], 9, 4, 2) == 1 / 4
    assert 'mine' not in definitions.names()


class Unshown:
    """Something that cannot be printed."""

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ('field', 'wrong', 'expected'),
    [
        (
            'name',
            ['', ' trec', 'a\nb', 'a\0', '\ud800', None, 7, b'trec', Unshown()],
            'non-empty text on one line, without spaces around it',
        ),
        (
            'source',
            ['', 'a\nb', '\ud800', None, 7, Unshown()],
            'non-empty text on one line, without spaces around it',
        ),
        *(
            (
                field,
                [(), ('X',), 'k', ['k'], {'k'}, ('k', 'k'), ('k', 1), ((),), None, 7, (Unshown(),)],
                'a tuple of some of R, k, N',
            )
            for field in ('depth', 'denominator')
        ),
        ('depth', [('H',)], 'a tuple of some of R, k, N, each once'),
        (
            'without_relevant',
            [-0.5, 1.5, float('nan'), float('inf'), 10**5000, True, '1', None, [1], 1j, Unshown()],
            'a number from 0 to 1',
        ),
        ('repeats', ['DROP', 1, None, Unshown()], 'one of Repeats'),
    ],
)
def test_every_field_of_a_definition_is_checked(field, wrong, expected):
    for value in wrong:
        with pytest.raises(
            ParameterError, match=f'{field}: found .*, expected {expected}'
        ) as caught:
            replace(definitions.get('trec'), **{field: value})
        assert str(caught.value).isprintable()

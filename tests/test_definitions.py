"""The registry, and the cases that tell the definitions apart."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    ('name', 'first', 'second'),
    [
        ('trec', 1 / 3, 1 / 2),
        ('kaggle', 1 / 2, 1 / 2),
        ('by-k', 1 / 2, 1 / 200),
        ('mediaeval-2016-final', 1 / 2, 0),
        ('hits', 1, 1 / 2),
    ],
)
def test_cases_that_tell_the_definitions_apart(name, first, second):
    """Three relevant and ranking 1010 at 2; one relevant, found at rank 2, at 100."""
    assert ap(name, [1, 3], 3, 4, 2) == pytest.approx(first, rel=1e-15)
    assert ap(name, [2], 1, 500, 100) == pytest.approx(second, rel=1e-15)


def test_formulas():
    assert {str(each): each.formula for each in definitions.registered()} == {
        'mediaeval-2016': 'S(k) / min(R, k, N)',
        'mediaeval-2016-final': "S(k') / k', k' = min(R, k)",
        'trec': 'S(k) / R',
        'kaggle': 'S(k) / min(R, k)',
        'by-k': 'S(k) / k',
        'hits': 'S(k) / H',
        'oxford': 'T(k) / R',
        'map-at-r': 'S(min(R, k)) / R',
    }


def test_definition_of_ones_own_needs_no_registration():
    mine = replace(definitions.get('kaggle'), name='mine', denominator=('R', 'N'))
    assert ap(mine, [1], 9, 4, 2) == 1 / 4
    assert 'mine' not in definitions.names()


class Unshown:
    """Something that cannot be printed."""

    def __repr__(self):
        raise RuntimeError


NO_TEXT = ['', ' trec', 'a\nb', '\ud800', None, 7, b'trec', Unshown()]
NO_QUANTITIES = [(), ('X',), 'k', ['k'], ('k', 'k'), ('k', 1), ((),), None, (Unshown(),)]
NO_SHARES = [-0.5, 1.5, float('nan'), 10**5000, True, '1', None, 1j, Unshown()]


@pytest.mark.parametrize(
    ('field', 'wrong', 'expected'),
    [
        ('name', NO_TEXT, 'non-empty text on one line, without spaces around it'),
        ('source', NO_TEXT, 'non-empty text on one line, without spaces around it'),
        ('depth', [*NO_QUANTITIES, ('H',)], 'a tuple of some of R, k, N, each once'),
        ('denominator', NO_QUANTITIES, 'a tuple of some of R, k, N, H, each once'),
        ('without_relevant', NO_SHARES, 'a number from 0 to 1'),
        ('repeats', ['DROP', 1, None, Unshown()], 'one of Repeats'),
        ('precision', ['AT', '', None, ['at'], Unshown()], 'one of at, trapezoid'),
    ],
)
def test_every_field_of_a_definition_is_checked(field, wrong, expected):
    message = f'{field}: found .*, expected {expected}'
    for value in wrong:
        with pytest.raises(ParameterError, match=message) as caught:
            replace(definitions.get('trec'), **{field: value})
        assert str(caught.value).isprintable()


def some(quantities):
    return st.lists(st.sampled_from(quantities), min_size=1, unique=True).map(tuple)


OF_ANY_KIND = st.builds(
    definitions.Definition,
    name=st.just('mine'),
    depth=some('RkN'),
    denominator=some('RkNH'),
    without_relevant=st.just(0.5),
    repeats=st.sampled_from(definitions.Repeats),
    source=st.just('a test'),
    precision=st.sampled_from(definitions.PRECISIONS),
)


@given(OF_ANY_KIND, st.lists(st.booleans(), max_size=8), st.integers(0, 9), st.integers(1, 9))
def test_no_value_is_above_the_bound(definition, hits, n_relevant, k):
    """Whatever the definition; of a run that returned more to others, too."""
    ranks = [rank for rank, is_hit in enumerate(hits, 1) if is_hit and n_relevant]
    if not definition.counts_again:
        ranks = ranks[:n_relevant]
    value = ap(definition, ranks, n_relevant, len(hits), k)
    for n_returned in len(hits), 50:
        assert value <= definition.upper_bound(k, n_relevant, n_returned)


def test_the_case_of_names_does_not_matter():
    trec = definitions.get('trec')
    assert definitions.get('TREC') == trec
    with pytest.raises(ParameterError, match="'Trec' is registered already"):
        definitions.register(replace(trec, name='Trec'))
    assert 'Trec' not in definitions.names()

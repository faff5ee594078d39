"""Every published definition of average precision at k, as a named, frozen value in one registry.

Each is the same sum over another denominator::

    AP(k) = S(depth) / denominator        S(d) = sum of P(i)·h(i) for i = 1 … d

P(i) is the precision at rank i, h(i) is 1 where rank i is relevant and 0 elsewhere. A definition
says how deep the sum goes and what it is divided by, each as the least of some of the quantities
R (relevant), k (the cutoff), N (returned) and H (hits in the top k); what a query is worth that
nobody is relevant for; and what a shot counts that is returned again.

Where nothing is returned and something is relevant, every definition gives 0. Uncut average
precision is the value without a cutoff: k is left out wherever it stands beside another quantity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from numbers import Integral
from typing import Literal, NoReturn, TypeAlias

from mediaeval_ap.errors import ParameterError, UnknownDefinitionError, shown
from mediaeval_ap.plain_text import is_text, plain_text

__all__ = [
    'ALL',
    'CUTOFFS',
    'DEFAULT',
    'LARGEST_CUTOFF',
    'Cutoff',
    'Definition',
    'Repeats',
    'ap_column',
    'check_cutoff',
    'check_cutoffs',
    'depths',
    'get',
    'names',
    'register',
    'registered',
]

CUTOFFS = (1, 10, 100, 1000)
LARGEST_CUTOFF = 2**63 - 1
Cutoff: TypeAlias = int | Literal['all']
ALL: Literal['all'] = 'all'
OR_ALL = " or 'all'"


class Repeats(Enum):
    """What a shot counts when a ranking returns it again.

    Examples
    --------
    >>> get('trec').repeats
    <Repeats.DROP: 'dropped, rank and all'>
    """

    COUNT = 'counts again'
    IRRELEVANT = 'not relevant, keeps its rank'
    DROP = 'dropped, rank and all'


@dataclass(frozen=True)
class Definition:
    """One way to define average precision at k.

    Parameters
    ----------
    name : str
        Its name in the registry, which is how it prints.
    depth : tuple of {'R', 'k', 'N'}
        The sum goes down to the least of these. Each stands there once.
    denominator : tuple of {'R', 'k', 'N', 'H'}
        The sum is divided by the least of these.
    without_relevant : float
        The value when nobody is relevant (R = 0), from 0 to 1.
    repeats : Repeats
        What a shot counts that is returned again.
    source : str
        Who published it.

    Raises
    ------
    ParameterError
        When a field is none of these.

    Examples
    --------
    >>> from mediaeval_ap import definitions
    >>> kaggle = definitions.get('kaggle')
    >>> print(kaggle, '=', kaggle.formula)
    kaggle = S(k) / min(R, k)
    """

    name: str
    depth: tuple[str, ...]
    denominator: tuple[str, ...]
    without_relevant: float
    repeats: Repeats
    source: str

    def __post_init__(self) -> None:
        if not is_text(self.name):
            self._refuse('name', 'trimmed text on one line, not empty')
        for field, known in (('depth', 'RkN'), ('denominator', 'RkNH')):
            if not _are_some(getattr(self, field), known):
                self._refuse(field, f'a tuple of some of {", ".join(known)}, each once')
        value = self.without_relevant
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value <= 1):
            self._refuse('without_relevant', 'a number from 0 to 1')
        if not isinstance(self.repeats, Repeats):
            self._refuse('repeats', 'one of Repeats')
        if not is_text(self.source):
            self._refuse('source', 'trimmed text on one line, not empty')

    def _refuse(self, field: str, expected: str) -> NoReturn:
        found = shown(getattr(self, field))
        name = f' {shown(self.name)}' if field != 'name' else ''
        raise ParameterError(f'definition{name}, {field}: found {found}, expected {expected}')

    def __str__(self) -> str:
        return self.name

    @property
    def counts_again(self) -> bool:
        """Whether a shot that is returned again counts again, so that values may exceed 1."""
        return self.repeats is Repeats.COUNT

    @property
    def has_uncut(self) -> bool:
        """Whether a value without a cutoff is defined: not where k alone is divided by."""
        return self.denominator != ('k',)

    @property
    def formula(self) -> str:
        """The value at k where somebody is relevant and something is returned."""
        if self.depth == self.denominator != ('k',):
            return f"S(k') / k', k' = {_least(self.depth)}"
        return f'S({_least(self.depth)}) / {_least(self.denominator)}'

    def to_dict(self) -> dict[str, str | float]:
        """The definition in full, ready for JSON.

        Returns
        -------
        dict
            ``name``, ``formula``, ``without_relevant``, ``repeats`` and ``source``.

        Examples
        --------
        >>> get('trec').to_dict()['repeats']
        'dropped, rank and all'
        """
        return {
            'name': self.name,
            'formula': self.formula,
            'without_relevant': self.without_relevant,
            'repeats': self.repeats.value,
            'source': self.source,
        }


def _are_some(quantities: object, known: str) -> bool:
    if not isinstance(quantities, tuple) or not all(isinstance(each, str) for each in quantities):
        return False
    return 0 < len(quantities) == len(set(quantities)) and set(quantities) <= set(known)


def _least(quantities: tuple[str, ...]) -> str:
    return quantities[0] if len(quantities) == 1 else f'min({", ".join(quantities)})'


_REGISTRY: dict[str, Definition] = {}


def register(definition: Definition) -> Definition:
    """Add a definition to the registry.

    Parameters
    ----------
    definition : Definition
        The new one.

    Returns
    -------
    Definition
        The same.

    Raises
    ------
    ParameterError
        When its name is taken.

    Examples
    --------
    >>> register(get('trec'))
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: definition 'trec' is registered already
    """
    if definition.name in _REGISTRY:
        raise ParameterError(f'definition {shown(definition.name)} is registered already')
    _REGISTRY[definition.name] = definition
    return definition


def get(definition: str | Definition) -> Definition:
    """The definition of that name; a `Definition` is its own.

    Parameters
    ----------
    definition : str or Definition
        A registered name, or any definition, registered or not.

    Returns
    -------
    Definition
        The definition.

    Raises
    ------
    UnknownDefinitionError
        When nobody registered that name.

    Examples
    --------
    >>> get('trec').formula
    'S(k) / R'
    >>> get('map')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.UnknownDefinitionError: definition: found 'map', expected one of by-k, \
hits, kaggle, mediaeval-2016, mediaeval-2016-final, trec
    """
    if isinstance(definition, Definition):
        return definition
    name = plain_text(definition)
    if name is None or name not in _REGISTRY:
        raise UnknownDefinitionError(
            f'definition: found {shown(definition)}, expected one of {", ".join(names())}'
        )
    return _REGISTRY[name]


def check_cutoff(k: object, name: str = 'k', alternative: str = '') -> int:
    """A cutoff, if it is one.

    Parameters
    ----------
    k : object
        Anything.
    name : str
        What it is called, for the error.
    alternative : str
        What else would be right, for the error.

    Returns
    -------
    int
        The same number.

    Raises
    ------
    ParameterError
        When it is no integer from 1 to `LARGEST_CUTOFF`.

    Examples
    --------
    >>> check_cutoff(0)
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: k: found 0, expected positive integers below 2**63
    """
    if isinstance(k, Integral) and not isinstance(k, bool) and 0 < int(k) <= LARGEST_CUTOFF:
        return int(k)
    expected = f'positive integers below 2**63{alternative}'
    raise ParameterError(f'{name}: found {shown(k)}, expected {expected}')


def check_cutoffs(K: object, definition: Definition) -> list[Cutoff]:
    """Return cutoffs, if they are.

    Parameters
    ----------
    K : object
        Anything.
    definition : Definition
        The definition that they are cutoffs of.

    Returns
    -------
    list of int or 'all'
        The same, in their order.

    Raises
    ------
    ParameterError
        When these are not integers from 1 to `LARGEST_CUTOFF` or ``'all'``, each once and one at
        least, or the definition has no value without a cutoff.

    Examples
    --------
    >>> check_cutoffs((10, 'all'), get('trec'))
    [10, 'all']
    >>> check_cutoffs([5, 5], get('trec'))
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: K: found 5 twice, expected each cutoff once
    """
    if isinstance(K, str | bytes) or not isinstance(K, Iterable):
        raise ParameterError(f'K: found {shown(K)}, expected a list of positive integers{OR_ALL}')
    cutoffs = [ALL if isinstance(k, str) and k == ALL else check_cutoff(k, 'K', OR_ALL) for k in K]
    if not cutoffs:
        raise ParameterError(f'K: found none, expected positive integers{OR_ALL}')
    repeated = [k for k, times in Counter(cutoffs).items() if times > 1]
    if repeated:
        raise ParameterError(f'K: found {repeated[0]} twice, expected each cutoff once')
    if ALL in cutoffs and not definition.has_uncut:
        raise ParameterError(f'K: found all, expected numbers: {definition} divides by k')
    return cutoffs


def depths(K: Iterable[Cutoff]) -> list[int]:
    """Return how deep each cutoff goes.

    Parameters
    ----------
    K : iterable of int or 'all'
        Cutoffs.

    Returns
    -------
    list of int
        The same numbers; for all, the largest that there is.

    Examples
    --------
    >>> depths([10, 'all'])
    [10, 9223372036854775807]
    """
    return [LARGEST_CUTOFF if k == ALL else k for k in K]


def ap_column(k: Cutoff) -> str:
    """Name the column of average precision at a cutoff; that of the mean has an M before.

    Parameters
    ----------
    k : int or 'all'
        The cutoff.

    Returns
    -------
    str
        Its name.

    Examples
    --------
    >>> ap_column(10), ap_column('all')
    ('AP@10', 'AP')
    """
    return 'AP' if k == ALL else f'AP@{k}'


def names() -> list[str]:
    """The registered names, sorted.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> 'trec' in names()
    True
    """
    return sorted(_REGISTRY)


def registered() -> Iterator[Definition]:
    """The registered definitions, in the order of their registration.

    Yields
    ------
    Definition
        One after another.

    Examples
    --------
    >>> [str(definition) for definition in registered()][:2]
    ['mediaeval-2016', 'mediaeval-2016-final']
    """
    return iter(_REGISTRY.values())


DEFAULT = register(
    Definition(
        'mediaeval-2016',
        depth=('k',),
        denominator=('R', 'k', 'N'),
        without_relevant=1.0,
        repeats=Repeats.COUNT,
        source='MediaEval 2016 Person Discovery, metric as published in May 2016',
    )
).name
register(
    Definition(
        'mediaeval-2016-final',
        depth=('R', 'k'),
        denominator=('R', 'k'),
        without_relevant=1.0,
        repeats=Repeats.COUNT,
        source='MediaEval 2016 Person Discovery, final scoring of September 2016',
    )
)
register(
    Definition(
        'trec',
        depth=('k',),
        denominator=('R',),
        without_relevant=0.0,
        repeats=Repeats.DROP,
        source='trec_eval, map_cut',
    )
)
register(
    Definition(
        'kaggle',
        depth=('k',),
        denominator=('R', 'k'),
        without_relevant=0.0,
        repeats=Repeats.IRRELEVANT,
        source='ml_metrics apk; MAP@12 of H&M Personalized Fashion Recommendations',
    )
)
register(
    Definition(
        'by-k',
        depth=('k',),
        denominator=('k',),
        without_relevant=0.0,
        repeats=Repeats.IRRELEVANT,
        source='RecTools MAP, divide_by_k=True',
    )
)
register(
    Definition(
        'hits',
        depth=('k',),
        denominator=('H',),
        without_relevant=0.0,
        repeats=Repeats.IRRELEVANT,
        source='torchmetrics retrieval_average_precision, top_k',
    )
)

"""Published definitions of average precision at k, as named values in one registry.

Each is the same sum with its own depth and denominator::

    AP(k) = S(depth) / denominator        S(d) = sum of P(i)·h(i) for i = 1 … d

P(i) is the precision at rank i; h(i) is 1 where rank i is relevant and 0 elsewhere. Depth and
denominator are each the least of some of R (relevant), k (the cutoff), N (returned) and H (hits in
the top k). A definition also says what a query without relevant shots scores, and what a shot
counts that is returned again.

Where nothing is returned and something is relevant, every definition gives 0. Uncut average
precision has no cutoff: k is left out wherever it stands beside another quantity.

``CUTOFFS`` and ``DEFAULT`` are the cutoffs and the definition where none is given. A ``Cutoff`` is
an integer, or ``'all'``.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from numbers import Integral
from typing import Any, Literal, TypeAlias

from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import ParameterError, shown

__all__ = [
    'CUTOFFS',
    'DEFAULT',
    'Cutoff',
    'Definition',
    'Repeats',
    'get',
    'names',
    'register',
    'registered',
]

CUTOFFS = (1, 10, 100, 1000)
LARGEST_CUTOFF = 2**63 - 1  # ranks are integers of 64 bits
Cutoff: TypeAlias = int | Literal['all']
ALL: Literal['all'] = 'all'
OR_ALL = " or 'all'"
_REGISTRY: dict[str, Definition] = {}  # by names whose case does not matter
DEFAULT = 'mediaeval-2016'


class Repeats(Enum):
    """Options for a shot that is returned again.

    Examples
    --------
    >>> get('trec').repeats
    <Repeats.DROP: 'dropped, rank and all'>
    """

    COUNT = 'counts again'
    IRRELEVANT = 'not relevant, keeps its rank'
    DROP = 'dropped, rank and all'


@dataclasses.dataclass(frozen=True)
class Definition:
    """A definition of average precision at k.

    Parameters
    ----------
    name, source : str
        Its name, which is how it prints, and where it was published.
    depth : tuple of {'R', 'k', 'N'}
        The sum goes down to the least of these, each given once.
    denominator : tuple of {'R', 'k', 'N', 'H'}
        The sum is divided by the least of these, each given once.
    without_relevant : float
        The value when nothing is relevant (R = 0), from 0 to 1.
    repeats : Repeats
        The rule for a shot that is returned again.

    Examples
    --------
    >>> kaggle = get('kaggle')
    >>> kaggle.formula, kaggle.to_dict()['repeats']
    ('S(k) / min(R, k)', 'not relevant, keeps its rank')
    """

    name: str
    depth: tuple[str, ...]
    denominator: tuple[str, ...]
    without_relevant: float
    repeats: Repeats
    source: str

    def __post_init__(self) -> None:
        value = self.without_relevant
        some = 'a tuple of some of'
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        checks = [
            ('name', is_text(self.name), TEXT),
            ('depth', _are_some(self.depth, 'RkN'), f'{some} R, k, N, each once'),
            ('denominator', _are_some(self.denominator, 'RkNH'), f'{some} R, k, N, H, each once'),
            ('without_relevant', is_number and 0 <= value <= 1, 'a number from 0 to 1'),
            ('repeats', isinstance(self.repeats, Repeats), 'one of Repeats'),
            ('source', is_text(self.source), TEXT),
        ]
        for field, is_right, expected in checks:
            if not is_right:
                name = f' {shown(self.name)}' if field != 'name' else ''
                found = shown(getattr(self, field))
                raise ParameterError(
                    f'definition{name}, {field}: found {found}, expected {expected}'
                )

    def __str__(self) -> str:
        return self.name

    def _repr_html_(self) -> str:
        from mediaeval_ap.render.document import Document, Grid
        from mediaeval_ap.render.formats import to_html

        shown = ('formula', 'without_relevant', 'repeats', 'source')
        rows = [(name, str(self.to_dict()[name])) for name in shown]
        return to_html(Document.from_grid(Grid(['definition', self.name], rows)))

    @property
    def counts_again(self) -> bool:
        """True where a shot counts each time it is returned, so that values may exceed 1."""
        return self.repeats is Repeats.COUNT

    @property
    def has_uncut(self) -> bool:
        """True where a value without a cutoff is defined: not where k alone is the denominator."""
        return self.denominator != ('k',)

    @property
    def formula(self) -> str:
        """The formula at k, where something is relevant and something is returned."""
        if self.depth == self.denominator != ('k',):
            return f"S(k') / k', k' = {_least(self.depth)}"
        return f'S({_least(self.depth)}) / {_least(self.denominator)}'

    def upper_bound(self, k: Cutoff, n_relevant: int, n_returned: int) -> float:
        """Return a number that no average precision exceeds.

        Parameters
        ----------
        k : int or 'all'
            The cutoff.
        n_relevant, n_returned : int
            R and N of the query.

        Returns
        -------
        float
            The bound: above 1 only where a shot counts again, or is looked for below k.

        Examples
        --------
        >>> get('mediaeval-2016').upper_bound(10, 4, 1000), get('trec').upper_bound(10, 4, 1000)
        (2.5, 1.0)
        """
        if not n_relevant:
            return float(self.without_relevant)
        known = {'R': n_relevant, 'k': LARGEST_CUTOFF if k == ALL else k, 'N': n_returned}
        # The sum has a term of at most 1 for each rank down to the depth, and for each hit.
        terms = {*self.depth, 'N'}
        if not self.counts_again:
            terms.add('R')
        sum_at_most = min(known[each] for each in terms)
        if 'k' in self.depth:
            terms.add('H')
        return max(
            1.0 if each in terms else sum_at_most / max(1, known.get(each, 1))
            for each in self.denominator
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the definition in full, ready for JSON.

        Returns
        -------
        dict
            Its fields, with lists for tuples and the value of `repeats`; and ``formula``.
        """
        described = {'name': self.name, 'formula': self.formula, **vars(self)}
        lists = {'depth': list(self.depth), 'denominator': list(self.denominator)}
        return described | lists | {'repeats': self.repeats.value}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Definition:
        """Return the definition that `to_dict` described.

        Parameters
        ----------
        described : mapping of str to list, str or float
            As `to_dict` returns it. Without ``depth`` and ``denominator``, which earlier versions
            did not write, a registered definition is found by its name.

        Returns
        -------
        Definition
            Equal to the one described.

        Examples
        --------
        >>> Definition.from_dict(get('kaggle').to_dict()) == get('kaggle')
        True
        """
        if 'depth' not in described:
            return get(described.get('name', ''))
        fields: dict[str, Any] = {
            each.name: described.get(each.name) for each in dataclasses.fields(cls)
        }
        for quantities in 'depth', 'denominator':
            if isinstance(fields[quantities], list):
                fields[quantities] = tuple(fields[quantities])
        fields['repeats'] = {each.value: each for each in Repeats}.get(str(fields['repeats']))
        return cls(**fields)


def _are_some(quantities: object, known: str) -> bool:
    if not isinstance(quantities, tuple) or not all(isinstance(each, str) for each in quantities):
        return False
    return 0 < len(quantities) == len(set(quantities)) and set(quantities) <= set(known)


def _least(quantities: tuple[str, ...]) -> str:
    return quantities[0] if len(quantities) == 1 else f'min({", ".join(quantities)})'


def register(definition: Definition) -> Definition:
    """Add a definition to the registry.

    Parameters
    ----------
    definition : Definition
        A definition with a new name, whose case does not matter.

    Returns
    -------
    Definition
        The same.

    Examples
    --------
    >>> register(get('trec'))
    Traceback (most recent call last):
    mediaeval_ap.errors.ParameterError: definition 'trec' is registered already
    """
    if (name := definition.name.casefold()) in _REGISTRY:
        raise ParameterError(f'definition {shown(definition.name)} is registered already')
    _REGISTRY[name] = definition
    return definition


def get(definition: str | Definition) -> Definition:
    """Return the definition of that name.

    Parameters
    ----------
    definition : str or Definition
        A registered name, in any case, or a definition, which is returned as it is.

    Returns
    -------
    Definition
        The definition; an unknown name is a `ParameterError`.

    Examples
    --------
    >>> get('TREC').formula
    'S(k) / R'
    """
    if isinstance(definition, Definition):
        return definition
    name = (plain_text(definition) or '').casefold()
    if name not in _REGISTRY:
        raise ParameterError(
            f'definition: found {shown(definition)}, expected one of {", ".join(names())}'
        )
    return _REGISTRY[name]


def check_cutoff(k: object, name: str = 'k', alternative: str = '') -> int:
    """Return a cutoff as an int; the error names it, and what else would be right."""
    if isinstance(k, Integral) and not isinstance(k, bool) and 0 < int(k) <= LARGEST_CUTOFF:
        return int(k)
    expected = f'positive integers below 2**63{alternative}'
    raise ParameterError(f'{name}: found {shown(k)}, expected {expected}')


def check_cutoffs(K: object, definition: Definition, name: str = 'K') -> list[Cutoff]:
    """Return cutoffs, each once and at least one; all only if the definition has it."""
    given = K if isinstance(K, Iterable) and not isinstance(K, str | bytes) else [K]
    cutoffs = [ALL if plain_text(k) == ALL else check_cutoff(k, name, OR_ALL) for k in given]
    if not cutoffs:
        raise ParameterError(f'{name}: found none, expected positive integers{OR_ALL}')
    repeated = [k for k, times in Counter(cutoffs).items() if times > 1]
    if repeated:
        raise ParameterError(f'{name}: found {repeated[0]} twice, expected each cutoff once')
    if ALL in cutoffs and not definition.has_uncut:
        raise ParameterError(f'{name}: found all, expected numbers: {definition} divides by k')
    return cutoffs


def depths(K: Iterable[Cutoff]) -> list[int]:
    """Return the depth of each cutoff: the same number, or the largest for all."""
    return [LARGEST_CUTOFF if k == ALL else k for k in K]


def ap_column(k: Cutoff) -> str:
    """Return the name of the column of AP at a cutoff; the mean has an M before it."""
    return 'AP' if k == ALL else f'AP@{k}'


def names() -> list[str]:
    """Return the registered names, sorted.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> 'trec' in names()
    True
    """
    return sorted(each.name for each in _REGISTRY.values())


def registered() -> Iterator[Definition]:
    """Iterate over the registered definitions.

    Yields
    ------
    Definition
        In the order of their registration.

    Examples
    --------
    >>> [str(definition) for definition in registered()][:2]
    ['mediaeval-2016', 'mediaeval-2016-final']
    """
    return iter(_REGISTRY.values())


for _definition in (
    # name, depth, denominator, without_relevant, repeats, source
    Definition('mediaeval-2016', ('k',), ('R', 'k', 'N'), 1.0, Repeats.COUNT,
               'MediaEval 2016 Person Discovery, metric as published in May 2016'),
    Definition('mediaeval-2016-final', ('R', 'k'), ('R', 'k'), 1.0, Repeats.COUNT,
               'MediaEval 2016 Person Discovery, final scoring of September 2016'),
    Definition('trec', ('k',), ('R',), 0.0, Repeats.DROP, 'trec_eval, map_cut'),
    Definition('kaggle', ('k',), ('R', 'k'), 0.0, Repeats.IRRELEVANT,
               'ml_metrics apk; MAP@12 of H&M Personalized Fashion Recommendations'),
    Definition('by-k', ('k',), ('k',), 0.0, Repeats.IRRELEVANT, 'RecTools MAP, divide_by_k=True'),
    Definition('hits', ('k',), ('H',), 0.0, Repeats.IRRELEVANT,
               'torchmetrics retrieval_average_precision, top_k'),
):  # fmt: skip
    register(_definition)

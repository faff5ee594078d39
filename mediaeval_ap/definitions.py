"""Published definitions of average precision at k, as named values in one registry.

Each definition divides a sum of precisions, down to its own depth, by its own denominator::

    AP(k) = S(depth) / denominator        S(d) = sum of P(i)·h(i) for i = 1 … d

P(i) is the precision at rank i; h(i) is 1 if rank i is relevant, else 0. The trapezoidal rule adds
the mean of P(i - 1) and P(i) instead of P(i), with P(0) = 1; this sum is T(d). Depth and
denominator are minima of some of these quantities: R (number of relevant shots), k (the cutoff), N
(number of returned shots) and H (number of hits in the top k). A definition also gives the value of
a query without relevant shots, and the rule for a shot that is returned again.

A query with relevant shots and an empty ranking scores 0 by every definition. Uncut average
precision has no cutoff: k is left out of each minimum.

``CUTOFFS`` and ``DEFAULT`` are the default cutoffs and the default definition. A ``Cutoff`` is an
integer, or ``'all'`` for no cutoff.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

from mediaeval_ap.choices import TEXT, is_text, plain_text
from mediaeval_ap.errors import ParameterError, shown

__all__ = [
    'CUTOFFS',
    'DEFAULT',
    'Cutoff',
    'Definition',
    'Precision',
    'Repeats',
    'get',
    'names',
    'register',
    'registered',
]

CUTOFFS = (1, 10, 100, 1000)
LARGEST_CUTOFF = 2**63 - 1  # ranks are integers of 64 bits
Cutoff: TypeAlias = int | Literal['all']
Precision: TypeAlias = Literal['at', 'trapezoid']
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
ALL: Literal['all'] = 'all'
OR_ALL = " or 'all'"
_REGISTRY: dict[str, Definition] = {}  # keys are names without case
DEFAULT = 'mediaeval-2016'


class Repeats(Enum):
    """Rules for a shot that is returned again.

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
        Its name, which is its `str`, and its publication.
    depth : tuple of {'R', 'k', 'N'}
        The sum ends at the minimum of these quantities.
    denominator : tuple of {'R', 'k', 'N', 'H'}
        The sum is divided by the minimum of these quantities.
    without_relevant : float
        The value of a query without relevant shots (R = 0), from 0 to 1.
    repeats : Repeats
        The rule for a shot that is returned again.
    precision : {'at', 'trapezoid'}
        The addend of a hit: the precision at its rank; or the mean of this and the precision just
        before, which is 1 before rank 1.

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
    precision: Precision = 'at'

    def __post_init__(self) -> None:
        value = self.without_relevant
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        distinct = 'a tuple of some of {}, each once'
        checks = [
            ('name', is_text(self.name), TEXT),
            ('depth', _are_distinct(self.depth, 'RkN'), distinct.format('R, k, N')),
            ('denominator', _are_distinct(self.denominator, 'RkNH'), distinct.format('R, k, N, H')),
            ('without_relevant', is_number and 0 <= value <= 1, 'a number from 0 to 1'),
            ('repeats', isinstance(self.repeats, Repeats), 'one of Repeats'),
            ('source', is_text(self.source), TEXT),
            ('precision', self.precision in PRECISIONS, f'one of {", ".join(PRECISIONS)}'),
        ]
        for field, is_right, expected in checks:
            if not is_right:
                name = f' {shown(self.name)}' if field != 'name' else ''
                actual = shown(getattr(self, field))
                raise ParameterError(
                    f'definition{name}, {field}: found {actual}, expected {expected}'
                )

    def __str__(self) -> str:
        return self.name

    @property
    def counts_again(self) -> bool:
        """True if a shot counts each time it is returned, so that values may exceed 1."""
        return self.repeats is Repeats.COUNT

    @property
    def is_estimate(self) -> bool:
        """True for xinfAP, which is estimated from a sample, so that values may exceed 1."""
        return self == XINFAP

    @property
    def has_uncut(self) -> bool:
        """True if uncut average precision is defined: not if k alone is the denominator."""
        return self.denominator != ('k',)

    @property
    def formula(self) -> str:
        """The formula of a query with relevant and returned shots."""
        total = 'S' if self.precision == 'at' else 'T'
        if self.depth == self.denominator != ('k',):
            return f"{total}(k') / k', k' = {_minimum(self.depth)}"
        return f'{total}({_minimum(self.depth)}) / {_minimum(self.denominator)}'

    def upper_bound(self, k: Cutoff, n_relevant: int, n_returned: int) -> float:
        """Return an upper bound of average precision.

        Parameters
        ----------
        k : int or 'all'
            The cutoff.
        n_relevant, n_returned : int
            The quantities R and N of the query.

        Returns
        -------
        float
            The bound; above 1 only if shots count again, the sum goes beyond k, or AP is estimated.

        Examples
        --------
        >>> get('mediaeval-2016').upper_bound(10, 4, 1000), get('trec').upper_bound(10, 4, 1000)
        (2.5, 1.0)
        """
        if not n_relevant:
            return float(self.without_relevant)
        if self.is_estimate:
            return math.inf
        (depth,) = depths([k])
        quantities = {'R': n_relevant, 'k': depth, 'N': n_returned}
        # The sum has at most one term per rank down to the depth, and one per hit; no term is
        # above 1. So each of these quantities bounds the sum, and dividing by any gives at most 1.
        bounds_of_sum = {*self.depth, 'N'}
        if not self.counts_again:
            bounds_of_sum.add('R')
        largest_sum = min(quantities[name] for name in bounds_of_sum)
        if 'k' in self.depth:
            bounds_of_sum.add('H')
        return max(
            1.0 if name in bounds_of_sum else largest_sum / max(1, quantities.get(name, 1))
            for name in self.denominator
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the formula, ready for JSON.

        Returns
        -------
        dict
            The fields, with lists instead of tuples and the value of `repeats`; and ``formula``.
        """
        fields = {'name': self.name, 'formula': self.formula, **vars(self)}
        lists = {'depth': list(self.depth), 'denominator': list(self.denominator)}
        return fields | lists | {'repeats': self.repeats.value}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Definition:
        """Return the definition that a dict of `to_dict` describes.

        Parameters
        ----------
        described : mapping of str to list, str or float
            A dict that `to_dict` returned. Earlier versions did not write ``depth`` and
            ``denominator``: without them, the registered definition of that name is returned. Nor
            did they write ``precision``: without it, it is ``'at'``.

        Returns
        -------
        Definition
            A definition with the same fields.

        Examples
        --------
        >>> Definition.from_dict(get('kaggle').to_dict()) == get('kaggle')
        True
        """
        if 'depth' not in described:
            return get(described.get('name', ''))
        fields: dict[str, Any] = {
            field.name: described.get(field.name) for field in dataclasses.fields(cls)
        }
        for quantities in 'depth', 'denominator':
            if isinstance(fields[quantities], list):
                fields[quantities] = tuple(fields[quantities])
        fields['precision'] = described.get('precision', 'at')
        fields['repeats'] = {rule.value: rule for rule in Repeats}.get(str(fields['repeats']))
        return cls(**fields)


def _are_distinct(quantities: object, names: str) -> bool:
    """Return True for a tuple of one or more of the names, each at most once."""
    if not isinstance(quantities, tuple) or not all(isinstance(name, str) for name in quantities):
        return False
    return 0 < len(quantities) == len(set(quantities)) and set(quantities) <= set(names)


def _minimum(quantities: tuple[str, ...]) -> str:
    """Write the minimum of quantities as in a formula."""
    return quantities[0] if len(quantities) == 1 else f'min({", ".join(quantities)})'


def register(definition: Definition) -> Definition:
    """Add a definition to the registry.

    Parameters
    ----------
    definition : Definition
        A definition with a new name. Names that differ only in case are equal.

    Returns
    -------
    Definition
        The definition given.

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
    """Return a registered definition by its name.

    Parameters
    ----------
    definition : str or Definition
        A registered name, in any case; or a definition, which is returned unchanged.

    Returns
    -------
    Definition
        The definition; `ParameterError` if the name is unknown.

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
            f'found {shown(definition)}, expected one of {", ".join(names())}', 'definition'
        )
    return _REGISTRY[name]


def check_cutoff(k: object, name: str = 'k', alternative: str = '') -> int:
    """Return a cutoff as an int; an error begins with `name`, and mentions the alternative."""
    if isinstance(k, Integral) and not isinstance(k, bool) and 0 < int(k) <= LARGEST_CUTOFF:
        return int(k)
    raise ParameterError(
        f'found {shown(k)}, expected positive integers below 2**63{alternative}', name
    )


def check_cutoffs(K: object, definition: Definition, name: str = 'K') -> list[Cutoff]:
    """Return one or more cutoffs as a list; refuse repeats, and ``'all'`` where AP divides by k."""
    if not isinstance(K, Iterable) or isinstance(K, str | bytes):
        K = [K]
    cutoffs = [ALL if plain_text(k) == ALL else check_cutoff(k, name, OR_ALL) for k in K]
    if not cutoffs:
        raise ParameterError(f'found none, expected positive integers{OR_ALL}', name)
    repeated = [k for k, times in Counter(cutoffs).items() if times > 1]
    if repeated:
        raise ParameterError(f'found {repeated[0]} twice, expected each cutoff once', name)
    if ALL in cutoffs and not definition.has_uncut:
        raise ParameterError(f'found all, expected numbers: {definition} divides by k', name)
    return cutoffs


def depths(K: Iterable[Cutoff]) -> list[int]:
    """Return the depth of each cutoff: its number, or the largest possible for ``'all'``."""
    return [LARGEST_CUTOFF if k == ALL else k for k in K]


def ap_column(k: Cutoff) -> str:
    """Return the name of the column of AP at a cutoff, such as AP@10; the mean is MAP@10."""
    return 'AP' if k == ALL else f'AP@{k}'


def ap_columns(K: Iterable[Cutoff], definition: Definition) -> list[str]:
    """Return the columns of AP at each cutoff; an estimate has one column, its name."""
    return [definition.name] if definition.is_estimate else list(map(ap_column, K))


def names() -> list[str]:
    """Return the registered names, sorted.

    Returns
    -------
    list of str

    Examples
    --------
    >>> 'trec' in names()
    True
    """
    return sorted(definition.name for definition in _REGISTRY.values())


def registered() -> Iterator[Definition]:
    """Iterate over the definitions, in the order of their registration.

    Yields
    ------
    Definition

    Examples
    --------
    >>> [str(definition) for definition in registered()][:2]
    ['mediaeval-2016', 'mediaeval-2016-final']
    """
    return iter(_REGISTRY.values())


# Not registered: it is defined for one kind of qrels alone.
XINFAP = Definition(
    'xinfAP', ('k',), ('R', 'k'), 0.0, Repeats.DROP,
    'E. Yilmaz, E. Kanoulas and J. A. Aslam, SIGIR 2008',
)  # fmt: skip

for _definition in (
    # name, depth, denominator, without_relevant, repeats, source, precision
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
    Definition('oxford', ('k',), ('R',), 0.0, Repeats.DROP,
               'compute_ap of Oxford Buildings, Paris, revisitop and Market-1501', 'trapezoid'),
    Definition('map-at-r', ('R', 'k'), ('R',), 0.0, Repeats.DROP,
               'MAP@R of pytorch-metric-learning and CodeXGLUE'),
):  # fmt: skip
    register(_definition)

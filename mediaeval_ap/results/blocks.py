"""Fields of the results of blocks of queries, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from mediaeval_ap.errors import ParameterError, shown


def chained(name: str, values: Sequence[Any]) -> Any:
    """Return the values of all queries."""
    first = values[0]
    if isinstance(first, Mapping):
        the_same(name, [list(each) for each in values])
        return {key: chained(key, [each[key] for each in values]) for key in first}
    if isinstance(first, list):
        return list(chain(*values))
    the_same(name, [type(value) for value in values])
    return None if first is None else np.concatenate(values)


def the_same(name: str, values: Sequence[Any]) -> Any:
    """Return the value that all results have, or refuse them with the first difference."""
    first, *others = values
    if isinstance(first, Mapping):
        the_same(name, [sorted(value) for value in values])
        return {key: the_same(f'{name}, {key}', [value[key] for value in values]) for key in first}
    for other in others:
        if other != first:
            raise ParameterError(f'concat: {name}: found {shown(other)}, expected {shown(first)}')
    return first

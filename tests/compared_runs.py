"""Results of runs for comparisons, from values by query."""

import numpy as np

from mediaeval_ap import Evaluation, definitions
from mediaeval_ap.tables import Provenance


def evaluation(
    values,
    name='run',
    *,
    queries=None,
    n_relevant=None,
    definition='trec',
    sha256='r',
    parameters=(),
    measures=(),
):
    """A result with these values by query, or by query and cutoff."""
    ap = np.array(values, dtype=np.float64).reshape(len(values), -1)
    queries = [f'q{place:03}' for place in range(len(ap))] if queries is None else queries
    return Evaluation(
        list(queries),
        [10**place for place in range(ap.shape[1])],
        ap,
        np.ones(len(ap), dtype=np.int64) if n_relevant is None else np.array(n_relevant),
        definitions.get(definition),
        {'reference': Provenance('reference.txt', sha256), 'hypothesis': Provenance(name, name)},
        {'queries': len(ap)},
        {each: np.array(column, dtype=np.float64) for each, column in dict(measures).items()},
        dict(parameters),
    )


def several(*rows, **settings):
    """Results of runs a, b, c …, from the values of each."""
    return {
        name: evaluation(values, name, **settings)
        for name, values in zip('abcdefghijklmnopqrstuvwxyz', rows, strict=False)
    }

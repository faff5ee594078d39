"""Rows of input for each metric, also as tables of pyarrow, and all that a metric tells."""

from inspect import signature

import pyarrow

from mediaeval_ap import definitions
from mediaeval_ap.errors import UndefinedScoreError
from mediaeval_ap.metrics import (
    GlobalAveragePrecision,
    LabelRankingAveragePrecision,
    MeanAveragePrecision,
    ReciprocalRank,
)

TEXT, TEXTS = pyarrow.string(), pyarrow.list_(pyarrow.string())
TYPES = {
    'first hit': [TEXT, TEXTS],
    'map': [TEXTS, TEXTS],
    'gap': [TEXT, TEXT, pyarrow.float64()],
    'lrap': [pyarrow.list_(pyarrow.int8(), 6), pyarrow.list_(pyarrow.float64())],
    'lwlrap': [pyarrow.large_list(pyarrow.uint8()), pyarrow.list_(pyarrow.float32(), 6)],
}


def rows_of(metric, random, n):
    """Rows of input, with ties, and with what is missing or empty."""

    def labels(most):
        return random.choices('abcdefg', k=random.randrange(most))

    def row():
        if metric == 'first hit':
            return random.choice('ab'), labels(5)
        if metric.startswith('map'):
            return labels(8), labels(8)
        if metric.startswith('gap'):
            confidence = random.choice([0.1, 0.5, 0.9, 1 / 3])
            return random.choice(['a', 'b', None]), random.choice(['a', 'b', None]), confidence
        return [random.randrange(2) for _ in range(6)], [random.randrange(4) / 3 for _ in range(6)]

    return [row() for _ in range(n)]


METRICS = {
    'first hit': lambda: ReciprocalRank(3),
    **{
        f'map {name}': lambda name=name: MeanAveragePrecision(4, name)
        for name in definitions.names()
    },
    **{
        f'gap {ties}': lambda ties=ties: GlobalAveragePrecision(ties)
        for ties in ('expected', 'best', 'worst')
    },
    'lrap': LabelRankingAveragePrecision,
    'lwlrap': lambda: LabelRankingAveragePrecision(label_weighted=True),
}


def columns_of(metric, rows):
    """The columns of some rows, by the arguments of `update`."""
    names = signature(metric.update).parameters
    return dict(zip(names, zip(*rows, strict=True), strict=False))


def table_of(name, rows):
    """Rows as a table of pyarrow, with a column for each argument of `update`."""
    columns = columns_of(METRICS[name](), rows)
    types = TYPES[name if name in TYPES else name.split()[0]]
    arrays = [
        pyarrow.array(list(column), kind)
        for column, kind in zip(columns.values(), types, strict=True)
    ]
    return pyarrow.table(arrays, list(columns))


def update(metric, columns):
    """Give a metric the columns of a dictionary, a batch or a table."""
    names = getattr(columns, 'column_names', None) or list(columns)
    return metric.update(**{name: columns[name] for name in names})


def value_of(metric):
    """The value of a metric to the last bit, and what else it tells."""
    names = (name for name in dir(metric) if name.startswith('n_'))
    counts = {name: getattr(metric, name) for name in names}
    if 'n_labels' in counts:
        counts['n_labels'] = counts['n_labels'].tolist()
    try:
        value = metric.compute()
    except UndefinedScoreError:
        value = None
    by_class = metric.per_class() if hasattr(metric, 'per_class') else ()
    return value, counts, *(str(each.tolist()) for each in by_class)

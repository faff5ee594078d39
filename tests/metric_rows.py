"""Rows of input for each metric, also as Parquet files, and all that a metric tells."""

from inspect import signature

import pyarrow
from pyarrow import parquet

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


def columns_of(metric):
    """Names of columns by the arguments of a metric."""
    make = METRICS.get(metric, GlobalAveragePrecision)
    arguments = zip(signature(make().update).parameters, types_of(metric), strict=False)
    return {name: f'column {number}' for number, (name, _) in enumerate(arguments)}


def update(metric, columns):
    """Give a metric its columns, each by the name of the argument."""
    return metric.update(**dict(zip(signature(metric.update).parameters, columns, strict=False)))


def types_of(metric):
    return TYPES[metric if metric in TYPES else metric.split()[0]]


def write_rows(path, metric, rows, rows_in_group=1 << 20):
    """Write rows as a Parquet file, between columns that no metric needs."""
    named = zip(columns_of(metric).values(), types_of(metric), strict=True)
    fields = [('id', pyarrow.int64()), *named, ('other', TEXT)]
    records = [[number, *row, 'x'] for number, row in enumerate(rows)]
    arrays = [
        pyarrow.array([record[place] for record in records], kind)
        for place, (_, kind) in enumerate(fields)
    ]
    table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))
    parquet.write_table(table, path, row_group_size=rows_in_group)


def updated(metric, name, rows):
    """A metric that was given all rows at once, as arrays of pyarrow."""
    columns = zip(*rows, strict=True)
    update(metric, map(pyarrow.array, map(list, columns), types_of(name)))
    return metric


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

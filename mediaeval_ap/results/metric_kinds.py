"""The kinds of metrics: the items that they average over, and the nouns for these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MetricKind:
    """The items that a metric averages over, and its traits that follow from them."""

    unit: tuple[str, str] = ('query', 'queries')  # the nouns for one and for several
    over: str = 'queries'  # their key in `Result.counts`
    no_mean: str = ''  # the reason, if the value is not a mean over queries
    is_one_list: bool = False  # ranks all predictions in one list; a table has a row for each
    scores_all: bool = False  # the mean includes queries without a true label, which are not at 0
    query: tuple[str, str] = ('query', 'queries')  # the nouns for the items that have values


# Others are means over queries with a true label, where a run without predictions gets 0.
METRIC_KINDS: Mapping[str, MetricKind] = {
    'GAP': MetricKind(
        ('query with a true label', 'queries with a true label'),
        no_mean='the rank of a prediction depends on those of all queries',
        is_one_list=True,
    ),
    'LRAP': MetricKind(scores_all=True),
    'lwlrap': MetricKind(('label', 'labels'), over='labels', no_mean='it is a mean over labels'),
    'macro AP': MetricKind(('class', 'classes'), query=('class', 'classes')),
}


def kind_of_metric(metric: str) -> MetricKind:
    """Return the kind of a metric by its name in results."""
    return METRIC_KINDS.get(metric, MetricKind())

"""Metrics: pure kernels over arrays, and for each an accumulator of what comes in pieces.

- first-hit MAP: `reciprocal_rank_at_k`, `mean_reciprocal_rank_at_k`, `ReciprocalRank`;
- precision, relevance, AP and MAP at k: `precision_at_k`, `relevance_at_k`,
  `average_precision_at_k`, `mean_average_precision_at_k`, `MeanAveragePrecision`;
- global AP: `global_average_precision`, `GlobalAveragePrecision`;
- label ranking AP: `label_ranking_average_precision`,
  `label_weighted_label_ranking_average_precision`, `LabelRankingAveragePrecision`;
- what the first of them and the evaluator stand on: `average_precision_of_hits`,
  `precision_at_hits`.

Each `Accumulator` has `update`, `merge`, `compute` and `reset`. Nothing is imported before it is
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mediaeval_ap.metrics.accumulator import Accumulator
    from mediaeval_ap.metrics.at_k import (
        MeanAveragePrecision,
        average_precision_at_k,
        mean_average_precision_at_k,
        precision_at_k,
        relevance_at_k,
    )
    from mediaeval_ap.metrics.first_hit import (
        ReciprocalRank,
        mean_reciprocal_rank_at_k,
        reciprocal_rank_at_k,
    )
    from mediaeval_ap.metrics.label_ranking import (
        LabelRankingAveragePrecision,
        label_ranking_average_precision,
        label_weighted_label_ranking_average_precision,
    )
    from mediaeval_ap.metrics.one_list import GlobalAveragePrecision, global_average_precision
    from mediaeval_ap.metrics.ranked_hits import average_precision_of_hits, precision_at_hits

__all__ = [
    'Accumulator',
    'GlobalAveragePrecision',
    'LabelRankingAveragePrecision',
    'MeanAveragePrecision',
    'ReciprocalRank',
    'average_precision_at_k',
    'average_precision_of_hits',
    'global_average_precision',
    'label_ranking_average_precision',
    'label_weighted_label_ranking_average_precision',
    'mean_average_precision_at_k',
    'mean_reciprocal_rank_at_k',
    'precision_at_hits',
    'precision_at_k',
    'reciprocal_rank_at_k',
    'relevance_at_k',
]

_HOME = {
    'Accumulator': 'accumulator',
    'GlobalAveragePrecision': 'one_list',
    'LabelRankingAveragePrecision': 'label_ranking',
    'MeanAveragePrecision': 'at_k',
    'ReciprocalRank': 'first_hit',
    'average_precision_at_k': 'at_k',
    'average_precision_of_hits': 'ranked_hits',
    'global_average_precision': 'one_list',
    'label_ranking_average_precision': 'label_ranking',
    'label_weighted_label_ranking_average_precision': 'label_ranking',
    'mean_average_precision_at_k': 'at_k',
    'mean_reciprocal_rank_at_k': 'first_hit',
    'precision_at_hits': 'ranked_hits',
    'precision_at_k': 'at_k',
    'reciprocal_rank_at_k': 'first_hit',
    'relevance_at_k': 'at_k',
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f'{__name__}.{_HOME[name]}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return __all__

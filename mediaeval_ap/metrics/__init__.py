"""Metrics of ranked predictions: functions for one go, and accumulators of what comes in pieces.

=================================  ================================================================
metric                             names
=================================  ================================================================
first-hit MAP                      `reciprocal_rank_at_k`, `mean_reciprocal_rank_at_k`,
                                   `ReciprocalRank`
precision and AP at k, MAP at k    `precision_at_k`, `relevance_at_k`, `average_precision_at_k`,
                                   `mean_average_precision_at_k`, `MeanAveragePrecision`
global AP                          `global_average_precision`, `GlobalAveragePrecision`
label ranking AP                   `label_ranking_average_precision`,
                                   `label_weighted_label_ranking_average_precision`,
                                   `LabelRankingAveragePrecision`
AP from the ranks of hits          `average_precision_of_hits`, `precision_at_hits`
=================================  ================================================================

Each `Accumulator` has `update`, `merge`, `compute` and `reset`.
"""

from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.ap_at_k import (
    MeanAveragePrecision,
    average_precision_at_k,
    mean_average_precision_at_k,
    precision_at_k,
    relevance_at_k,
)
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_hits, precision_at_hits
from mediaeval_ap.metrics.global_ap import GlobalAveragePrecision, global_average_precision
from mediaeval_ap.metrics.label_ranking_ap import (
    LabelRankingAveragePrecision,
    label_ranking_average_precision,
    label_weighted_label_ranking_average_precision,
)
from mediaeval_ap.metrics.reciprocal_rank import (
    ReciprocalRank,
    mean_reciprocal_rank_at_k,
    reciprocal_rank_at_k,
)

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

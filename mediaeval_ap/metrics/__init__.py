"""Metrics of ranked predictions: functions for whole data, and accumulators for data in pieces.

- First-hit MAP: `reciprocal_rank_at_k`, `mean_reciprocal_rank_at_k`, `ReciprocalRank`.
- Precision, AP and MAP at k: `precision_at_k`, `relevance_at_k`, `average_precision_at_k`,
  `mean_average_precision_at_k`, `MeanAveragePrecision`.
- Global AP: `global_average_precision`, `GlobalAveragePrecision`.
- Label ranking AP: `label_ranking_average_precision`, its weighted form
  `label_weighted_label_ranking_average_precision`, `LabelRankingAveragePrecision`.
- AP of each class over the samples, for macro AP: `class_average_precision`.
- AP from the ranks of hits: `average_precision_of_hits`, `precision_at_hits`.
"""

from lazy_loader import attach_stub

# `__init__.pyi` lists the names. A name is imported at its first use: a run needs only one kernel.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

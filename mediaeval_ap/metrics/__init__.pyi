from .accumulator import Accumulator as Accumulator
from .ap_of_hits import average_precision_of_hits as average_precision_of_hits
from .ap_of_hits import precision_at_hits as precision_at_hits
from .class_ap import class_average_precision as class_average_precision
from .global_ap import GlobalAveragePrecision as GlobalAveragePrecision
from .global_ap import global_average_precision as global_average_precision
from .label_ranking_ap import LabelRankingAveragePrecision as LabelRankingAveragePrecision
from .label_ranking_ap import label_ranking_average_precision as label_ranking_average_precision
from .label_ranking_ap import (
    label_weighted_label_ranking_average_precision as label_weighted_label_ranking_average_precision,  # noqa: E501
)
from .map_at_k import MeanAveragePrecision as MeanAveragePrecision
from .map_at_k import average_precision_at_k as average_precision_at_k
from .map_at_k import mean_average_precision_at_k as mean_average_precision_at_k
from .map_at_k import precision_at_k as precision_at_k
from .map_at_k import relevance_at_k as relevance_at_k
from .reciprocal_rank import ReciprocalRank as ReciprocalRank
from .reciprocal_rank import mean_reciprocal_rank_at_k as mean_reciprocal_rank_at_k
from .reciprocal_rank import reciprocal_rank_at_k as reciprocal_rank_at_k

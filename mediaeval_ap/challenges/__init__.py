"""Challenges that score ranked predictions, on their own files.

=====================  ==========================================  ==============================
function               challenge                                   value
=====================  ==========================================  ==============================
`evaluate_first_hit`   Humpback Whale Identification               first-hit MAP@5
`evaluate_map`         H&M Personalized Fashion Recommendations    MAP@12
`evaluate_gap`         Google Landmark Recognition                 global average precision (GAP)
`evaluate_lrap`        Freesound Audio Tagging 2019                LRAP, and lwlrap
=====================  ==========================================  ==============================

Each reads a truth and predictions (of other columns, if they are named), matches their rows by id,
updates a metric of `mediaeval_ap.metrics` piece by piece, and returns a `Score`.
"""

from mediaeval_ap.challenges.first_hit import evaluate_first_hit
from mediaeval_ap.challenges.global_ap import evaluate_gap
from mediaeval_ap.challenges.label_ranking import evaluate_lrap
from mediaeval_ap.challenges.map_at_k import evaluate_map

__all__ = ['evaluate_first_hit', 'evaluate_gap', 'evaluate_lrap', 'evaluate_map']

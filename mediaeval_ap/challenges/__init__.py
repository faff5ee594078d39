"""Challenges that score ranked predictions, on their own files.

=====================  ==========================================  ==============================
function               challenge                                   value
=====================  ==========================================  ==============================
`evaluate_first_hit`   Humpback Whale Identification               first-hit MAP@5
`evaluate_map`         H&M Personalized Fashion Recommendations    MAP@12
`evaluate_gap`         Google Landmark Recognition                 global average precision (GAP)
`evaluate_lrap`        Freesound Audio Tagging 2019                LRAP, and lwlrap
`evaluate_macro_ap`    Emotion and Theme Recognition in Music      macro AP (PR-AUC-macro)
=====================  ==========================================  ==============================

Each function reads a truth and predictions (from other columns, if you name them), matches their
rows by id, updates a metric of `mediaeval_ap.metrics` piece by piece, and returns a `Score`.
"""

from mediaeval_ap.challenges.gap import evaluate_gap
from mediaeval_ap.challenges.lists_of_labels import evaluate_first_hit, evaluate_map
from mediaeval_ap.challenges.scores_of_classes import evaluate_lrap, evaluate_macro_ap

__all__ = [
    'evaluate_first_hit',
    'evaluate_gap',
    'evaluate_lrap',
    'evaluate_macro_ap',
    'evaluate_map',
]

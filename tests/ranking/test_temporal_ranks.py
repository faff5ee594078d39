"""Temporal ranks of hypotheses with the same name, confidence and video."""

import numpy as np

from mediaeval_ap.ranking.temporal_ranks import temporal_ranks


def test_each_name_confidence_and_video_is_ranked_by_itself():
    names = np.array([0, 0, 0, 1, 0, 0])
    confidences = np.array([-0.5, -0.5, -0.5, -0.5, -0.9, -0.5])
    shots = np.array([7, 3, 3, 3, 3, 9])
    videos = np.array([1, 1, 1, 1, 1, 2])
    ranks, repeated = temporal_ranks(names, confidences, shots, videos)
    assert ranks.tolist() == [3, 1, 2, 1, 1, 1]
    assert repeated.tolist() == [False, False, True, False, False, False]

"""Average precision of each class, whose mean is macro AP."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mediaeval_ap.choices import TIES, Ties, check_policy
from mediaeval_ap.metrics.matrices import doubles, is_sparse, read_matrices, refuse_cells
from mediaeval_ap.metrics.tie_blocks import ap_of_list
from mediaeval_ap.tables.table import Matrix


def class_average_precision(
    y_true: Matrix, y_score: ArrayLike, *, ties: Ties = 'threshold'
) -> NDArray[np.float64]:
    """Return the average precision of each class, with all samples ranked by its scores.

    Parameters
    ----------
    y_true, y_score
        As for `label_ranking_average_precision`, which lists the errors, too.
    ties : {'threshold', 'expected', 'stable', 'best', 'worst'}
        The rule for equal scores of a class, as for `global_average_precision`.

    Returns
    -------
    ndarray of float64, shape (n_classes,)
        For each class (1/R) Σ P(i)·rel(i) over the samples by descending score, where R is the
        number of samples with this class; NaN if there is none. `numpy.nanmean` is the macro mean.

    Notes
    -----
    With ties by threshold this is Σ (Rₙ - Rₙ₋₁) Pₙ over the distinct scores, from the user guide of
    scikit-learn, "Precision, recall and F-measures". Beside the input, one class is in memory.

    Examples
    --------
    The second class is true for a sample at rank 2 of 2; the third is never true:

    >>> y_score = [[0.9, 0.6, 0.3], [0.2, 0.8, 0.1]]
    >>> class_average_precision([[1, 1, 0], [0, 0, 0]], y_score)
    array([1. , 0.5, nan])
    """
    check_policy('ties', ties, TIES)
    truth, scores = read_matrices(y_true, y_score)
    if is_sparse(truth):
        truth = truth.tocsc()

    def ap_of_class(index: int) -> float:  # copies one class, as the matrices may fill the memory
        labels = truth[:, [index]]
        labels = labels.toarray() if is_sparse(labels) else labels
        class_scores = scores[:, [index]]
        refuse_cells('y_true', labels, first_column=index)
        refuse_cells('y_score', class_scores, first_column=index)
        if class_scores.dtype.kind in 'iu':
            class_scores = doubles(class_scores, 'y_score')
        elif class_scores.itemsize > 8:  # doubles may not hold the scores, but hold their order
            order = np.unique(class_scores, return_inverse=True)[1]
            class_scores = order.reshape(-1, 1).astype(np.float64)
        is_true = labels[:, 0] != 0
        n_true = int(np.count_nonzero(is_true))
        return ap_of_list(class_scores[:, 0], is_true, ties, n_true) if n_true else np.nan

    return np.array([ap_of_class(index) for index in range(scores.shape[1])])

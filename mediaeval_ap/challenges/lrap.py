"""Label ranking AP, the metric of Freesound Audio Tagging 2019, on the files of that challenge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.challenges.classes_of_samples import CLASSES, columns_left_out, matched_labels
from mediaeval_ap.challenges.task import Columns, Files
from mediaeval_ap.choices import (
    Missing,
    Unknown,
    WithoutRelevant,
    check_without_relevant,
    parameter_of_skipped,
)
from mediaeval_ap.errors import ParameterError, abridged, shown, with_noun
from mediaeval_ap.metrics import LabelRankingAveragePrecision
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.result import NO_TRUE_LABEL, SKIPPED, notes_of_skipped
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.table import Frame

if TYPE_CHECKING:
    import pyarrow


SCORES_IN_PIECE = 1 << 22  # 32 MiB of doubles at a time


@shows_progress
def evaluate_lrap(
    truth: Frame | NDArray[Any],
    scores: Frame | NDArray[Any],
    *,
    label_weighted: bool = False,
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    per_class: bool = False,
    progress: bool = False,
    name: str | None = None,
    queries_without_relevant: WithoutRelevant = 'count',
) -> Score:
    """Score samples with a number for each class by label ranking AP (LRAP, or lwlrap).

    Parameters
    ----------
    truth, scores : str, path-like, file object, DataFrame, pyarrow table or array
        The truth has ``fname,labels``: the labels of each sample, separated by commas. The scores
        have ``fname`` and one column of numbers for each class, under its name. The truth may also
        have such columns, of 0 and 1; or be an array of 0 and 1, with rows and columns in the order
        of the scores. Two arrays have one shape, (n_samples, n_classes), and ids 0, 1, … for
        samples and classes. An array may be a .npy file.
    label_weighted : bool
        Take the mean over all labels (lwlrap) instead of over samples.
    columns : mapping of str to str or int, optional
        Other names of the column ``'id'``, and in the truth of ``'labels'`` (several labels in a
        field, separated by commas) or ``'label'`` (one in each row, or nothing). They hold for both
        files, unless `truth_columns` is given. Every other column of the scores is a class, except
        columns that are left out with a warning: a truth of 0 and 1 lacks them; or, with a truth of
        labels, they leave the range from 0 to 1, but no true class does.
    truth_columns : like columns, optional
        The columns of the truth; or their positions from 1, in a file without a header.
    missing : {'error', 'zero', 'skip'}
        A sample without a row in the scores is an error, counts 0 (in lwlrap, each of its labels
        has precision 0), or is left out.
    per_query : bool
        Keep a table of samples: ``id``, ``LRAP`` and ``n_labels``.
    per_class : bool
        Keep a table of classes instead: ``class``, ``precision``, ``weight`` and ``n_labels``.
    unknown, progress, name
        As for `evaluate_map`.
    queries_without_relevant : {'count', 'skip'}
        A sample without a label has an LRAP of 1 (in lwlrap, no weight), or is left out before
        anything is scored.

    Returns
    -------
    Score
        LRAP, or lwlrap.

    Raises
    ------
    ReadError, FormatError, ParameterError, UndefinedScoreError
        As for `evaluate_map`, which lists the warnings, too. Also when a label is not a class or is
        repeated, a score is not a finite number, or both tables are asked for; for lwlrap, when no
        sample has a label.

    Examples
    --------
    >>> evaluate_lrap('samples/sounds_truth.csv', 'samples/sounds_scores.csv').metric
    'LRAP'
    >>> import numpy
    >>> evaluate_lrap(numpy.array([[1, 0, 0]]), numpy.array([[0.75, 0.5, 1]])).value
    0.5
    """
    if per_query and per_class:
        raise ParameterError('give per_query or per_class, not both: a score has one table')
    skip_or_count = check_without_relevant(queries_without_relevant)
    metric = LabelRankingAveragePrecision(label_weighted=label_weighted)
    files = Files(CLASSES, truth, scores, columns, truth_columns, missing, unknown, name)
    left_out = columns_left_out(files)
    classes = [column for column in files.predictions.classes if column not in left_out]
    labels, n_skipped = matched_labels(files, classes, skip=skip_or_count == 'skip')
    values, n_labels = _add_samples(metric, files, labels, classes)
    table: dict[str, Any] | None = None
    if per_query:
        table = {'id': files.ids.to_pandas(), 'LRAP': values, 'n_labels': n_labels}
    elif per_class:
        precision, weight = metric.per_class()
        table = {'class': classes, 'precision': precision, 'weight': weight}
        table['n_labels'] = metric.n_labels
    return files.score(
        {'lwlrap' if label_weighted else 'LRAP': metric.compute},
        {'label_weighted': metric.label_weighted, **parameter_of_skipped(skip_or_count)},
        {'LRAP': values} | ({'n_labels': n_labels} if label_weighted else {}),
        {
            'classes': len(classes),
            'labels': int(metric.n_labels.sum()),
            'without_truth': metric.n_without_label,
            **({SKIPPED: n_skipped} if skip_or_count == 'skip' else {}),
        },
        table,
        notes=_notes(metric, files, classes, n_skipped),
    )


def _notes(
    metric: LabelRankingAveragePrecision, files: Files, classes: list[str], n_skipped: int
) -> list[str]:
    """Return notes on samples without a label, skipped samples, and classes that are never true."""
    zero = ', or 0 if it has no scores' if files.policy.missing == 'zero' else ''
    effect = 'they do not count' if metric.label_weighted else f'each counts 1{zero}'
    notes = [
        *files.notes(metric.n_without_label, f'{NO_TRUE_LABEL}: {effect}'),
        *notes_of_skipped(n_skipped, len(files.ids), NO_TRUE_LABEL),
    ]
    never_true = [shown(name) for name, n in zip(classes, metric.n_labels, strict=True) if not n]
    if never_true:
        classes_are = with_noun(len(never_true), 'class is', 'classes are')
        notes.append(f'{classes_are} true for no query, but ranked: {abridged(never_true)}')
    return notes


def _add_samples(
    metric: LabelRankingAveragePrecision,
    files: Files,
    labels: pyarrow.LargeListArray,
    classes: list[str],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Update the metric; return the LRAP and the number of true labels of each sample."""
    from pyarrow import compute

    numbers = [files.predictions.columns[name].to_numpy() for name in classes]
    values = np.zeros(len(labels))
    for part in files.pieces(max(1, SCORES_IN_PIECE // len(classes))):
        true = labels[part]
        rows = files.rows[part]
        y_true = np.zeros((len(true), len(classes)), dtype=np.bool_)
        y_true[compute.list_parent_indices(true).to_numpy(), true.flatten().to_numpy()] = True
        scored = rows >= 0
        y_score = np.column_stack([column[rows[scored]] for column in numbers])
        values[part][scored] = metric.update(y_true[scored], y_score)
        metric.update_missing(y_true[~scored])
    return values, compute.list_value_length(labels).to_numpy()

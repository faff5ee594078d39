"""MAP at k and first-hit MAP, on the files of two challenges that predict lists of labels."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.challenges.task import (
    ONE_LABEL_PER_ROW,
    Columns,
    Files,
    LabelsById,
    Task,
    labels_at,
    unique_ids,
)
from mediaeval_ap.choices import FIRST_HIT_CUTOFF, MAP_CUTOFF, Missing, Unknown
from mediaeval_ap.definitions import Definition, check_cutoff, check_cutoffs
from mediaeval_ap.errors import DataWarning, FormatError, Note
from mediaeval_ap.evaluation.data_warnings import IdPolicy, scores_above_one
from mediaeval_ap.metrics import MeanAveragePrecision, ReciprocalRank
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.notes import notes_of
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.table import Frame
from mediaeval_ap.tables.text.wrong_lines import EXCHANGED

LISTS = {'id': 'customer_id', 'labels': 'prediction'}
MAP = Task(
    truth=[LISTS, {'id': 'customer_id', 'label': 'article_id'}],
    predictions=[LISTS, *({'id': 'customer_id', **row} for row in ONE_LABEL_PER_ROW)],
)
FIRST_HIT = Task(
    truth=[{'id': 'Image', 'label': 'Id'}, {'id': 'Image', 'labels': None}],
    predictions=[
        {'id': 'Image', 'labels': 'Id'},
        *({'id': 'Image', **row} for row in ONE_LABEL_PER_ROW),
    ],
)


@shows_progress
def evaluate_map(
    truth: Frame,
    predictions: Frame,
    k: int | Iterable[int] = MAP_CUTOFF,
    *,
    definition: str | Definition = 'kaggle',
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    name: str | None = None,
) -> Score:
    """Score ranked labels of users by mean average precision at k.

    Parameters
    ----------
    truth : str, path-like, file object, DataFrame or pyarrow table
        ``customer_id,prediction``: relevant labels separated by white space; or
        ``customer_id,article_id``: one in each row. Files are CSV, TSV (``.tsv``) or Parquet, and
        may be compressed. In a frame, ``prediction`` may hold lists.
    predictions : like truth
        ``customer_id,prediction``: labels separated by white space, best first.
    k : int or iterable of int
        The cutoff, or several cutoffs, each with its own value and column.
    definition : str or Definition
    columns : mapping of str to str or int, optional
        Other names of the column ``'id'``, and of ``'labels'`` (several labels in a field) or
        ``'label'`` (one in each row). In predictions with one label in each row, the rows of a user
        are best first, or a column ``rank`` or ``score`` sorts them. Integers are positions from 1,
        in files without a header.
    truth_columns : like columns, optional
        The columns of the truth; by default `columns` holds for both files.
    missing : {'error', 'zero', 'skip'}
        A user without a row in the predictions is an error, scored with an empty list, or left out.
    unknown : {'error', 'drop'}
        A user without a row in the truth is an error, or left out.
    per_query : bool
        Keep a table of users: ``id``, ``AP@k`` and ``n_relevant``.
    progress, name
        As in `AveragePrecision.evaluate`.

    Returns
    -------
    Score
        MAP at k over the users with a relevant label.

    Raises
    ------
    ReadError, FormatError, ParameterError, UndefinedScoreError
        When a file cannot be read, a user is repeated, missing or unknown, or a parameter is not
        valid; when no user has a relevant label, or all users are left out.

    Warns
    -----
    DataWarning, NoOverlapWarning
        When missing or unknown users are allowed and occur; no user, or no label, is in both files;
        another character than white space separates the labels; the truth repeats labels; AP
        exceeds 1.

    Examples
    --------
    >>> score = evaluate_map('samples/fashion_truth.csv', 'samples/fashion_predictions.csv')
    >>> score.metric, score.counts['without_truth']
    ('MAP@12', 0)
    """
    cutoffs = _cutoffs(k)
    metrics = [MeanAveragePrecision(cutoff, definition) for cutoff in cutoffs]
    layouts = MAP.layouts(columns, truth_columns)
    files = Files(layouts, truth, predictions, IdPolicy(missing, unknown), name=name)
    relevant = LabelsById(files.truth)
    predicted = LabelsById(files.predictions)
    users = files.match(relevant.ids, predicted.ids, predicted.codes)
    pieces_by_metric = files.update_metrics(
        metrics, lambda part: (relevant.take(users[part]), predicted.take(files.rows[part]))
    )
    values_by_metric = [
        tuple(map(np.concatenate, zip(*pieces, strict=True))) for pieces in pieces_by_metric
    ]
    first = metrics[0]
    n_relevant = values_by_metric[0][1]
    labels = relevant.take(users).flatten()
    if n_repeated := len(labels) - int(n_relevant.sum()):
        repeat = f'repeat another label of their user; {first.definition} counts them once'
        note = Note(repeat, n_repeated, len(labels), 'labels')
        files.warnings.append(DataWarning('repeated-rows', files.truth_name, note))
    files.warn_of_other_labels(
        labels,
        predicted.take(files.rows).flatten(),
        has_hits=any(ap[n_relevant > 0].any() for ap, _ in values_by_metric),
    )
    above_one = np.any([ap > 1 for ap, _ in values_by_metric], axis=0)
    files.warnings += scores_above_one(
        files.ids.filter(above_one).to_pylist(),
        len(n_relevant),
        files.predictions.source.name,
        first.definition,
    )
    left_out = 'have no relevant label, and are left out'
    files.notes += notes_of(first.n_without_truth, len(files.ids), left_out)
    values = {f'AP@{k}': ap for k, (ap, _) in zip(cutoffs, values_by_metric, strict=True)}
    values['n_relevant'] = n_relevant
    score = files.score(
        {f'MAP@{metric.k}': metric.compute for metric in metrics},
        values,
        parameters={'k': _one_or_all(cutoffs), 'definition': first.definition.name},
        counts={'without_truth': first.n_without_truth},
        table={'id': files.ids.to_pandas(), **values} if per_query else None,
    )
    return replace(score, definition=first.definition)


def _cutoffs(k: int | Iterable[int]) -> list[int]:
    if not isinstance(k, Iterable):
        k = [k]
    cutoffs = list(map(check_cutoff, k))
    check_cutoffs(cutoffs, definitions.get('kaggle'), 'k')
    return cutoffs


def _one_or_all(cutoffs: list[int]) -> int | list[int]:
    return cutoffs if len(cutoffs) > 1 else cutoffs[0]


@shows_progress
def evaluate_first_hit(
    truth: Frame,
    predictions: Frame,
    k: int | Iterable[int] = FIRST_HIT_CUTOFF,
    *,
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    name: str | None = None,
) -> Score:
    """Score ranked labels of images by the rank of the first correct label (first-hit MAP).

    Parameters
    ----------
    truth, predictions : str, path-like, file object, DataFrame or pyarrow table
        Both have ``Image,Id``. In the truth, this is the label of each image; in the predictions,
        labels separated by white space, best first.
    per_query : bool
        Keep a table of images: ``id``, ``label`` and ``RR@k``.
    k, columns, truth_columns, missing, unknown, progress, name
        As for `evaluate_map`, which lists the errors and warnings, too.

    Returns
    -------
    Score
        First-hit MAP at k.

    Examples
    --------
    >>> evaluate_first_hit('samples/whales_truth.csv', 'samples/whales_predictions.csv').metric
    'first-hit MAP@5'
    """
    cutoffs = _cutoffs(k)
    metrics = [ReciprocalRank(cutoff) for cutoff in cutoffs]
    layouts = FIRST_HIT.layouts(columns, truth_columns)
    files = Files(layouts, truth, predictions, IdPolicy(missing, unknown), name=name)
    images = unique_ids(files.truth)
    (label,) = files.truth.layout.by_role.keys() - {'id'}
    files.truth.refuse_empty(label)
    try:
        files.truth.refuse_several(label)
    except FormatError as error:
        with suppress(FormatError):
            (role,) = files.predictions.layout.by_role.keys() & {'label', 'labels'}
            files.predictions.refuse_several(role)
            error = error.with_remedy(EXCHANGED)
        raise error from None
    predicted = LabelsById(files.predictions)
    labels = labels_at(files.truth[label], files.match(images, predicted.ids, predicted.codes))
    pieces_by_metric = files.update_metrics(
        metrics, lambda part: (labels[part], predicted.take(files.rows[part]))
    )
    has_hits = any(metric.compute() for metric in metrics)
    files.warn_of_other_labels(labels, predicted.take(files.rows).flatten(), has_hits=has_hits)
    joined = map(np.concatenate, pieces_by_metric)
    values = {f'RR@{k}': ranks for k, ranks in zip(cutoffs, joined, strict=True)}
    table = None
    if per_query:
        table = {'id': files.ids.to_pandas(), 'label': labels.to_pandas(), **values}
    return files.score(
        {f'first-hit MAP@{metric.k}': metric.compute for metric in metrics},
        values,
        parameters={'k': _one_or_all(cutoffs)},
        counts={},
        table=table,
    )

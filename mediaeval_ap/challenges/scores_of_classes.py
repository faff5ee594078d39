"""LRAP, lwlrap and macro AP, on files with a number for each sample and class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import errors
from mediaeval_ap.arrays import first_equal
from mediaeval_ap.challenges.task import (
    Columns,
    Files,
    Task,
    none_if_empty,
    positions_of,
    unique_ids,
)
from mediaeval_ap.choices import (
    TIES,
    Missing,
    Ties,
    Unknown,
    WithoutRelevant,
    check_policy,
    check_without_relevant,
    parameter_of_skipped,
)
from mediaeval_ap.errors import Note, ParameterError, abridged, printable, shown, with_noun
from mediaeval_ap.evaluation.data_warnings import IdPolicy, likely_cause, skipped_queries
from mediaeval_ap.metrics import LabelRankingAveragePrecision
from mediaeval_ap.metrics.tie_blocks import ap_of_list
from mediaeval_ap.progress import shows_progress, tracked
from mediaeval_ap.results.notes import NO_TRUE_LABEL, count_of_skipped, notes_of, notes_of_skipped
from mediaeval_ap.results.rounding import mean
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.columnar import is_list
from mediaeval_ap.tables.table import Frame, NumberedRows

if TYPE_CHECKING:
    import pyarrow

SCORES_IN_PIECE = 1 << 22  # 32 MiB of doubles at a time
FEW_SCORES = 10  # too few for a warning about all of them
CLASSES = Task(
    truth=[{'id': 'fname', 'labels': 'labels'}, {'id': 'fname', 'label': None}, {'id': 'fname'}],
    predictions=[{'id': 'fname'}],
)


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
        of the scores. These may be an array of the same shape. An array may be a .npy file.
    label_weighted : bool
        Take the mean over all labels (lwlrap) instead of over samples.
    columns : mapping of str to str or int, optional
        Other names of the column ``'id'``, and in the truth of ``'labels'`` (several labels in a
        field, separated by commas) or ``'label'`` (one in each row, or nothing). Every other column
        of the scores is a class, except columns that are left out with a warning: a truth of 0 and
        1 lacks them; or, with a truth of labels, they leave the range from 0 to 1, but no true
        class does.
    missing : {'error', 'zero', 'skip'}
        A sample without a row in the scores is an error, counts 0 (in lwlrap, each of its labels
        has precision 0), or is left out.
    per_query : bool
        Keep a table of samples: ``id``, ``LRAP`` and ``n_labels``.
    per_class : bool
        Keep a table of classes instead: ``class``, ``precision``, ``weight`` and ``n_labels``.
    truth_columns, unknown, progress, name
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
    layouts = CLASSES.layouts(columns, truth_columns)
    files = Files(layouts, truth, scores, IdPolicy(missing, unknown), name=name)
    classes = _scored_classes(files)
    labels, n_skipped = _matched_labels(files, classes, skip=skip_or_count == 'skip')
    lrap, n_labels = _add_samples(metric, files, labels, classes)
    values: dict[str, NDArray[Any]] = {'LRAP': lrap}
    metric_name = 'LRAP'
    if label_weighted:
        values['n_labels'] = n_labels
        metric_name = 'lwlrap'
    table: dict[str, Any] | None = None
    if per_query:
        table = {'id': files.ids.to_pandas(), 'LRAP': lrap, 'n_labels': n_labels}
    elif per_class:
        precision, weight = metric.per_class()
        table = {'class': classes, 'precision': precision, 'weight': weight}
        table['n_labels'] = metric.n_labels
    _add_notes(files, metric, classes, n_skipped)
    return files.score(
        {metric_name: metric.compute},
        values,
        parameters={'label_weighted': metric.label_weighted, **parameter_of_skipped(skip_or_count)},
        counts={
            'classes': len(classes),
            'labels': int(metric.n_labels.sum()),
            'without_truth': metric.n_without_label,
            **count_of_skipped(skip_or_count, n_skipped),
        },
        table=table,
    )


def _add_notes(
    files: Files, metric: LabelRankingAveragePrecision, classes: list[str], n_skipped: int
) -> None:
    """Note samples without a label, skipped samples, and classes that are never true."""
    effect = 'each counts 1'
    if metric.label_weighted:
        effect = 'they do not count'
    elif files.policy.missing == 'zero':
        effect = 'each counts 1, or 0 if it has no scores'
    n_queries = len(files.ids)
    files.notes += notes_of(metric.n_without_label, n_queries, f'{NO_TRUE_LABEL}: {effect}')
    files.notes += notes_of_skipped(n_skipped, n_queries, NO_TRUE_LABEL)
    never_true = [shown(name) for name, n in zip(classes, metric.n_labels, strict=True) if not n]
    if never_true:
        classes_are = with_noun(len(never_true), 'class is', 'classes are')
        files.notes.append(f'{classes_are} true for no query, but ranked: {abridged(never_true)}')


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


@shows_progress
def evaluate_macro_ap(
    truth: Frame | NDArray[Any],
    scores: Frame | NDArray[Any],
    *,
    ties: Ties = 'threshold',
    columns: Columns | None = None,
    truth_columns: Columns | None = None,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    per_query: bool = False,
    progress: bool = False,
    name: str | None = None,
) -> Score:
    """Score classes by the average precision of their samples (macro AP, PR-AUC-macro).

    Parameters
    ----------
    truth, scores, columns, truth_columns
        As for `evaluate_lrap`: the true classes of each sample, and a number for each class.
    ties : {'threshold', 'expected', 'best', 'worst', 'stable'}
        The rule for samples of equal score, as for `metrics.global_average_precision`.
    missing : {'error', 'zero', 'skip'}
        A sample without a row in the scores is an error; is in no ranking, but counts as a
        positive; or is left out.
    per_query : bool
        Keep a table of classes: ``id``, ``AP`` and ``n_relevant``, the number of positives.
    unknown, progress, name
        As for `evaluate_map`.

    Returns
    -------
    Score
        The mean over classes with a positive of `metrics.class_average_precision`, which has the
        formula; ``without_truth`` counts the others. The classes are the queries. Errors and
        warnings are those of `evaluate_lrap`.

    Examples
    --------
    >>> score = evaluate_macro_ap('samples/sounds_truth.csv', 'samples/sounds_scores.csv')
    >>> score.metric, round(score.value, 3), score.counts['without_truth']
    ('macro AP', 0.845, 1)
    """
    import pyarrow

    check_policy('ties', ties, TIES)
    layouts = CLASSES.layouts(columns, truth_columns)
    files = Files(layouts, truth, scores, IdPolicy(missing, unknown), name=name)
    classes = _scored_classes(files, ties)
    labels, _ = _matched_labels(files, classes)
    ap, n_relevant = _ap_of_classes(files, labels, classes, ties)
    n_without = len(classes) - int(np.count_nonzero(n_relevant))

    def macro_ap() -> float:
        if (value := mean(ap[n_relevant > 0])) is None:
            raise errors.UndefinedScoreError(
                f'macro AP: no class has a positive in {files.truth_name}'
            )
        return value

    if n_without:
        left_out = 'have no positive, and are left out'
        files.notes.append(Note(left_out, n_without, len(classes), 'classes'))
    values = {'AP': ap, 'n_relevant': n_relevant}
    return files.score(
        {'macro AP': macro_ap},
        values,
        parameters={'ties': ties},
        counts={
            'samples': len(files.ids),
            'labels': int(n_relevant.sum()),
            'without_truth': n_without,
        },
        table={'id': classes, **values} if per_query else None,
        queries=pyarrow.array(classes),
    )


def _ap_of_classes(
    files: Files, labels: pyarrow.LargeListArray, classes: list[str], ties: Ties
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from pyarrow import compute

    class_of_label = labels.flatten().to_numpy()
    rows = files.rows[compute.list_parent_indices(labels).to_numpy()]
    n_relevant = np.bincount(class_of_label, minlength=len(classes))
    rows_by_class = np.split(rows[class_of_label.argsort(kind='stable')], n_relevant.cumsum())
    ranked = np.sort(files.rows[files.rows >= 0])  # in the order of the file, for stable ties
    ap = np.full(len(classes), np.nan)
    for number in tracked(np.flatnonzero(n_relevant), 'scoring', ' classes'):
        positives = rows_by_class[number]
        is_positive = np.zeros(len(files.predictions), dtype=np.bool_)
        is_positive[positives[positives >= 0]] = True  # a sample without scores is in no ranking
        confidence = files.predictions.columns[classes[number]].to_numpy()[ranked]
        ap[number] = ap_of_list(confidence, is_positive[ranked], ties, int(n_relevant[number]))
    return ap, n_relevant


def _scored_classes(files: Files, ties: Ties | None = None) -> list[str]:
    """Return the columns of the scores that are classes; warn of the others, and of decisions."""
    columns = files.predictions.classes
    scores = files.predictions
    source = printable(scores.source.name)
    if files.truth.layout.other_numbers:
        left_out = [name for name in columns if name not in files.truth.columns.column_names]
        reason = 'have no column in'
    else:  # a truth of labels does not name classes that are never true
        arrays = [(name, scores.columns[name].to_numpy()) for name in columns]
        left_out = [name for name, numbers in arrays if numbers.min() < 0 or numbers.max() > 1]
        if left_out:  # perhaps logits; only then are the labels read, which takes time
            _, labels = _true_labels(files, columns)
            true_classes = {columns[index] for index in labels.values.unique().to_pylist()}
            if not true_classes or not true_classes.isdisjoint(left_out):
                left_out = []
        reason = 'leave the range from 0 to 1, and are not a label in'
    if left_out:
        reason += f' {files.truth_name}: left out ({abridged(list(map(shown, left_out)))})'
        note = Note(reason, len(left_out), len(columns), 'columns')
        files.warnings.append(errors.DataWarning('unknown-ids', source, note))
    classes = [name for name in columns if name not in left_out]
    arrays_of_classes = (scores.columns[name].to_numpy() for name in classes)
    n_scores = len(classes) * len(scores)
    can_mislead = n_scores >= FEW_SCORES and ties in (None, 'threshold', 'stable')
    if can_mislead and all(np.isin(x, (0, 1)).all() for x in arrays_of_classes):
        note = Note('are 0 or 1, as decisions are', n_scores, n_scores, 'scores')
        remedy = '; give probabilities'
        if ties:
            remedy += ", or --ties expected, in Python ties='expected'"
        files.warnings.append(errors.DataWarning('doubtful-scores', source, note, remedy))
    return classes


def _matched_labels(
    files: Files, classes: list[str], *, skip: bool = False
) -> tuple[pyarrow.LargeListArray, int]:
    """Match the samples; return the labels of the scored ones, and the number of skipped ones."""
    import pyarrow
    from pyarrow import compute

    read_labels = _one_hot if files.truth.layout.other_numbers else _true_labels
    samples, labels = read_labels(files, classes)
    are_scored = None
    n_skipped = 0
    if skip:
        are_scored = compute.list_value_length(labels).to_numpy() > 0
        n_skipped = int(np.count_nonzero(~are_scored))
        source = files.truth.source.name
        files.warnings += skipped_queries(
            source, source, n_skipped, len(samples), lack=NO_TRUE_LABEL
        )
    scored = files.match(samples, unique_ids(files.predictions), are_scored=are_scored)
    return labels.take(pyarrow.array(scored)), n_skipped


def _one_hot(files: Files, classes: list[str]) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the ids of a truth of 0 and 1, and the indices of the true classes of each sample."""
    import pyarrow

    truth = files.truth
    names = {*truth.columns.column_names} - {*truth.layout.texts}
    if not_classes := names.difference(classes):
        raise errors.FormatError(
            truth.source.name,
            place='',
            field='',
            found=f'a column {shown(min(not_classes))}',
            expected=f'one for each class of {printable(files.predictions.source.name)}',
        )
    columns = [truth.columns[name].to_numpy() for name in classes]
    for name, numbers in zip(classes, columns, strict=True):
        if len(wrong_rows := np.flatnonzero((numbers != 0) & (numbers != 1))):
            number = f'{numbers[wrong_rows[0]]:g}'
            raise NumberedRows.error(truth, wrong_rows, name, number, expected='0 or 1')
    samples, labels = np.column_stack(columns).nonzero()
    ends = np.bincount(samples, minlength=len(truth)).cumsum()
    return unique_ids(truth), pyarrow.LargeListArray.from_arrays(np.append(0, ends), labels)


def _true_labels(files: Files, classes: list[str]) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the ids of a truth of labels, and the indices of the true classes of each sample."""
    import pyarrow
    from pyarrow import compute

    truth = files.truth
    role = 'label'
    if 'labels' in truth.layout.by_role:
        role = 'labels'
        lists = truth['labels']
        if not is_list(lists):
            lists = compute.split_pattern(none_if_empty(lists), ',')
        rows = compute.list_parent_indices(lists).to_numpy()  # row and sample of each label
        samples = rows
        ids = unique_ids(truth)
        words = lists.flatten()
    else:
        truth.refuse_empty('id')
        encoded = truth['id'].dictionary_encode()
        has_label = compute.not_equal(truth['label'], '')
        rows = np.flatnonzero(has_label.to_numpy(zero_copy_only=False))
        ids = encoded.dictionary
        samples = encoded.indices.to_numpy()[rows]
        words = truth['label'].filter(has_label)
    labels = positions_of(words, pyarrow.array(classes, words.type))
    if len(unknown := np.flatnonzero(labels < 0)):
        word = words[unknown[0]].as_py()
        expected = f'classes of {printable(files.predictions.source.name)}'
        if role == 'labels' and ' ' in word:
            expected += ', between commas'
        if len(unknown) == len(labels) and (cause := likely_cause(words.to_pylist(), classes)):
            expected += f'; no label is a class: {cause}'
        raise truth.error(np.unique(rows[unknown]), role, shown(word), expected)
    keys = samples * len(classes) + labels
    repeats = np.flatnonzero(first_equal(keys) != np.arange(len(keys)))
    if len(repeats):
        actual = f'{shown(words[repeats[0]].as_py())} twice'
        raise truth.error(np.unique(rows[repeats]), role, actual, 'each label once')
    ends = np.bincount(samples, minlength=len(ids)).cumsum()
    labels = labels[samples.argsort(kind='stable')]
    return ids, pyarrow.LargeListArray.from_arrays(np.concatenate([[0], ends]), labels)

"""Files with a number for each sample and class: the classes, and the true ones of each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mediaeval_ap import errors
from mediaeval_ap.arrays import first_equal
from mediaeval_ap.challenges.task import Files, Task, none_if_empty, positions_of, unique_ids
from mediaeval_ap.errors import FormatError, abridged, printable, shown
from mediaeval_ap.evaluation.criteria import skipped_queries
from mediaeval_ap.evaluation.data_warnings import likely_cause
from mediaeval_ap.results.result import NO_TRUE_LABEL
from mediaeval_ap.tables.columnar import is_list
from mediaeval_ap.tables.records import Records
from mediaeval_ap.tables.table import NumberedRows

if TYPE_CHECKING:
    import pyarrow


CLASSES = Task(
    truth=[{'id': 'fname', 'labels': 'labels'}, {'id': 'fname', 'label': None}, {'id': 'fname'}],
    predictions=[{'id': 'fname'}],
)


def columns_left_out(files: Files) -> list[str]:
    """Return the columns of the scores that are not classes, and warn of them.

    A truth of 0 and 1 has a column for each class; columns that it lacks are left out. A truth of
    labels does not name classes that are never true. There, columns that leave the range of
    probabilities, from 0 to 1, are left out if labels exist and none of these columns is one.
    """
    columns = files.predictions.classes
    scores = files.predictions
    if files.truth.layout.other_numbers:
        left_out = [name for name in columns if name not in files.truth.columns.column_names]
        reason = 'have no column in'
    else:
        arrays = [(name, scores.columns[name].to_numpy()) for name in columns]
        left_out = [name for name, numbers in arrays if numbers.min() < 0 or numbers.max() > 1]
        if left_out:  # perhaps logits; only then are the labels read, which takes time
            _, labels = _true_labels(files.truth, columns, scores.source.name)
            true_classes = {columns[index] for index in labels.values.unique().to_pylist()}
            if not true_classes or not true_classes.isdisjoint(left_out):
                left_out = []
        reason = 'leave the range from 0 to 1, and are not a label in'
    if left_out:
        reason += f' {files.truth_name}: left out ({abridged(list(map(shown, left_out)))})'
        note = errors.Note(reason, len(left_out), len(columns), 'columns')
        name = printable(scores.source.name)
        files.warnings.append(errors.DataWarning('unknown-ids', name, note))
    return left_out


def matched_labels(
    files: Files, classes: list[str], *, skip: bool = False
) -> tuple[pyarrow.LargeListArray, int]:
    """Match the samples; return the labels of the scored ones, and the number of skipped ones."""
    import pyarrow
    from pyarrow import compute

    read_labels = _one_hot if files.truth.layout.other_numbers else _true_labels
    samples, labels = read_labels(files.truth, classes, files.predictions.source.name)
    are_scored = None
    n_skipped = 0
    if skip:
        are_scored = compute.list_value_length(labels).to_numpy() > 0
        n_skipped = int(np.count_nonzero(~are_scored))
        source = files.truth.source.name
        files.warnings += skipped_queries(source, source, n_skipped, len(samples), NO_TRUE_LABEL)
    scored = files.match(samples, unique_ids(files.predictions), are_scored=are_scored)
    return labels.take(pyarrow.array(scored)), n_skipped


def _one_hot(
    truth: Records, classes: list[str], scores: str
) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the ids of a truth of 0 and 1, and the indices of the true classes of each sample.

    `scores` is the name of the file of scores, for errors.
    """
    import pyarrow

    names = {*truth.columns.column_names} - {*truth.layout.texts}
    if not_classes := names.difference(classes):
        actual = f'a column {shown(min(not_classes))}'
        expected = f'one for each class of {printable(scores)}'
        raise FormatError(truth.source.name, '', '', actual, expected)
    columns = [truth.columns[name].to_numpy() for name in classes]
    for name, numbers in zip(classes, columns, strict=True):
        if len(wrong_rows := np.flatnonzero((numbers != 0) & (numbers != 1))):
            number = f'{numbers[wrong_rows[0]]:g}'
            raise NumberedRows.error(truth, wrong_rows, name, number, '0 or 1')
    samples, labels = np.column_stack(columns).nonzero()
    ends = np.bincount(samples, minlength=len(truth)).cumsum()
    return unique_ids(truth), pyarrow.LargeListArray.from_arrays(np.append(0, ends), labels)


def _true_labels(
    truth: Records, classes: list[str], scores: str
) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the ids of a truth of labels, and the indices of the true classes of each sample.

    `scores` is the name of the file of scores, for errors.
    """
    import pyarrow
    from pyarrow import compute

    if 'labels' in truth.layout.by_role:
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
    role = 'labels' if 'labels' in truth.layout.by_role else 'label'
    if len(unknown := np.flatnonzero(labels < 0)):
        word = words[unknown[0]].as_py()
        between = ', between commas' if role == 'labels' and ' ' in word else ''
        expected = f'classes of {printable(scores)}{between}'
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

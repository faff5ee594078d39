"""Label ranking AP, the metric of Freesound Audio Tagging 2019, on the files of that challenge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import errors
from mediaeval_ap.arrays import first_equal
from mediaeval_ap.challenges.task import Columns, Files, Task, none_if_empty, places_of, unique_ids
from mediaeval_ap.choices import (
    Missing,
    Unknown,
    WithoutRelevant,
    check_without_relevant,
    parameter_of_skipped,
)
from mediaeval_ap.errors import FormatError, ParameterError, abridged, printable, shown, with_noun
from mediaeval_ap.evaluation.criteria import skipped_queries
from mediaeval_ap.evaluation.data_warnings import likely_cause
from mediaeval_ap.metrics import LabelRankingAveragePrecision
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.result import NO_LABEL, SKIPPED, notes_of_skipped
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.columnar import is_list
from mediaeval_ap.tables.records import Records
from mediaeval_ap.tables.table import Frame, NumberedRows

if TYPE_CHECKING:
    import pyarrow


SCORES_IN_PIECE = 1 << 22  # 32 MiB of doubles at a time
LRAP = Task(
    truth=[{'id': 'fname', 'labels': 'labels'}, {'id': 'fname', 'label': None}, {'id': 'fname'}],
    predictions=[{'id': 'fname'}],
)


@shows_progress
def evaluate_lrap(
    truth: Frame | NDArray[Any],
    scores: Frame,
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
    """Score numbers for every class by label ranking average precision (LRAP, or lwlrap).

    Parameters
    ----------
    truth, scores : str, path-like, file object, DataFrame or pyarrow table
        ``fname,labels``: the labels of each sample, separated by commas; and ``fname`` with a
        column of numbers for each class, under its name. The truth may also have 0 or 1 in these
        columns, or be an array of 0 and 1 in the rows and classes of the scores.
    label_weighted : bool
        Take the mean over all labels (lwlrap) instead of over samples.
    columns : mapping of str to str or int, optional
        Other names of the columns: of ``'id'``; and, in the truth, of ``'labels'`` (several in a
        field, separated by commas) or ``'label'`` (one in each row, or nothing). It holds for both
        files, unless `truth_columns` is given. Every other column of the scores is a class, or left
        out with a warning: a truth of 0 and 1 lacks it, or it is no label and alone leaves 0 to 1.
    truth_columns : like columns, optional
        The columns of the truth; or their positions from 1, in a file without a header.
    missing : {'error', 'zero', 'skip'}
        A sample that the scores lack is an error, counts 0 (in lwlrap, each of its labels has
        precision 0), or is left out.
    per_query : bool
        Keep a table of samples: ``id``, ``LRAP`` and ``n_labels``.
    per_class : bool
        Keep a table of classes instead: ``class``, ``precision``, ``weight`` and ``n_labels``.
    unknown, progress, name
        As for `evaluate_map`.
    queries_without_relevant : {'count', 'skip'}
        What becomes of samples without a label: each has an LRAP of 1 (in lwlrap, no weight), or
        all are left out before anything is scored.

    Returns
    -------
    Score
        LRAP, or lwlrap.

    Raises
    ------
    ReadError, FormatError, ParameterError, UndefinedScoreError
        As for `evaluate_map`, like the warnings; when a label is no class or repeated, or a score
        no finite number; when both tables are asked for; for lwlrap, when no sample has a label.

    Examples
    --------
    >>> evaluate_lrap('samples/sounds_truth.csv', 'samples/sounds_scores.csv').metric
    'LRAP'
    """
    import pyarrow
    from pyarrow import compute

    if per_query and per_class:
        raise ParameterError('per_query: found True with per_class, expected one table or none')
    skip_or_count = check_without_relevant(queries_without_relevant)
    metric = LabelRankingAveragePrecision(label_weighted=label_weighted)
    files = Files(LRAP, truth, scores, columns, truth_columns, missing, unknown, name)
    others = _other_columns(files)
    classes = [each for each in files.classes if each not in others]
    true_labels = _one_hot if files.truth.layout.other_numbers else _true_labels
    samples, labels = true_labels(files.truth, classes, files.predictions.source.name)
    are_scored = None
    n_skipped = 0
    if skip_or_count == 'skip':
        are_scored = compute.list_value_length(labels).to_numpy() > 0
        n_skipped = int(np.count_nonzero(~are_scored))
        source = files.truth.source.name
        files.warnings += skipped_queries(source, source, n_skipped, len(samples), NO_LABEL)
    kept = files.match(samples, unique_ids(files.predictions), are_scored=are_scored)
    values, n_labels = _add_samples(metric, files, labels.take(pyarrow.array(kept)), classes)
    zero = ', or 0 if it has no scores' if missing == 'zero' else ''
    note = 'they do not count' if label_weighted else f'each counts 1{zero}'
    table: dict[str, Any] | None = None
    if per_query:
        table = {'id': files.ids.to_pandas(), 'LRAP': values, 'n_labels': n_labels}
    elif per_class:
        precision, weight = metric.per_class()
        table = {'class': classes, 'precision': precision, 'weight': weight}
        table['n_labels'] = metric.n_labels
    never = [shown(each) for each, n in zip(classes, metric.n_labels, strict=True) if not n]
    told = with_noun(len(never), 'class is', 'classes are') + ' true for no query, but ranked: '
    return files.score(
        {'lwlrap' if label_weighted else 'LRAP': metric},
        {'label_weighted': metric.label_weighted, **parameter_of_skipped(skip_or_count)},
        {'LRAP': values} | ({'n_labels': n_labels} if label_weighted else {}),
        {
            'classes': len(classes),
            'labels': int(metric.n_labels.sum()),
            'without_truth': metric.n_without_label,
            **({SKIPPED: n_skipped} if skip_or_count == 'skip' else {}),
        },
        table,
        notes=[
            *files.notes(metric.n_without_label, f'{NO_LABEL}: {note}'),
            *notes_of_skipped(n_skipped, len(files.ids), NO_LABEL),
            *([told + abridged(never)] if never else []),
        ],
    )


def _other_columns(files: Files) -> list[str]:
    """Return the columns of the scores that are no classes, with a warning.

    A truth of 0 and 1 has a column for each class. Labels do not tell a class that is never true
    from any other column, unless that alone leaves the range of probabilities.
    """
    classes = files.classes
    scores = files.predictions
    if files.truth.layout.other_numbers:
        others = [each for each in classes if each not in files.truth.columns.column_names]
        lack = 'have no column in'
    else:
        columns = [(each, scores.columns[each].to_numpy()) for each in classes]
        others = [name for name, numbers in columns if numbers.min() < 0 or numbers.max() > 1]
        if others:  # as of logits; else the labels, which take time, are read once
            _, labels = _true_labels(files.truth, classes, scores.source.name)
            true = {classes[at] for at in labels.values.unique().to_pylist()}
            others = others if true and true.isdisjoint(others) else []
        lack = 'leave the range from 0 to 1, and are no label of'
    if others:
        lack += f' {files.truth_name}: left out ({abridged(list(map(shown, others)))})'
        note = errors.Note(lack, len(others), len(classes), 'columns')
        name = printable(scores.source.name)
        files.warnings.append(errors.DataWarning('unknown-ids', name, note))
    return others


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
        y_score = np.column_stack([each[rows[scored]] for each in numbers])
        values[part][scored] = metric.update(y_true[scored], y_score)
        metric.update_missing(y_true[~scored])
    return values, compute.list_value_length(labels).to_numpy()


def _one_hot(
    true: Records, classes: list[str], scores: str
) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the samples and classes of a truth that has 0 or 1 for each class."""
    import pyarrow

    names = {*true.columns.column_names} - {*true.layout.texts}
    if other := names.difference(classes):
        found = f'a column {shown(min(other))}'
        expected = f'one for each class of {printable(scores)}'
        raise FormatError(true.source.name, '', '', found, expected)
    columns = [true.columns[name].to_numpy() for name in classes]
    for name, numbers in zip(classes, columns, strict=True):
        if len(wrong := np.flatnonzero((numbers != 0) & (numbers != 1))):
            raise NumberedRows.error(true, wrong, name, f'{numbers[wrong[0]]:g}', '0 or 1')
    samples, labels = np.column_stack(columns).nonzero()
    ends = np.bincount(samples, minlength=len(true)).cumsum()
    return unique_ids(true), pyarrow.LargeListArray.from_arrays(np.append(0, ends), labels)


def _true_labels(
    true: Records, classes: list[str], scores: str
) -> tuple[pyarrow.Array, pyarrow.LargeListArray]:
    """Return the samples of a truth, each once, and the classes (as numbers) of each."""
    import pyarrow
    from pyarrow import compute

    if 'labels' in true.layout.by_role:
        lists = true['labels']
        if not is_list(lists):
            lists = compute.split_pattern(none_if_empty(lists), ',')
        rows = codes = compute.list_parent_indices(lists).to_numpy()
        ids = unique_ids(true)
        words = lists.flatten()
    else:
        true.refuse_empty('id')
        encoded = true['id'].dictionary_encode()
        given = compute.not_equal(true['label'], '')
        rows = np.flatnonzero(given.to_numpy(zero_copy_only=False))
        ids = encoded.dictionary
        codes = encoded.indices.to_numpy()[rows]
        words = true['label'].filter(given)
    labels = places_of(words, pyarrow.array(classes, words.type))
    role = 'labels' if 'labels' in true.layout.by_role else 'label'
    if len(wrong := np.flatnonzero(labels < 0)):
        word = words[wrong[0]].as_py()
        found = shown(word)
        between = ', between commas' if role == 'labels' and ' ' in word else ''
        expected = f'classes of {printable(scores)}{between}'
        if len(wrong) == len(labels) and (cause := likely_cause(words.to_pylist(), classes)):
            expected += f'; no label is a class: {cause}'
        raise true.error(np.unique(rows[wrong]), role, found, expected)
    keys = codes * len(classes) + labels
    again = np.flatnonzero(first_equal(keys) != np.arange(len(keys)))
    if len(again):
        found = f'{shown(words[again[0]].as_py())} twice'
        raise true.error(np.unique(rows[again]), role, found, 'each label once')
    ends = np.bincount(codes, minlength=len(ids)).cumsum()
    labels = labels[codes.argsort(kind='stable')]
    return ids, pyarrow.LargeListArray.from_arrays(np.concatenate([[0], ends]), labels)

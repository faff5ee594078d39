"""The files of a challenge: name their columns, read them, match rows by id, score in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from statistics import mode
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import errors
from mediaeval_ap.choices import BETWEEN_LABELS, plain_text, turned_round
from mediaeval_ap.errors import FormatError, ParameterError, printable, shown
from mediaeval_ap.evaluation.data_warnings import IdPolicy, likely_cause, no_overlap, overlap
from mediaeval_ap.metrics.accumulator import Accumulator
from mediaeval_ap.metrics.arguments import on_cpu
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.columnar import holds_any, is_list
from mediaeval_ap.tables.layouts import RecordLayout, column_at
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.records import Records, read_records
from mediaeval_ap.tables.table import Frame
from mediaeval_ap.tables.text.wrong_lines import EXCHANGED

if TYPE_CHECKING:
    import pandas
    import pyarrow

Input: TypeAlias = 'Frame | NDArray[Any]'
Columns = Mapping[str, str | int]  # the name or the position of a column, by role
Shape = Mapping[str, str | None]  # the challenge's name of a column, or None, by role
BEST_FIRST = {'rank': 1, 'score': -1}  # roles that sort rows of labels; scores descend
CONFIDENCE = 'confidence'
NUMBER_ROLES = {CONFIDENCE, *BEST_FIRST}  # their columns hold numbers, and end a shape
ONE_LABEL_PER_ROW: list[Shape] = [
    {'label': None, 'rank': 'rank'},
    {'label': None, 'score': 'score'},
    {'label': None},
]
WRONG_SEPARATORS = ',;|[]'  # between labels in a field, perhaps with quotes
_split_at_wrong_separators = re.compile(r"""[^,;|\[\]'"]+""").findall
SPLIT_BY_PYARROW_ALONE = '\v\f\r'  # the format splits only at CR LF, at none of these alone
QUERIES_IN_PIECE = 100_000  # half and twice as many take as long; memory grows
_is_id_header = re.compile(
    r'(?i:(?:.*[ _-])?id|fname|filename|image|query|sample|user)|.*[a-z]I[dD]'
).fullmatch


@dataclass(frozen=True)
class Task:
    """The shapes of columns that a truth and predictions may have; each file has one of them."""

    # If a shape has only an id, each further column holds the numbers of one class. A truth of this
    # shape has 0 and 1, and the same classes as the predictions; either may be an array.
    truth: Sequence[Shape]
    predictions: Sequence[Shape]

    def layouts(self, columns: Columns | None, truth_columns: Columns | None) -> Layouts:
        """Return the layouts of both files; `columns` serves both if given alone."""
        for_predictions = _checked(columns, 'columns')
        for_truth = _checked(truth_columns, 'truth_columns')
        named = {'columns': for_predictions, 'truth_columns': for_truth}
        as_options = {name: _as_option(columns) for name, columns in named.items() if columns}
        parameter = 'truth_columns'
        if truth_columns is None:
            parameter = 'columns'
            roles, true_roles = _roles(self.predictions), _roles(self.truth)
            if for_predictions.keys() - roles - true_roles:
                _refuse_roles(for_predictions, [*self.predictions, *self.truth], 'columns')
            both = for_predictions.items()
            for_truth = {role: name for role, name in both if role in true_roles}
            for_predictions = {role: name for role, name in both if role in roles}
        predictions = _layouts_of_shapes(self.predictions, for_predictions, 'columns', 'columns')
        truth = _layouts_of_shapes(self.truth, for_truth, parameter, 'truth_columns')
        return Layouts(truth, predictions, as_options)


class Layouts(NamedTuple):
    truth: list[RecordLayout]
    predictions: list[RecordLayout]
    as_options: dict[str, str]  # the columns that the user named, by parameter

    def read(self, truth: Input, predictions: Input) -> tuple[Records, Records]:
        if not self.predictions[0].other_numbers:
            true = read_records(TableInput.of(truth, 'truth'), self.truth)
            return true, read_records(TableInput.of(predictions, 'predictions'), self.predictions)
        # Read first: a truth of 0 and 1 has its classes.
        scores_input = TableInput.of(on_cpu(predictions, 'scores'), 'scores')
        scores = read_records(scores_input, self.predictions, allow_arrays=True)
        classes = frozenset(scores.classes)
        layouts = [replace(layout, classes=classes) for layout in self.truth]
        truth_input = TableInput.of(on_cpu(truth, 'truth'), 'truth')
        return read_records(truth_input, layouts, allow_arrays=True, like=scores), scores


class Files:
    """A truth and predictions; `match` pairs their rows by id."""

    def __init__(
        self, layouts: Layouts, truth: Input, predictions: Input, policy: IdPolicy, name: str | None
    ) -> None:
        self.name = check_name(name)
        self.policy = policy
        self._columns = layouts.as_options
        try:
            self.truth, self.predictions = layouts.read(truth, predictions)
        except FormatError as error:
            if not error.remedy:
                with suppress(errors.Error):
                    inputs = (TableInput.of(value).value for value in (truth, predictions))
                    if all(getattr(value, 'is_regular_file', True) for value in inputs):
                        layouts.read(predictions, truth)
                        error = error.with_remedy(EXCHANGED)
            raise error from None
        for records in self.truth, self.predictions:
            first_id = records['id'][0].as_py()
            if not records.layout.has_header and _is_id_header(first_id.strip()):
                expected = 'an id, as columns given by position mean a file without a header'
                raise records.error([0], 'id', f'{shown(first_id)}, as in a header', expected)
        self.truth.refuse_padded_as_in(self.predictions)
        self.predictions.refuse_padded_as_in(self.truth)
        self.truth_name = printable(self.truth.source.name)
        self.warnings: list[errors.DataWarning] = []  # issued all at once, with the score
        self.notes = [*self.truth.notes('the truth'), *self.predictions.notes('predictions')]
        columns = self.predictions.layout.by_role
        sorted_by = [columns[role] for role in BEST_FIRST if role in columns]
        self.notes += [f'predictions are sorted by {column}' for column in sorted_by]

    def match(
        self,
        ids: pyarrow.Array,
        predicted: pyarrow.Array,
        codes: NDArray[np.integer]
        | None = None,  # positions in `predicted` of all rows of the file
        are_scored: NDArray[np.bool_] | None = None,  # predictions may lack other ids
    ) -> NDArray[np.int64]:
        """Match the ids of the truth with the predicted ids; return the positions to score.

        Sets `self.ids`, and `self.rows`: for each scored id its position in `predicted`, or -1 if
        it is missing and counts 0. With ids a, b, c and predicted c, a, and ``missing='zero'``, it
        returns [0, 1, 2], and rows are [1, -1, 0].
        """
        import pyarrow

        if are_scored is None:
            are_scored = np.ones(len(ids), dtype=np.bool_)
        rows = positions_of(ids, predicted)
        missing = np.flatnonzero(are_scored & (rows < 0))
        is_unknown = positions_of(predicted, ids) < 0
        is_disjoint = bool(is_unknown.all())
        if codes is not None:
            is_unknown = is_unknown[codes]
        unknown = np.flatnonzero(is_unknown)
        self.counts = {'missing': len(missing), 'unknown': len(unknown)}
        name = printable(self.predictions.source.name)
        if len(unknown):
            self._expect_known(unknown, predicted, ids, is_disjoint=is_disjoint)
        if len(missing):
            self._expect_predicted(ids, missing)
        if len(unknown):
            have_unknown = f'have an id that {self.truth_name} lacks, and are left out'
            note = errors.Note(have_unknown, len(unknown), len(self.predictions), 'rows')
            self.warnings.append(errors.DataWarning('unknown-ids', name, note))
        if self.policy.missing == 'skip':
            are_scored = are_scored & (rows >= 0)
        scored = np.flatnonzero(are_scored)
        if not len(scored):
            errors.warn_caller(self.warnings)
            raise errors.UndefinedScoreError(f'{name}: no id of {self.truth_name} is left to score')
        self.ids = ids.take(pyarrow.array(scored))
        self.rows = rows[scored]
        return scored

    def _expect_known(
        self,
        unknown: NDArray[np.int64],
        predicted: pyarrow.Array,
        ids: pyarrow.Array,
        *,
        is_disjoint: bool,
    ) -> None:
        """Raise for rows with an unknown id, unless the policy drops them; warn of the cause."""
        truth = self.truth_name
        cause = ''
        if is_disjoint and self.policy.unknown == 'error':
            cause = likely_cause(predicted.to_pylist(), ids.to_pylist())
        first = self.predictions['id'][unknown[0]].as_py()
        self.policy.refuse_unknown(self.predictions, unknown, 'id', first, truth=truth, cause=cause)
        if is_disjoint or _zero_in(predicted, ids):
            name = self.predictions.source.name
            texts = predicted.to_pylist()
            self.warnings += overlap(name, 'ids', texts, reference=truth, known=ids.to_pylist())

    def _expect_predicted(self, ids: pyarrow.Array, missing: NDArray[np.int64]) -> None:
        """Raise for missing ids, or warn that the policy leaves them out or scores them."""
        source = self.predictions.source.name
        field = self.predictions.layout.by_role['id']
        first = ids[missing[0]].as_py()
        truth = self.truth_name
        self.policy.refuse_missing(source, field, first, len(missing), truth=truth)
        effect = 'left out'
        if self.policy.missing == 'zero':
            effect = 'scored as if nothing were predicted'
        finding = f'no row for {len(missing)} of {len(ids)} ids of {truth}, {effect}'
        self.warnings.append(errors.DataWarning('missing-ids', printable(source), finding))

    def pieces(self, size: int) -> Iterator[slice]:
        """Cut the ids into slices of `size`, which bounds the memory; show progress."""
        begins = range(0, len(self.ids), size)
        for begin in tracked(begins, 'scoring', ' pieces'):
            yield slice(begin, min(begin + size, len(self.ids)))

    def update_metrics(
        self, metrics: Sequence[Accumulator], arguments_of: Callable[[slice], Sequence[Any]]
    ) -> list[list[Any]]:
        """Update metrics piece by piece; return what each metric returned for each piece."""
        pieces_by_metric: list[list[Any]] = [[] for _ in metrics]
        for part in self.pieces(QUERIES_IN_PIECE):
            arguments = arguments_of(part)
            for pieces, metric in zip(pieces_by_metric, metrics, strict=True):
                pieces.append(metric.update(*arguments))
        return pieces_by_metric

    def warn_of_other_labels(
        self, labels: pyarrow.Array, predicted: pyarrow.Array, *, has_hits: bool
    ) -> None:
        """Warn if a wrong separator joins true labels, zeros are lost, or all labels differ."""
        if has_hits and not (holds_any(predicted, WRONG_SEPARATORS) or _zero_in(predicted, labels)):
            return
        true_labels = set(labels.unique().to_pylist()) - {None, ''}
        predicted_labels = set(predicted.unique().to_pylist()) - {None, ''}
        hits = true_labels & predicted_labels
        separators = {*WRONG_SEPARATORS}.difference(*hits)  # a character of a hit is part of labels
        joined = [
            label
            for label in predicted_labels - true_labels
            if separators & {*label} and true_labels & {*_split_at_wrong_separators(label)}
        ]
        if joined:
            finding = (
                f'{len(joined):,} of {len(predicted_labels):,} predicted labels, as '
                f'{shown(min(joined))}, are not in {self.truth_name}, but their parts are'
            )
            marks = ' '.join(sorted(separators.intersection(''.join(joined))))
            cause = f'labels are separated by spaces, not by {marks}'
            self.warnings += no_overlap(self.predictions.source.name, finding, cause)
        if true_labels and predicted_labels and (hits or not joined):
            about = self.predictions.source.name, 'predicted labels', predicted_labels
            self.warnings += overlap(*about, self.truth_name, true_labels)

    def score(
        self,
        means: Mapping[str, Callable[[], float]],
        values: Mapping[str, NDArray[Any]],
        *,
        parameters: Mapping[str, Any],
        counts: Mapping[str, int],
        table: Mapping[str, Any] | pandas.DataFrame | None,
        queries: pyarrow.Array | None = None,
    ) -> Score:
        """Return the score: the last mean, and values of `queries`, by default the scored ids."""
        queries = self.ids if queries is None else queries
        if table is not None:
            import pandas

            table = pandas.DataFrame(table)
        errors.warn_caller(self.warnings)  # before `compute`, which may find no score defined
        mean_by_name = {name: compute() for name, compute in means.items()}
        last_metric = next(reversed(mean_by_name))
        policy = {'missing': self.policy.missing, 'unknown': self.policy.unknown}
        return Score(
            metric=last_metric,
            value=mean_by_name[last_metric],
            parameters={**parameters, **policy, **self._columns},
            inputs={'truth': self.truth.source, 'predictions': self.predictions.source},
            counts={'queries': len(queries), **counts, **self.counts},
            table=table,
            notes=self.notes,
            warnings=tuple(self.warnings),
            queries=queries,
            values=values,
            means=mean_by_name,
            run=self.name,
        )


class LabelsById:
    """The labels of each id of a file, from one field or from several rows."""

    def __init__(self, records: Records) -> None:
        import pyarrow

        # For several rows, the position in `ids` of the id of each row.
        self.codes: NDArray[np.int64] | None = None
        if 'labels' in records.layout.by_role:
            self.ids = unique_ids(records)
            lists = records['labels']
            if not is_list(lists):
                lists = split_labels(lists)
            offsets = lists.offsets.to_numpy()
            labels = lists.values
        else:
            records.refuse_empty('id')
            records.refuse_empty('label')
            records.refuse_several('label')
            ids = records['id'].dictionary_encode()
            self.ids = ids.dictionary
            self.codes = ids.indices.to_numpy()
            offsets = np.append(0, np.bincount(self.codes).cumsum())
            order = _best_first(records, self.codes)
            labels = records['label'].take(pyarrow.array(order))
        # The last list is empty: `take` returns it for position -1.
        self._lists = pyarrow.LargeListArray.from_arrays(np.append(offsets, offsets[-1]), labels)

    def take(self, positions: NDArray[np.int64]) -> pyarrow.LargeListArray:
        """Return the lists of the ids at these positions, and an empty list for -1."""
        import pyarrow

        return self._lists.take(pyarrow.array(np.where(positions < 0, len(self.ids), positions)))


def _best_first(records: Records, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of rows by id, then by rank or score, else by position in the file."""
    for role, sign in BEST_FIRST.items():
        if role in records.layout.by_role:
            numbers = records[role].to_numpy()
            if len(empty_rows := np.flatnonzero(np.isnan(numbers))):
                raise records.error(empty_rows, role, 'nothing', 'a number to sort rows by')
            return np.lexsort((sign * numbers, codes))
    return codes.argsort(kind='stable')


def unique_ids(records: Records) -> pyarrow.Array:
    """Return the ids of a file; refuse empty and repeated ones."""
    ids = records['id']
    records.refuse_empty('id')
    first_rows = positions_of(ids, ids)
    repeats = np.flatnonzero(first_rows != np.arange(len(ids)))
    if len(repeats):
        repeat = repeats[0]
        actual = f'{shown(ids[repeat].as_py())} again, as in {records.place(first_rows[repeat])}'
        raise records.error(repeats, 'id', actual, 'each id once')
    return ids


def labels_at(labels: pyarrow.Array, positions: NDArray[np.int64]) -> pyarrow.Array:
    """Return the labels at these positions, and empty text for -1."""
    import pyarrow

    return labels.take(pyarrow.array(positions, mask=positions < 0)).fill_null('')


def positions_of(texts: pyarrow.Array, among: pyarrow.Array) -> NDArray[np.int64]:
    """Return the first position of each text in `among`, from 0; -1 if it is not there."""
    from pyarrow import compute

    indices = compute.index_in(texts, value_set=among).fill_null(-1)
    positions: NDArray[np.int64] = indices.to_numpy().astype(np.int64)
    return positions


def _zero_in(*arrays: pyarrow.Array) -> bool:
    from pyarrow import compute

    return any(compute.any(compute.starts_with(texts, '0')).as_py() for texts in arrays)


def none_if_empty(texts: pyarrow.Array) -> pyarrow.Array:
    import pyarrow
    from pyarrow import compute

    return compute.if_else(compute.equal(texts, ''), pyarrow.scalar(None, texts.type), texts)


def split_labels(texts: pyarrow.Array) -> pyarrow.LargeListArray:
    """Split each text into its words, at any number of spaces, tabs and line ends."""
    import pyarrow
    from pyarrow import compute

    if holds_any(texts, SPLIT_BY_PYARROW_ALONE):
        lists = compute.split_pattern_regex(texts, BETWEEN_LABELS)
    else:
        lists = compute.ascii_split_whitespace(texts)  # in half the time
    words = lists.flatten()
    is_word = compute.not_equal(words, '')
    n_words_before = np.concatenate([[0], is_word.to_numpy(zero_copy_only=False).cumsum()])
    offsets = n_words_before[lists.offsets.to_numpy()]
    return pyarrow.LargeListArray.from_arrays(offsets, words.filter(is_word))


def _roles(shapes: Sequence[Shape]) -> set[str]:
    return {role for shape in shapes for role in shape}


def _as_option(columns: Columns) -> str:
    """Write columns as an option of the command, such as id=user,labels=items."""
    return ','.join(f'{role}={column}' for role, column in columns.items())


def _checked(columns: object, parameter: str) -> dict[str, str | int]:
    """Validate columns by role: all names or all positions, and each column once."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        expected = "columns by role, as {'id': 'user', 'labels': 'items'}"
        raise ParameterError(f'found {shown(columns)}, expected {expected}', parameter)
    checked: dict[str, str | int] = {}
    for role, column in columns.items():
        is_position = isinstance(column, Integral) and not isinstance(column, bool)
        if text := plain_text(column):
            checked[str(role)] = text
        elif is_position and int(column) > 0:
            checked[str(role)] = int(column)
        else:
            expected = 'the name of a column, or its position from 1'
            raise ParameterError(f'found {shown(column)}, expected {expected}', parameter)
    if len({type(column) for column in checked.values()}) > 1:
        expected = 'either names or, for a file without a header, positions'
        raise ParameterError(f'found {_as_option(checked)}, expected {expected}', parameter)
    if len(set(checked.values())) < len(checked):
        raise ParameterError(f'found {_as_option(checked)}, expected each column once', parameter)
    return checked


def _refuse_roles(columns: Columns, shapes: Sequence[Shape], parameter: str) -> NoReturn:
    if meant := turned_round(columns, _roles(shapes)):
        raise ParameterError(f'found {shown(dict(columns))}, expected {meant}', parameter)
    expected = ' or '.join(dict.fromkeys(','.join(shape) for shape in shapes))
    if _are_positions(columns):
        expected = f'the positions of {expected}'
    raise ParameterError(f'found {",".join(columns)}, expected {expected}', parameter)


def _layouts_of_shapes(
    shapes: Sequence[Shape],
    columns: Columns,
    parameter: str,  # that gave the columns
    own_parameter: str,  # for this file alone
) -> list[RecordLayout]:
    """Return the layouts of a file: one for each shape that has all roles of `columns`."""
    remedy = ''
    if not columns or parameter != own_parameter:
        roles = ' or '.join(','.join(f'{role}=…' for role in shape) for shape in shapes)
        option = own_parameter.replace('_', '-')
        remedy = f'; name other columns by --{option} {roles}, in Python {own_parameter}='
    layouts = []
    for shape in _fitting_shapes(shapes, columns, parameter):
        names = list(shape.values())
        if _are_positions(columns):
            names = list(map(column_at, names))
        n_texts = len(names) - len(NUMBER_ROLES & shape.keys())
        lists_remedy = ''
        if 'label' in shape and 'labels' in _roles(shapes):
            as_lists = {'id': names[0], 'labels': names[n_texts - 1]}
            lists_remedy = f', or lists by {own_parameter}={as_lists}'
        layouts.append(
            RecordLayout(
                texts=tuple(names[:n_texts]),
                lists_remedy=lists_remedy,
                numbers=tuple(names[n_texts:]),
                roles=tuple(shape),
                other_numbers=shape.keys() == {'id'},
                has_header=not _are_positions(columns),
                remedy=remedy,
            )
        )
    return layouts


def _fitting_shapes(
    shapes: Sequence[Shape], columns: Columns, parameter: str
) -> list[dict[str, Any]]:
    """Return the shapes with all roles of `columns`, and a column of its own for each role."""
    has_classes = any(shape.keys() == {'id'} for shape in shapes)
    if _are_positions(columns) and has_classes and columns.keys() == {'id'}:
        expected = 'the name of a column, as only a header names the classes'
        raise ParameterError(f'found {_as_option(columns)}, expected {expected}', parameter)
    fitting = [
        {role: columns.get(role, name) for role, name in shape.items()}
        for shape in shapes
        if columns.keys() == shape.keys()
        or (columns.keys() < shape.keys() and not _are_positions(columns))
    ]
    if not fitting:
        _refuse_roles(columns, shapes, parameter)
    # If "score" holds the labels, it cannot also sort the rows.
    distinct = [shape for shape in fitting if len({*shape.values()} - {None}) == len(shape)]
    if not distinct:
        repeated = mode(fitting[0].values())
        roles = ' and '.join(role for role, name in fitting[0].items() if name == repeated)
        raise ParameterError(
            f'found {shown(repeated)} as both {roles}, expected a column of its own for each',
            parameter,
        )
    return distinct


def _are_positions(columns: Columns) -> bool:
    return any(isinstance(column, int) for column in columns.values())

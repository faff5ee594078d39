"""Files of challenges: their columns as values; read, matched by id, cut into pieces, scored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import errors
from mediaeval_ap.choices import BETWEEN_LABELS, Missing, Unknown, plain_text
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import ParameterError, printable, shown
from mediaeval_ap.evaluation.data_warnings import IdPolicy, likely_cause, no_overlap
from mediaeval_ap.metrics import Accumulator
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.result import notes_of
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.results.score import Score
from mediaeval_ap.tables.columnar import holds_any, is_list
from mediaeval_ap.tables.layouts import RecordLayout, column_at
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.records import Records, read_records

if TYPE_CHECKING:
    import pandas
    import pyarrow

Columns = Mapping[str, str | int]  # the name or position of the column of each role
Shape = Mapping[str, str | None]  # the challenge's own name of each role; None if it has none
BEST_FIRST = {'rank': 1, 'score': -1}  # roles that sort rows of labels; scores descend
CONFIDENCE = 'confidence'
OF_NUMBERS = {CONFIDENCE, *BEST_FIRST}  # roles of columns of numbers, the last of their shape
ROWS: list[Shape] = [*({'label': None, by: by} for by in BEST_FIRST), {'label': None}]
JOINTS = ',;|[]'  # what stands between labels by mistake, perhaps with quotes
_parts = re.compile(r"""[^,;|\[\]'"]+""").findall
OTHERWISE_SPLIT = '\v\f\r'  # pyarrow splits at each; the format at none, but at CR LF
QUERIES_IN_PIECE = 100_000  # half and twice as many take as long; memory grows

# What a first line without data would have above ids.
_heads_ids = re.compile(
    r'(?i:(?:.*[ _-])?id|fname|filename|image|query|sample|user)|.*[a-z]I[dD]'
).fullmatch


@dataclass(frozen=True)
class Task:
    """The columns of the files of a challenge, of which a file has those of one shape.

    Where that has an id alone, every other column holds the numbers of a class; of a truth, 0 and 1
    in the classes of the predictions, which may be an array of them in the order of these.
    """

    truth: Sequence[Shape]
    predictions: Sequence[Shape]


class Files:
    """A truth and predictions, whose rows `match` pairs by id."""

    def __init__(
        self,
        task: Task,
        truth: Any,
        predictions: Any,
        columns: Columns | None,
        truth_columns: Columns | None,
        missing: Missing,
        unknown: Unknown,
        name: str | None,
    ) -> None:
        self.name = check_name(name)
        given = {'columns': columns, 'truth_columns': truth_columns}
        of_truth, of_predictions = _layouts_of_files(task, **given)
        self.policy = IdPolicy(missing, unknown)
        if of_predictions[0].other_numbers:  # whose names a truth of 0 and 1 has, too
            self.predictions = read_records(TableInput.of(predictions), of_predictions)
            classes = frozenset(self.classes)
            of_truth = [replace(each, classes=classes) for each in of_truth]
            if isinstance(truth, np.ndarray):
                of_truth = of_truth[-1:]
                truth = self._named(truth, of_truth[0].by_role['id'])
        self.truth = read_records(TableInput.of(truth), of_truth)
        if not of_predictions[0].other_numbers:
            self.predictions = read_records(TableInput.of(predictions), of_predictions)
        for records in self.truth, self.predictions:
            first = records['id'][0].as_py()
            if not records.layout.has_header and _heads_ids(first.strip()):
                expected = 'an id, as columns given by position mean a file without a header'
                raise records.error([0], 'id', f'{shown(first)}, as in a header', expected)
        self.truth.refuse_padded_as_in(self.predictions)
        self.predictions.refuse_padded_as_in(self.truth)
        self.truth_name = printable(self.truth.source.name)
        self.warnings: list[errors.DataWarning] = []  # collected, and given out with the score
        self._columns = {name: _as_text(each) for name, each in given.items() if each}

    @property
    def classes(self) -> list[str]:
        """The columns of the predictions but that of the id."""
        names: list[str] = self.predictions.columns.column_names
        return [name for name in names if name not in self.predictions.layout.texts]

    def _named(self, truth: NDArray[Any], id_column: str) -> pyarrow.Table:
        """Return an array of 0 and 1 with the ids and classes of the predictions."""
        import pyarrow

        expected = len(self.predictions), len(self.classes)
        if truth.shape != expected:
            found = f'an array of shape {truth.shape}, expected {expected}, as of the scores'
            raise ParameterError(f'truth: found {found}')
        columns = dict(zip(self.classes, truth.T, strict=True))
        return pyarrow.table({id_column: self.predictions['id'], **columns})

    def match(
        self,
        ids: pyarrow.Array,
        predicted: pyarrow.Array,
        codes: NDArray[np.integer] | None = None,
        are_scored: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """Find for each id of the truth its place among those predicted, or refuse ids.

        `codes` has the predicted id of each row, where rows are more than ids. Ids of which
        `are_scored` is False are left out, and may be missing. Returns the places of the ids that
        are scored; `self.rows` has, for each of these, the place of its prediction, or -1 for none.
        """
        import pyarrow

        rows = places_of(ids, predicted)
        is_unknown = places_of(predicted, ids) < 0
        scored = np.ones(len(ids), dtype=np.bool_) if are_scored is None else are_scored
        missing = np.flatnonzero((rows < 0) & scored)
        unknown = np.flatnonzero(is_unknown if codes is None else is_unknown[codes])
        self.counts = {'missing': len(missing), 'unknown': len(unknown)}
        name = printable(self.predictions.source.name)
        cause = ''
        if is_unknown.all():
            cause = likely_cause(predicted.to_pylist(), ids.to_pylist())
            finding = f'0 of {len(predicted):,} ids occur in {self.truth_name}'
            self.warnings += no_overlap(name, finding, cause)
        if len(unknown):
            first = self.predictions['id'][unknown[0]].as_py()
            self.policy.refuse_unknown(
                self.predictions, unknown, 'id', first, self.truth_name, cause
            )
        if len(missing):
            field = self.predictions.layout.by_role['id']
            source = self.predictions.source.name
            self.policy.refuse_missing(
                source, field, ids[missing[0]].as_py(), len(missing), self.truth_name
            )
            zero = self.policy.missing == 'zero'
            how = 'scored as if nothing were predicted' if zero else 'left out'
            text = f'no row for {len(missing)} of {len(ids)} ids of {self.truth_name}, {how}'
            self.warnings.append(errors.DataWarning('missing-ids', name, text))
        if len(unknown):
            lack = f'have an id that {self.truth_name} lacks, and are left out'
            note = errors.Note(lack, len(unknown), len(self.predictions), 'rows')
            self.warnings.append(errors.DataWarning('unknown-ids', name, note))
        kept = np.flatnonzero(scored & (rows >= 0) if self.policy.missing == 'skip' else scored)
        if not len(kept):
            errors.warn_caller(self.warnings)
            raise errors.UndefinedScoreError(f'{name}: no id of {self.truth_name} is left to score')
        self.ids = ids.take(pyarrow.array(kept))
        self.rows = rows[kept]
        return kept

    def pieces(self, size: int) -> Iterator[slice]:
        """Cut the ids into pieces, so that what is made of a piece needs little memory."""
        begins = range(0, len(self.ids), size)
        for begin in tracked(begins, 'scoring', ' pieces'):
            yield slice(begin, min(begin + size, len(self.ids)))

    def updated(
        self, metrics: Sequence[Any], inputs: Callable[[slice], Sequence[Any]]
    ) -> list[tuple[NDArray[Any], ...]]:
        """Update metrics piece by piece, and return of each its columns of values."""
        found: list[list[Any]] = [[] for _ in metrics]
        for part in self.pieces(QUERIES_IN_PIECE):
            given = inputs(part)
            for pieces, metric in zip(found, metrics, strict=True):
                columns = metric.update(*given)
                pieces.append(columns if isinstance(columns, tuple) else (columns,))
        return [tuple(map(np.concatenate, zip(*pieces, strict=True))) for pieces in found]

    def warn_of_other_labels(
        self, labels: pyarrow.Array, predicted: pyarrow.Array, *, has_hits: bool
    ) -> None:
        """Warn if predicted labels are several true ones, joined, or none is a true one."""
        if has_hits and not holds_any(predicted, JOINTS):
            return
        true, said = (set(each.unique().to_pylist()) - {None, ''} for each in (labels, predicted))
        joints = {*JOINTS}.difference(*(true & said))  # the others are part of labels
        joined = [each for each in said - true if joints & {*each} and true & {*_parts(each)}]
        if joined:
            finding = f'{len(joined):,} of {len(said):,} predicted labels, as '
            finding += f'{shown(min(joined))}, are not in {self.truth_name}, but their parts are'
            marks = ' '.join(sorted(joints.intersection(''.join(joined))))
            cause = f'labels are separated by spaces, not by {marks}'
            self.warnings += no_overlap(self.predictions.source.name, finding, cause)
        elif true and said and not true & said:
            finding = f'0 of {len(said):,} predicted labels occur in {self.truth_name}'
            cause = likely_cause(said, true)
            self.warnings += no_overlap(self.predictions.source.name, finding, cause)

    def score(
        self,
        metrics: Mapping[str, Accumulator],
        parameters: Mapping[str, Any],
        values: Mapping[str, NDArray[Any]],
        counts: Mapping[str, int],
        table: Mapping[str, Any] | pandas.DataFrame | None,
        warnings: Sequence[errors.DataWarning] = (),
        notes: Sequence[str] = (),
        definition: Definition | None = None,
    ) -> Score:
        """Return the score by metrics, the last of which gives the value."""
        if table is not None:
            import pandas

            table = pandas.DataFrame(table)
        warnings = (*self.warnings, *warnings)
        errors.warn_caller(warnings)  # also where the score is not defined
        means = {name: each.compute() for name, each in metrics.items()}
        metric = next(reversed(means))
        names = self.predictions.layout.by_role
        return Score(
            metric=metric,
            value=means[metric],
            parameters={
                **parameters,
                'missing': self.policy.missing,
                'unknown': self.policy.unknown,
                **self._columns,
            },
            inputs={'truth': self.truth.source, 'predictions': self.predictions.source},
            counts={'queries': len(self.ids), **counts, **self.counts},
            table=table,
            notes=[
                *self.truth.notes('the truth'),
                *self.predictions.notes('predictions'),
                *(f'predictions are sorted by {names[by]}' for by in BEST_FIRST if by in names),
                *notes,
            ],
            warnings=warnings,
            queries=self.ids,
            values=values,
            definition=definition,
            means=means,
            run=self.name,
        )

    def notes(self, n_queries: int, what: str) -> list[str]:
        """Return the note that some of the scored queries are special, if there are any."""
        return notes_of(n_queries, len(self.ids), what)


class LabelsById:
    """The labels of each id of a file: in one field, or one in each row, in the order of rows."""

    def __init__(self, records: Records) -> None:
        import pyarrow

        self.codes: NDArray[np.int64] | None = None  # of each row its id, if rows are more than ids
        if 'labels' in records.layout.by_role:
            self.ids = unique_ids(records)
            lists = records['labels']
            lists = lists if is_list(lists) else split(lists)
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
            labels = records['label'].take(pyarrow.array(_order_of_rows(records, self.codes)))
        # Behind them stands an empty list, for ids that the file lacks.
        self._lists = pyarrow.LargeListArray.from_arrays(np.append(offsets, offsets[-1]), labels)

    def n_labels(self, places: NDArray[np.int64]) -> int:
        """Return the number of labels of the ids at some places."""
        return int(np.diff(self._lists.offsets)[places].sum())

    def take(self, places: NDArray[np.int64]) -> pyarrow.LargeListArray:
        """Return the lists of the ids at some places; an empty one for place -1."""
        import pyarrow

        return self._lists.take(pyarrow.array(np.where(places < 0, len(self.ids), places)))


def _order_of_rows(records: Records, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows by id, best first: as they stand, or as a column sorts them."""
    for by, sign in BEST_FIRST.items():
        if by in records.layout.by_role:
            numbers = records[by].to_numpy()
            if len(lacking := np.flatnonzero(np.isnan(numbers))):
                raise records.error(lacking, by, 'nothing', 'a number, by which rows are sorted')
            return np.lexsort((sign * numbers, codes))
    return codes.argsort(kind='stable')


def unique_ids(records: Records) -> pyarrow.Array:
    """Return the ids of a file, or refuse empty and repeated ones."""
    ids = records['id']
    records.refuse_empty('id')
    first = places_of(ids, ids)
    again = np.flatnonzero(first != np.arange(len(ids)))
    if len(again):
        found = f'{shown(ids[again[0]].as_py())} again, as in {records.place(first[again[0]])}'
        raise records.error(again, 'id', found, 'each id once')
    return ids


def taken(texts: pyarrow.Array, places: NDArray[np.int64]) -> pyarrow.Array:
    """Return the texts at some places; an empty one for place -1."""
    import pyarrow

    return texts.take(pyarrow.array(places, mask=places < 0)).fill_null('')


def places_of(texts: pyarrow.Array, among: pyarrow.Array) -> NDArray[np.int64]:
    """Return the first place of each text among others, from 0; -1 if there is none."""
    from pyarrow import compute

    found = compute.index_in(texts, value_set=among).fill_null(-1)
    places: NDArray[np.int64] = found.to_numpy().astype(np.int64)
    return places


def none_if_empty(texts: pyarrow.Array) -> pyarrow.Array:
    """Return texts, null where empty."""
    import pyarrow
    from pyarrow import compute

    return compute.if_else(compute.equal(texts, ''), pyarrow.scalar(None, texts.type), texts)


def split(texts: pyarrow.Array) -> pyarrow.LargeListArray:
    """Split texts at spaces, tabs and line ends, however many, into a list of words each."""
    import pyarrow
    from pyarrow import compute

    if holds_any(texts, OTHERWISE_SPLIT):
        lists = compute.split_pattern_regex(texts, BETWEEN_LABELS)
    else:
        lists = compute.ascii_split_whitespace(texts)  # in half the time
    words = lists.flatten()
    kept = compute.not_equal(words, '')
    before = np.concatenate([[0], kept.to_numpy(zero_copy_only=False).cumsum()])
    offsets = before[lists.offsets.to_numpy()]
    return pyarrow.LargeListArray.from_arrays(offsets, words.filter(kept))


def _layouts_of_files(
    task: Task, columns: Any, truth_columns: Any
) -> tuple[list[RecordLayout], list[RecordLayout]]:
    """Return the layouts of a truth and of predictions; `columns` holds for both if it is alone."""
    given = _checked(columns, 'columns')
    parameter = 'columns'
    if truth_columns is not None:
        in_truth = _checked(truth_columns, 'truth_columns')
        parameter = 'truth_columns'
    else:
        of_truth, of_predictions = (
            {role for shape in shapes for role in shape}
            for shapes in (task.truth, task.predictions)
        )
        if given.keys() - of_truth - of_predictions:
            raise _wrong_roles(given, [*task.predictions, *task.truth], 'columns')
        in_truth = {role: given[role] for role in given if role in of_truth}
        given = {role: given[role] for role in given if role in of_predictions}
    predicted = _layouts(task.predictions, given, 'columns', 'columns')
    return _layouts(task.truth, in_truth, parameter, 'truth_columns'), predicted


def _as_text(columns: Columns) -> str:
    """Return columns as the command takes them."""
    return ','.join(f'{role}={column}' for role, column in columns.items())


def _checked(columns: Any, parameter: str) -> dict[str, str | int]:
    """Return columns by role, each once and all of one kind, names or positions."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        expected = "columns by role, as {'id': 'user', 'labels': 'items'}"
        raise ParameterError(f'{parameter}: found {shown(columns)}, expected {expected}')
    checked: dict[str, str | int] = {}
    for role, column in columns.items():
        is_position = isinstance(column, Integral) and not isinstance(column, bool)
        if text := plain_text(column):
            checked[str(role)] = text
        elif is_position and int(column) > 0:
            checked[str(role)] = int(column)
        else:
            expected = 'the name of a column, or its position from 1'
            raise ParameterError(f'{parameter}: found {shown(column)}, expected {expected}')
    if len({type(column) for column in checked.values()}) > 1:
        expected = 'either names or, for a file without a header, positions'
        raise ParameterError(f'{parameter}: found {_as_text(checked)}, expected {expected}')
    if len(set(checked.values())) < len(checked):
        raise ParameterError(f'{parameter}: found {_as_text(checked)}, expected each column once')
    return checked


def _wrong_roles(given: Columns, shapes: Sequence[Shape], parameter: str) -> ParameterError:
    known = ' or '.join(dict.fromkeys(','.join(shape) for shape in shapes))
    if any(isinstance(column, int) for column in given.values()):
        known = f'the positions of {known}'
    return ParameterError(f'{parameter}: found {",".join(given)}, expected {known}')


def _layouts(
    shapes: Sequence[Shape], given: Columns, parameter: str, own_parameter: str
) -> list[RecordLayout]:
    """Return the layouts of a file, by the shapes that have the roles given by a parameter."""
    by_position = any(isinstance(column, int) for column in given.values())
    if by_position and {'id'} in [shape.keys() for shape in shapes] and given.keys() <= {'id'}:
        expected = 'the name of a column, as only a header names the classes'
        raise ParameterError(f'{parameter}: found {_as_text(given)}, expected {expected}')
    fitting: list[dict[str, Any]] = [
        {role: given.get(role, name) for role, name in shape.items()}
        for shape in shapes
        if given.keys() <= shape.keys() and not (by_position and shape.keys() - given.keys())
    ]
    # No column has two roles: a label may be in a column that is called score.
    fitting = [columns for columns in fitting if len({None, *columns.values()}) > len(columns)]
    if not fitting:
        raise _wrong_roles(given, shapes, parameter)
    remedy = ''
    if not given or parameter != own_parameter:
        roles = ' or '.join(','.join(f'{role}=…' for role in shape) for shape in shapes)
        option = own_parameter.replace('_', '-')
        remedy = f'; name other columns by --{option} {roles}, in Python {own_parameter}='
    layouts = []
    for columns in fitting:
        names = [column_at(name) if by_position else name for name in columns.values()]
        n_texts = len(names) - len(OF_NUMBERS & columns.keys())
        layouts.append(
            RecordLayout(
                texts=tuple(names[:n_texts]),
                numbers=tuple(names[n_texts:]),
                roles=tuple(columns),
                other_numbers=columns.keys() == {'id'},
                has_header=not by_position,
                remedy=remedy,
            )
        )
    return layouts

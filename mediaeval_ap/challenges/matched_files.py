"""The files of a challenge: read, matched by id, cut into pieces, split into labels, scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import errors
from mediaeval_ap.challenges.columns import Columns, Shape, as_text, layouts_of_files, refuse_header
from mediaeval_ap.choices import (
    MAX_BYTES,
    MISSING,
    MISSING_REMEDY,
    UNKNOWN,
    UNKNOWN_REMEDY,
    Missing,
    Unknown,
    check_policy,
)
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.data_warnings import likely_cause, no_overlap
from mediaeval_ap.plain_text import BETWEEN_LABELS
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables.columnar import holds_any
from mediaeval_ap.tables.reading import Origin
from mediaeval_ap.tables.records import Records, read_records

if TYPE_CHECKING:
    import pandas
    import pyarrow

OTHERWISE_SPLIT = '\v\f\r'  # pyarrow splits at each; the format at none, but at CR LF
QUERIES_IN_PIECE = 100_000  # a choice: half and twice as many take as long; memory grows


class Files:
    """A truth and predictions; their rows are matched by id when a challenge has checked them."""

    def __init__(
        self,
        truth: tuple[Any, Sequence[Shape]],
        predictions: tuple[Any, Sequence[Shape]],
        *,
        columns: Columns | None = None,
        truth_columns: Columns | None = None,
        missing: Missing = 'error',
        unknown: Unknown = 'error',
        max_bytes: int = MAX_BYTES,
        other_numbers: bool = False,
    ) -> None:
        given = {'columns': columns, 'truth_columns': truth_columns}
        layouts = layouts_of_files(truth[1], predictions[1], **given, other_numbers=other_numbers)
        self.missing = check_policy('missing', missing, MISSING)
        self.unknown = check_policy('unknown', unknown, UNKNOWN)
        self.parameters = {name: as_text(each) for name, each in given.items() if each}
        self.truth, self.predictions = (
            read_records(Origin.of(origin, max_bytes), fitting)
            for origin, fitting in zip((truth[0], predictions[0]), layouts, strict=True)
        )
        refuse_header(self.truth)
        refuse_header(self.predictions)
        self.truth_name = printable(self.truth.source.name)
        self.warnings: list[errors.DataWarning] = []  # collected, and given out with the score
        self._given_out: set[str] = set()

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
        name, cause = printable(self.predictions.source.name), ''
        if is_unknown.all():
            cause = likely_cause(predicted.to_pylist(), ids.to_pylist())
            finding = f'0 of {len(predicted):,} ids occur in {self.truth_name}'
            self.warnings += no_overlap(name, finding, cause)
        if len(unknown) and self.unknown == 'error':
            remedy = f'; no id is in both files: {cause}' if cause else UNKNOWN_REMEDY
            first = self.predictions['id'][unknown[0]].as_py()
            found = f'{shown(first)}, which {self.truth_name} lacks'
            raise self.predictions.error(unknown, 'id', found, f'an id of the truth{remedy}')
        if len(missing):
            self._report_missing(ids, missing)
        if len(unknown):
            which = f'{len(unknown)} of {len(self.predictions)} rows'
            text = f'{which} have an id that {self.truth_name} lacks, and are left out'
            self.warnings.append(errors.UnknownIdsWarning(f'{name}: {text}'))
        kept = np.flatnonzero(scored & (rows >= 0) if self.missing == 'skip' else scored)
        if not len(kept):
            self._give_out(self.warnings)
            raise errors.UndefinedScoreError(f'{name}: no id of {self.truth_name} is left to score')
        self.ids, self.rows = ids.take(pyarrow.array(kept)), rows[kept]
        return kept

    def _report_missing(self, ids: pyarrow.Array, missing: NDArray[np.int64]) -> None:
        """Warn of ids that count zero or not at all, or refuse them."""
        name, n_missing = self.predictions.source.name, len(missing)
        if self.missing != 'error':
            where = f'{n_missing} of {len(ids)} ids of {self.truth_name}'
            how = 'scored as if nothing were predicted' if self.missing == 'zero' else 'left out'
            text = f'{printable(name)}: no row for {where}, {how}'
            self.warnings.append(errors.MissingIdsWarning(text))
            return
        others = f' and {n_missing - 1} more' if n_missing > 1 else ''
        found = f'no row for {shown(ids[missing[0]].as_py())}{others}'
        expected = f'one for each id of {self.truth_name}{MISSING_REMEDY}'
        field = self.predictions.layout.by_role['id']
        raise errors.FormatError(name, '', field, found, expected)

    def pieces(self, size: int | None = None) -> Iterator[slice]:
        """Cut the ids into pieces, so that what is made of a piece needs little memory."""
        size = size or QUERIES_IN_PIECE
        begins = range(0, len(self.ids), size)
        for begin in tracked(begins, 'scoring', ' pieces'):
            yield slice(begin, min(begin + size, len(self.ids)))

    def warn_of_other_labels(self, labels: pyarrow.Array, predicted: pyarrow.Array) -> None:
        """Warn if no predicted label is a true one; takes time, so call it if there is no hit."""
        true, said = (set(each.unique().to_pylist()) - {None, ''} for each in (labels, predicted))
        if true and said and not true & said:
            finding = f'0 of {len(said):,} predicted labels occur in {self.truth_name}'
            cause = likely_cause(said, true)
            self.warnings += no_overlap(self.predictions.source.name, finding, cause)

    def score(
        self,
        name: str,
        parameters: Mapping[str, str | int],
        counts: Mapping[str, int],
        values: Mapping[str, NDArray[Any]],
        table: Mapping[str, Any] | pandas.DataFrame | None,
        basis: Basis,
        warnings: Sequence[errors.DataWarning] = (),
    ) -> Score:
        """Return a score, which has `warnings` of its own beside those of the files."""
        if table is not None:
            import pandas

            table = pandas.DataFrame(table)
        policies = {'missing': self.missing, 'unknown': self.unknown}
        counts = {'queries': len(self.ids), **counts, **self.counts}
        warnings = (*self.warnings, *warnings)
        self._give_out(warnings)  # also where the score is not defined
        return Score(
            metric=name,
            parameters={**parameters, **policies, **self.parameters},
            inputs={'truth': self.truth.source, 'predictions': self.predictions.source},
            counts=counts,
            warnings=warnings,
            queries=self.ids,
            values=values,
            basis=basis,
            **basis.results(counts, table),
        )

    def _give_out(self, warnings: Sequence[errors.DataWarning]) -> None:
        """Give out warnings that were not given out with another score of the same files."""
        new = [warning for warning in warnings if str(warning) not in self._given_out]
        self._given_out.update(map(str, new))
        errors.warn_caller(new)


class LabelLists:
    """The labels of each id of a file: in one field, or one in each row, in the order of rows."""

    def __init__(self, records: Records) -> None:
        import pyarrow

        self.codes: NDArray[np.int64] | None = None  # of each row its id, if rows are more than ids
        if 'labels' in records.layout.by_role:
            self.ids, self._fields = unique_ids(records), records['labels']
            return
        records.refuse_empty('id')
        records.refuse_empty('label')
        records.refuse_several('label')
        ids = records['id'].dictionary_encode()
        self.ids, self.codes = ids.dictionary, ids.indices.to_numpy()
        ends = np.bincount(self.codes).cumsum()
        offsets = np.concatenate([[0], ends, ends[-1:]])  # an empty list behind those of ids
        labels = records['label'].take(pyarrow.array(self.codes.argsort(kind='stable')))
        self._lists = pyarrow.LargeListArray.from_arrays(offsets, labels)

    def take(self, places: NDArray[np.int64]) -> pyarrow.LargeListArray:
        """Return the lists of the ids at some places; an empty one for place -1."""
        import pyarrow

        if self.codes is None:
            return split(taken(self._fields, places))
        return self._lists.take(pyarrow.array(np.where(places < 0, len(self.ids), places)))


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

"""The files of a challenge: read, matched by id, cut into pieces, split into labels, scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import errors
from mediaeval_ap.choices import MISSING, UNKNOWN, Missing, Unknown, check_policy
from mediaeval_ap.errors import printable, shown
from mediaeval_ap.evaluation.data_warnings import no_overlap
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.plain_text import BETWEEN_LABELS
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.score import Basis, Score
from mediaeval_ap.tables.arrow import holds_any
from mediaeval_ap.tables.input_kinds import Origin
from mediaeval_ap.tables.layouts import RecordLayout
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
        truth: tuple[Any, Sequence[RecordLayout]],
        predictions: tuple[Any, Sequence[RecordLayout]],
        missing: Missing | None,  # None: a missing id is an error, and there is no other policy
        unknown: Unknown,
        max_bytes: int,
    ) -> None:
        self.missing = None if missing is None else check_policy('missing', missing, MISSING)
        self.unknown = check_policy('unknown', unknown, UNKNOWN)
        self.truth, self.predictions = (
            read_records(Origin.of(origin, max_bytes), layouts)
            for origin, layouts in (truth, predictions)
        )
        self.truth_name = printable(self.truth.source.name)
        self.warnings: list[errors.DataWarning] = []  # collected, and given out with the score

    def match(self, ids: pyarrow.Array) -> None:
        """Find for each id of the truth its row of the predictions (-1 for none), or refuse ids."""
        predicted = unique_ids(self.predictions)
        self.ids, self.rows = ids, places_of(ids, predicted)
        missing = np.flatnonzero(self.rows < 0)
        unknown = np.flatnonzero(places_of(predicted, ids) < 0)
        self.counts = {'missing': len(missing), 'unknown': len(unknown)}
        name, cause = self.predictions.source.name, ''
        if len(unknown) == len(predicted):
            cause = likely_cause(predicted.to_pylist(), ids.to_pylist())
            finding = f'0 of {len(predicted):,} ids occur in {self.truth_name}'
            self.warnings += no_overlap(name, finding, cause)
        if len(unknown) and self.unknown == 'error':
            remedy = f'; no id is in both files: {cause}' if cause else ''
            found = f'{shown(predicted[unknown[0]].as_py())}, which {self.truth_name} lacks'
            expected = f'an id of the truth, unless unknown ids are dropped{remedy}'
            raise self.predictions.error(unknown, id_column(self.predictions), found, expected)
        if len(missing):
            self._score_missing(missing)
        if len(unknown):
            which = f'{len(unknown)} of {len(predicted)} rows'
            text = f'{which} have an id that {self.truth_name} lacks, and are left out'
            self.warnings.append(errors.UnknownIdsWarning(f'{printable(name)}: {text}'))

    def _score_missing(self, missing: NDArray[np.int64]) -> None:
        """Warn that missing ids count zero, or refuse them."""
        name, n_missing = self.predictions.source.name, len(missing)
        if self.missing == 'zero':
            where = f'{n_missing} of {len(self.ids)} ids of {self.truth_name}'
            text = f'no row for {where}, scored as if nothing were predicted'
            self.warnings.append(errors.MissingIdsWarning(f'{printable(name)}: {text}'))
            return
        others = f' and {n_missing - 1} more' if n_missing > 1 else ''
        found = f'no row for {shown(self.ids[missing[0]].as_py())}{others}'
        unless = ', unless missing ids count zero' if self.missing else ''
        expected = f'one for each id of {self.truth_name}{unless}'
        raise errors.FormatError(name, '', id_column(self.predictions), found, expected)

    def in_order(self, texts: pyarrow.Array) -> pyarrow.Array:
        """Return texts of the predictions in the order of the ids, empty if there is no row."""
        import pyarrow

        return texts.take(pyarrow.array(self.rows, mask=self.rows < 0)).fill_null('')

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
    ) -> Score:
        if table is not None:
            import pandas

            table = pandas.DataFrame(table)
        policies = {'missing': self.missing} if self.missing else {}
        errors.warn_caller(self.warnings)  # also where the score is not defined
        counts = {'queries': len(self.ids), **counts, **self.counts}
        return Score(
            metric=name,
            parameters={**parameters, **policies, 'unknown': self.unknown},
            inputs={'truth': self.truth.source, 'predictions': self.predictions.source},
            counts=counts,
            warnings=tuple(self.warnings),
            queries=self.ids,
            values=values,
            basis=basis,
            **basis.results(counts, table),
        )


def id_column(records: Records) -> str:
    return records.layout.texts[0]


def unique_ids(records: Records) -> pyarrow.Array:
    """Return the ids of a file, its first column, or refuse empty and repeated ones."""
    name = id_column(records)
    ids = records[name]
    records.refuse_empty(name)
    first = places_of(ids, ids)
    again = np.flatnonzero(first != np.arange(len(ids)))
    if len(again):
        found = f'{shown(ids[again[0]].as_py())} again, as in {records.place(first[again[0]])}'
        raise records.error(again, name, found, 'each id once')
    return ids


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

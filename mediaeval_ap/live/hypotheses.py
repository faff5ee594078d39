"""The hypotheses that are there at a moment, as numbers, and the names that changed lately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import isfinite
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedList

from mediaeval_ap.errors import MissingHypothesisError, shown
from mediaeval_ap.live.known_shots import KnownShots
from mediaeval_ap.live.numbering import Distinct
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.tables import HYPOTHESIS, Column, Source, Table
from mediaeval_ap.tables.rows import explain_row

__all__ = ['SOURCE', 'Hypotheses']

SOURCE = Source('<live>')

# The code of its name, minus its confidence, the number of its shot.
Coded: TypeAlias = tuple[int, float, int]


class Hypotheses:
    """A multiset of hypotheses, sorted by name.

    Parameters
    ----------
    shots : KnownShots
        Numbers the shots, and says which count.

    Attributes
    ----------
    names : Distinct
        The names of all that were ever added.
    changed : set of int
        The codes of the names whose hypotheses changed since this was emptied last.
    is_whole : bool
        False once something, as an interrupt, ended a step halfway.

    Examples
    --------
    >>> hypotheses = Hypotheses(KnownShots(None))
    >>> hypotheses.add(('x', 'v', '1', 'ann', 0.5))
    >>> hypotheses.add(('x', 'v', '2', 'bob', 1))
    >>> hypotheses.remove(('x', 'v', '1', 'ann', 0.5))
    >>> hypotheses.names.values, len(hypotheses), hypotheses.changed
    (['ann', 'bob'], 1, {0, 1})
    """

    def __init__(self, shots: KnownShots) -> None:
        self.shots = shots
        self.names: Distinct[str] = Distinct(key=str)
        self.changed: set[int] = set()
        self.is_whole = True
        self._counted = SortedList()
        self._others = SortedList()  # of videos that do not count

    def __len__(self) -> int:
        return len(self._counted) + len(self._others)

    def __contains__(self, row: Sequence[Any]) -> bool:
        coded = self._known(row)
        return coded is not None and coded in self._among(coded)

    def add(self, row: Sequence[Any]) -> None:
        """Add a hypothesis, once more if it is there.

        Parameters
        ----------
        row : sequence
            The fields of a hypothesis.

        Raises
        ------
        FormatError
            When it is none; then nothing has changed.
        """
        coded = self._known(row)
        fields = plain_row(row) if coded is None else ()  # before anything changes
        try:
            if coded is None:
                *shot, name, confidence = fields
                coded = self.names.code(name), -confidence, self.shots.number(*shot)
            self.changed.add(coded[0])
            self._among(coded).add(coded)
            self.shots.hold(coded[2], 1)
        except BaseException:
            self.is_whole = False
            raise

    def extend(self, table: Table) -> None:
        """Add all hypotheses of a table.

        Parameters
        ----------
        table : Table
            A run.
        """
        texts = [table.texts(field) for field in HYPOTHESIS.texts]
        confidence = (-table.confidence).tolist()
        try:
            counted: list[Coded] = []
            others: list[Coded] = []
            for *shot, name, minus in zip(*texts, confidence, strict=True):
                number = self.shots.number(*shot)
                coded = self.names.code(name), minus, number
                (counted if self.shots.counts[number] else others).append(coded)
                self.shots.hold(number, 1)
                self.changed.add(coded[0])
            self._counted.update(counted)
            self._others.update(others)
        except BaseException:
            self.is_whole = False
            raise

    def remove(self, row: Sequence[Any]) -> None:
        """Remove a hypothesis, once if it is there more often.

        Parameters
        ----------
        row : sequence
            The fields of a hypothesis.

        Raises
        ------
        FormatError
            When it is none; then nothing has changed.
        MissingHypothesisError
            When it is not there; then nothing has changed.
        """
        self._remove(self._found(row))

    def change(self, row: Sequence[Any], confidence: float) -> None:
        """Put another confidence in the place of a hypothesis's own.

        Parameters
        ----------
        row : sequence
            The fields of a hypothesis.
        confidence : float
            The other.

        Raises
        ------
        FormatError
            When it is none, or would be none; then nothing has changed.
        MissingHypothesisError
            When it is not there; then nothing has changed.
        """
        *fields, _ = plain_row(row)
        changed = plain_row((*fields, confidence))
        found = self._found(row)
        try:
            self._remove(found)
            self.add(changed)
        except BaseException:
            self.is_whole = False
            raise

    def _found(self, row: Sequence[Any]) -> Coded:
        coded = self._known(row)
        if coded is None:
            plain_row(row)
        if coded is None or coded not in self._among(coded):
            raise MissingHypothesisError(f'{SOURCE.name}: no hypothesis {shown(tuple(row))}')
        return coded

    def _remove(self, coded: Coded) -> None:
        try:
            self.changed.add(coded[0])
            self._among(coded).remove(coded)
            self.shots.hold(coded[2], -1)
        except BaseException:
            self.is_whole = False
            raise

    def of_names(
        self, names: Iterable[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """The hypotheses that count of some names.

        Parameters
        ----------
        names : iterable of int
            Their codes.

        Returns
        -------
        name : ndarray of int64, shape (n,)
            The codes of their names.
        confidence : ndarray of float64, shape (n,)
            Minus their confidences.
        shot : ndarray of int64, shape (n,)
            The numbers of their shots.
        """
        ranges = (self._counted.irange((name,), (name + 1,)) for name in names)
        return _columns(chain.from_iterable(ranges))

    def table(self, *, counted_only: bool) -> Table:
        """The hypotheses as a table.

        Parameters
        ----------
        counted_only : bool
            Leave out those of videos that do not count.

        Returns
        -------
        Table
            In no order.
        """
        rows = self._counted if counted_only else chain(self._counted, self._others)
        name, confidence, shot = _columns(rows)
        order = self.shots.order()
        video = order.video[shot]
        columns = {
            'corpus_id': _column([corpus for _, corpus in self.shots.videos.values], video),
            'video_id': _column([video for video, _ in self.shots.videos.values], video),
            'shot_id': Column(order.shot[shot], self.shots.ids.values),
            'person_name': Column(name.astype(np.int32), self.names.values),
        }
        table = Table(HYPOTHESIS, columns, -confidence, SOURCE)
        return table.select(np.ones(len(table), dtype=np.bool_))  # values that are in use only

    def _known(self, row: Sequence[Any]) -> Coded | None:
        """The hypothesis in numbers if all of it is known and right; none on any doubt."""
        try:
            corpus, video, shot, name, confidence = row
            # A class of text may hash and compare as it likes: only plain text is looked up.
            is_plain = type(corpus) is type(video) is type(shot) is type(name) is str
            if not is_plain or type(confidence) is not float or type(row) is not tuple:
                corpus, video, shot, name, confidence = plain_row(row)
            number = self.shots.number_in[video, corpus][shot]
            return (self.names.code_of[name], -confidence, number) if isfinite(confidence) else None
        except (KeyError, TypeError, ValueError):
            return None

    def _among(self, coded: Coded) -> SortedList:
        return self._counted if self.shots.counts[coded[2]] else self._others

    def _check(self) -> None:
        """Assert what always holds."""
        self.shots._check()
        self.names._check()
        self._counted._check()
        self._others._check()
        assert all(self.shots.counts[shot] for _, _, shot in self._counted)
        assert not any(self.shots.counts[shot] for _, _, shot in self._others)
        assert all(code < len(self.names) for code in self.changed)
        held = Counter(shot for _, _, shot in chain(self._counted, self._others))
        assert self.shots._held == [held[shot] for shot in range(len(self.shots))]


def plain_row(row: object) -> tuple[Any, ...]:
    """Return the fields of a hypothesis as plain text and a double.

    Parameters
    ----------
    row : object
        Anything.

    Returns
    -------
    tuple of str and float
        The same fields, whatever their classes.

    Raises
    ------
    FormatError
        When it is not a sequence of the fields of a hypothesis.

    Examples
    --------
    >>> plain_row(['x', 'v', '1', 'ann', 1])
    ('x', 'v', '1', 'ann', 1.0)
    >>> plain_row(('x', 'v', '1', 'ann', 'high'))
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.FormatError: <live>, confidence: found 'high' (str), expected a finite \
number that a double can hold
    """
    wrong = explain_row(row, HYPOTHESIS)
    if wrong is not None:
        raise wrong.error(SOURCE.name, '')
    *texts, confidence = cast('Sequence[Any]', row)
    return *map(plain_text, texts), float(confidence)


def _columns(
    rows: Iterable[Coded],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    values = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, 3)
    name, confidence, shot = values.T
    return name.astype(np.int64), confidence, shot.astype(np.int64)


def _column(values: Sequence[str], codes: NDArray[np.int32]) -> Column:
    """A column of codes into values of which some are equal."""
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    distinct = np.array([code_of[value] for value in values], dtype=np.int32)
    return Column(distinct[codes], list(code_of))

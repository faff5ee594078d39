"""Scores of a run, query by query: at several cutoffs, and by the protocol of 2015."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import ALL, Cutoff, Definition, ap_column
from mediaeval_ap.errors import DataWarning, Note, ParameterError, shown
from mediaeval_ap.results.result import (
    N_QUERIES,
    NO_RELEVANT,
    SKIPPED,
    Compared,
    NamedColumns,
    Result,
    mean,
    mean_average_precision,
    note_above_one,
    note_of_floor,
    notes_of,
    notes_of_judged,
    notes_of_skipped,
    reordered,
)
from mediaeval_ap.tables import Provenance

__all__ = ['Evaluation', 'Evaluation2015']


class ResultByQuery(Result):
    """A result about names that were asked for."""

    _ADDED = (  # the counts that add up over blocks; others are of the run
        'queries',
        'queries_without_name',
        'queries_without_relevant',
        SKIPPED,
        'relevant',
        'relevant_returned',
    )

    _COLUMNS: ClassVar[tuple[str, ...]]  # the fields that have a value for each query

    queries: list[str]
    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    definition: Definition

    @property
    def notes(self) -> list[str]:
        """Sentences about queries that are special, and about names that were not asked for."""
        counts = self.counts
        n_queries = len(self.queries)
        n_skipped = counts.get(SKIPPED, 0)
        sentences = notes_of_skipped(n_skipped, n_queries, NO_RELEVANT)
        if n_without := int(np.count_nonzero(self.n_relevant == 0)):
            counts_as = self.definition.without_relevant
            sentences.append(note_of_floor(n_without, n_queries, counts_as))
        n_above = int(np.count_nonzero((self.ap > 1).reshape(n_queries, -1).any(axis=1)))
        sentences += note_above_one(n_above, n_queries, self.definition)
        n_nameless = counts.get('queries_without_name', 0)
        sentences += notes_of(n_nameless, n_queries, 'are close to no name')
        if n_unnamed := counts.get('placeholders', 0):
            one = '1 placeholder of the reference (a name that begins with ?) is'
            many = f'{n_unnamed} placeholders of the reference (names that begin with ?) are'
            sentences.append(f'{one if n_unnamed == 1 else many} left out of the queries')
        return sentences

    @property
    def mean_counts(self) -> dict[str, int]:
        """The number of queries that each mean is over, by the name of the mean."""
        return dict.fromkeys(self._means(), len(self.queries))

    @classmethod
    def concat(cls, results: Iterable[Self]) -> Self:
        """Put the results of blocks of queries together.

        Parameters
        ----------
        results : iterable of results of this class
            One for each block, of the same run: all but values and counts of queries must be equal.
            Of tables in memory, which have no hash, only the counts are compared.

        Returns
        -------
        result of this class
            Equal, bit for bit, to the result of all queries at once; a query that is in two blocks
            counts twice.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision, Evaluation
        >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
        >>> blocks = ['nicolas_sarkozy'], ['alain_juppe']
        >>> parts = [evaluate('samples/hypothesis.txt', block) for block in blocks]
        >>> Evaluation.concat(parts).map.round(3).tolist()
        [0.149]
        """
        parts = list(results)
        if not parts:
            raise ParameterError('concat: found no result, expected one or more')
        names = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        values = {name: [getattr(each, name) for each in parts] for name in names}
        return cls(**{name: cls._joined(name, each) for name, each in values.items()})

    @classmethod
    def _joined(cls, name: str, values: Sequence[Any]) -> Any:
        """Return what the results have together in one of the fields."""
        if name in cls._COLUMNS:
            return _chained(name, values)
        if name == 'warnings':
            return tuple({str(warning): warning for warning in chain(*values)}.values())
        if name == 'counts':
            joined = {}
            for count in the_same(name, [list(each) for each in values]):
                each = [counts[count] for counts in values]
                joined[count] = sum(each) if count in cls._ADDED else the_same(count, each)
            return joined
        return the_same(name, values)

    def worst_first(self) -> Self:
        """Return the result with its queries by AP at the last cutoff, from the lowest on."""
        order = np.argsort(self.ap.reshape(len(self.queries), -1)[:, -1], kind='stable')
        ordered = {name: reordered(getattr(self, name), order) for name in self._COLUMNS}
        return replace(self, **ordered)  # type: ignore[type-var]

    def _subtitle(self) -> str:
        return self.definition.name

    def _settings(self) -> dict[str, Any]:
        return {'definition': self.definition.name}

    def sort_value(self) -> float:
        (worth,) = mean_average_precision(self.ap.reshape(len(self.queries), -1)[:, -1:])
        return float(worth)

    @property
    def _floor(self) -> float:
        """Mean average precision of a run without any hypothesis."""
        return float(np.mean(self.n_relevant == 0)) * self.definition.without_relevant


def the_same(name: str, values: Sequence[Any]) -> Any:
    """Return the value that all results have, or refuse them with the first difference."""
    first, *others = values
    if isinstance(first, Mapping):
        the_same(name, [sorted(value) for value in values])
        return {key: the_same(f'{name}, {key}', [value[key] for value in values]) for key in first}
    for other in others:
        if other != first:
            raise ParameterError(f'concat: {name}: found {shown(other)}, expected {shown(first)}')
    return first


def _chained(name: str, values: Sequence[Any]) -> Any:
    """Return the values of all queries."""
    first = values[0]
    if isinstance(first, Mapping):
        the_same(name, [list(each) for each in values])
        return {key: _chained(key, [each[key] for each in values]) for key in first}
    if isinstance(first, list):
        return list(chain(*values))
    the_same(name, [type(value) for value in values])
    return None if first is None else np.concatenate(values)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ResultByQuery):
    """Average precision of a run, query by query and in the mean.

    Parameters
    ----------
    queries : list of str
        The names asked for, in the order of the rows of `ap`.
    K : list of int or 'all'
        The cutoffs, in the order of its columns.
    ap : ndarray of float64, shape (n_queries, n_cutoffs)
        Average precision.
    n_relevant : ndarray of int64, shape (n_queries,)
        Number of relevant shots of each query.
    definition : Definition
        Definition of average precision.
    inputs : mapping of str to Provenance
        ``reference``, ``hypothesis`` and, if given, ``subset`` and ``queries``.
    counts : mapping of str to int
        Sizes of the inputs.
    measures : mapping of str to ndarray of float64, shape (n_queries,)
        Other measures, by name; NaN for queries without a defined value.
    parameters : mapping of str to str or int
        Other settings that the values depend on.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.
    run : str
        The name of the run: the given one, or that of its file without folder and suffix.
    judged : ndarray of float64, shape (n_queries, n_cutoffs), or None
        Share of the first k of each ranking that is judged, where judgements were given; NaN where
        nothing is returned.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
    >>> evaluation = evaluate('samples/hypothesis.txt', ['alain_juppe'])
    >>> evaluation.ap.shape, evaluation.to_frame(mean=True).columns.tolist()
    ((1, 1), ['AP@10', 'n_relevant', 'n_queries'])
    >>> evaluation.to_dict()['means'], evaluation.to_dict()['queries']
    ({'MAP@10': 0.0}, [{'query': 'alain_juppe', 'AP@10': 0.0, 'n_relevant': 2}])
    """

    kind = 'evaluation'
    run_role = 'hypothesis'
    _TITLE = 'MEAN AVERAGE PRECISION'
    _COLUMNS = ('queries', 'n_relevant', 'ap', 'judged', 'measures')

    queries: list[str]
    K: list[Cutoff]
    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    definition: Definition
    inputs: Mapping[str, Provenance]
    counts: Mapping[str, int]
    measures: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    warnings: Sequence[DataWarning] = field(default=(), repr=False)
    run: str = ''
    judged: NDArray[np.float64] | None = None

    @property
    def notes(self) -> list[str]:
        return [
            *([self._over] if self._over else []),
            *super().notes,
            *notes_of_judged(self.parameters, self.counts),
            *self._notes_of_campaign(),
        ]

    def _notes_of_campaign(self) -> Iterator[str]:
        """Say what to type for the score that a campaign publishes, where this may be another."""
        n_videos, n_known = (self.counts.get(f'videos{of}', 0) for of in ('', '_in_reference'))
        if 'judged' in self.inputs:  # which says what was looked at
            return
        asked = '' if 'queries' in self.inputs else ', and its queries by --queries FILE'
        if 'subset' not in self.inputs and 0 < n_known < n_videos:
            wrong = (
                'are not in the reference, and all that it returns there is wrong: if only some '
                f'videos were judged, as in a campaign, give their list by --subset FILE{asked}'
            )
            yield Note(wrong, n_videos - n_known, n_videos, 'videos of the run')
        elif 'subset' in self.inputs and asked:
            yield (
                'The queries are all names that the reference has in the subset: if a campaign has '
                'its own, which its official score is over, give them by --queries FILE'
            )

    @property
    def mean_counts(self) -> dict[str, int]:
        columns = self._judged_columns | dict(self.measures)
        n_valued = {name: int((~np.isnan(each)).sum()) for name, each in columns.items()}
        return super().mean_counts | n_valued

    def _count_columns(self) -> dict[str, int]:
        of_measures = {f'{N_QUERIES}_{name}': self.mean_counts[name] for name in self.measures}
        return {N_QUERIES: len(self.queries), **of_measures}

    @property
    def _over(self) -> str:
        n_queries = len(self.queries)
        counts = self.mean_counts
        fewer = sorted({count for count in counts.values() if count < n_queries})
        if not fewer:
            return ''
        unanswerable = self.n_relevant == 0
        lacking = [np.isnan(each) for each in self.measures.values()]
        is_floor = all(np.array_equal(each, unanswerable) for each in lacking if each.any())
        which = 'a relevant shot' if is_floor else 'a value'
        parts = []
        for count in fewer:
            names = [name for name in self.measures if counts[name] == count]
            are = 'is' if len(names) == 1 else 'are'
            has = 'query that has' if count == 1 else 'queries that have'
            parts.append(f'{", ".join(names)} {are} over the {count:,} {has} {which}')
        scores = ', '.join(f'M{name}' for name in self._ap_columns)
        whole = f'the score, {scores}, is over all {n_queries:,}'
        if is_floor:
            n_others = n_queries - fewer[0]
            worth = f'{self.definition.without_relevant:g}'
            counts_as = 'counts' if n_others == 1 else 'count'
            whole += f', where the other {n_others:,} {counts_as} {worth}'
        return '; '.join([*parts, whole])

    @cached_property
    def map(self) -> NDArray[np.float64]:
        """Mean average precision at each cutoff."""
        return mean_average_precision(self.ap)

    @property
    def _judged_columns(self) -> dict[str, NDArray[np.float64]]:
        """The share that is judged, by columns; a measure that was asked for has the same name."""
        if self.judged is None:
            return {}
        return dict(zip(map(judged_column, self.K), self.judged.T, strict=True))

    @property
    def mean_judged(self) -> dict[str, float | None]:
        """Judged@k: the mean share of the first k that is judged; nothing without judgements."""
        return _valued_means(self._judged_columns)

    @property
    def mean_measures(self) -> dict[str, float | None]:
        """The mean of each measure over the queries with a defined value; None without any."""
        return _valued_means(self.measures)

    def manifest_settings(self) -> dict[str, Any]:
        settings = super().manifest_settings()
        return {**settings, 'parameters': {'K': list(self.K), **settings['parameters']}}

    def _columns(self) -> NamedColumns:
        ap = dict(zip(self._ap_columns, self.ap.T, strict=True))
        values = {**ap, **self._judged_columns, **self.measures}
        return {'query': self.queries, **values, 'n_relevant': self.n_relevant}

    def _mean_row(self) -> dict[str, Any]:
        ap = dict(zip(self._ap_columns, self.map.tolist(), strict=True))
        others = self.mean_judged | self.mean_measures
        return {**ap, **others, 'n_relevant': int(self.n_relevant.sum())}

    def _means(self) -> dict[str, float | None]:
        names = [f'M{name}' for name in self._ap_columns]
        means = dict(zip(names, self.map.tolist(), strict=True))
        return means | self.mean_judged | self.mean_measures

    def compared_values(self) -> Compared:
        ap = {f'M{name}': each for name, each in zip(self._ap_columns, self.ap.T, strict=True)}
        left_out = [name for name, each in self.measures.items() if np.isnan(each).any()]
        measures = {name: each for name, each in self.measures.items() if name not in left_out}
        floor = dict.fromkeys(ap, self._floor)
        return Compared(self.queries, ap | measures, self.n_relevant, floor, left_out)

    @property
    def _ap_columns(self) -> list[str]:
        return [ap_column(k) for k in self.K]


def judged_column(k: Cutoff) -> str:
    """Return the name of the column of the share that is judged down to a cutoff."""
    return 'Judged' if k == ALL else f'Judged@{k}'


def _valued_means(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, float | None]:
    return {name: mean(values[~np.isnan(values)]) for name, values in columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation2015(ResultByQuery):
    """Score of a run, and of its evidence for names, by the protocol of 2015.

    Parameters
    ----------
    queries : list of str
        The names asked for.
    names : list of str or None
        The name of the run chosen for each query; None if none was close enough.
    ratios, n_relevant, ap : ndarray, shape (n_queries,)
        Similarity of both, up to 1 (0 without a name); number of relevant shots; average precision.
    correct : ndarray of bool, shape (n_queries,), or None
        True if the evidence for the name is correct; None without evidence.
    definition : Definition
        Definition of average precision.
    parameters : mapping of str to float or str
        The ``ratio`` above which a name is close enough, and other settings.
    inputs, counts, warnings, run
        As of `Evaluation`; the inputs are ``shots``, ``reference``, ``labels`` and others given.

    Examples
    --------
    >>> from mediaeval_ap import PersonDiscovery2015
    >>> discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    >>> discovery.evaluate([('v', '1', 'ann', 0.5)]).map
    1.0
    """

    kind = 'evaluation-2015'
    run_role = 'labels'
    _COLUMNS = ('queries', 'names', 'ratios', 'n_relevant', 'ap', 'correct')

    queries: list[str]
    names: list[str | None]
    ratios: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    ap: NDArray[np.float64]
    correct: NDArray[np.bool_] | None
    definition: Definition
    parameters: Mapping[str, float | str]
    inputs: Mapping[str, Provenance]
    counts: Mapping[str, int]
    warnings: Sequence[DataWarning] = field(default=(), repr=False)
    run: str = ''

    @property
    def map(self) -> float:
        """Mean average precision."""
        return float(mean_average_precision(self.ap[:, None])[0])

    @property
    def mean_correctness(self) -> float | None:
        """The share of queries whose name is correct; None without evidence."""
        return None if self.correct is None else mean(self.correct)

    @property
    def ewmap(self) -> float | None:
        """Evidence-weighted MAP: the mean of AP where the name is correct, and of 0 elsewhere."""
        return None if self.correct is None else mean(self.ap * self.correct)

    def _subtitle(self) -> str:
        return f'ratio {self.parameters["ratio"]:g}'

    def _columns(self) -> NamedColumns:
        columns: NamedColumns = {'name': self.names, 'ratio': self.ratios, 'AP': self.ap}
        if self.correct is not None:
            columns = {**columns, 'correct': self.correct, 'EwAP': self.ap * self.correct}
        return {'query': self.queries, **columns, 'n_relevant': self.n_relevant}

    def _mean_row(self) -> dict[str, Any]:
        means: dict[str, Any] = {'name': None, 'ratio': None, 'AP': self.map}
        if self.correct is not None:
            means |= {'correct': self.mean_correctness, 'EwAP': self.ewmap}
        return {**means, 'n_relevant': int(self.n_relevant.sum())}

    def _means(self) -> dict[str, float | None]:
        if self.correct is None:
            return {'MAP': self.map}
        return {'MAP': self.map, 'mean correctness': self.mean_correctness, 'EwMAP': self.ewmap}

    def compared_values(self) -> Compared:
        values = {'MAP': self.ap}
        floor = {'MAP': self._floor}
        if self.correct is not None:
            values['EwMAP'] = self.ap * self.correct
            floor['EwMAP'] = 0.0
        return Compared(self.queries, values, self.n_relevant, floor)

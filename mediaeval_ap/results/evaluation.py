"""Scores of a run by query: at several cutoffs, and by the protocol of 2015."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.definitions import ALL, Cutoff, Definition, ap_columns
from mediaeval_ap.errors import DataWarning, Note, ParameterError, shown
from mediaeval_ap.results.notes import (
    NO_RELEVANT,
    SKIPPED,
    note_above_one,
    note_of_floor,
    notes_of,
    notes_of_judged,
    notes_of_skipped,
)
from mediaeval_ap.results.result import (
    N_QUERIES,
    SHOWN_SETTINGS,
    Compared,
    NamedColumns,
    Result,
    reorder,
    setting_in_words,
)
from mediaeval_ap.results.rounding import mean, mean_average_precision
from mediaeval_ap.tables import Provenance, Table


class ResultByQuery(Result):
    """A result with a value for each query, which is a name."""

    _SUMMED_COUNTS = (  # these add up over blocks of queries; the others are equal in all blocks
        'queries',
        'queries_without_name',
        'queries_without_relevant',
        SKIPPED,
        'relevant',
        'relevant_returned',
    )

    _COLUMNS: ClassVar[tuple[str, ...]]  # the fields with a value for each query

    queries: list[str]
    ap: NDArray[np.float64]
    n_relevant: NDArray[np.int64]
    definition: Definition

    @property
    def notes(self) -> list[str]:
        """Sentences on queries with a special score, and on names left out of the queries."""
        counts = self.counts
        n_queries = len(self.queries)
        n_skipped = counts.get(SKIPPED, 0)
        sentences = notes_of_skipped(n_skipped, n_queries, NO_RELEVANT)
        if n_without := int(np.count_nonzero(self.n_relevant == 0)):
            counts_as = self.definition.without_relevant
            sentences.append(note_of_floor(n_without, n_queries, counts_as))
        n_above = int(np.count_nonzero((self.ap > 1).reshape(n_queries, -1).any(axis=1)))
        sentences += note_above_one(n_above, n_queries, self.definition.name)
        n_nameless = counts.get('queries_without_name', 0)
        sentences += notes_of(n_nameless, n_queries, 'have no close name in the run')
        if n_unnamed := counts.get('placeholders', 0):
            subject = f'{n_unnamed} placeholders of the reference (names that begin with ?) are'
            if n_unnamed == 1:
                subject = '1 placeholder of the reference (a name that begins with ?) is'
            sentences.append(f'{subject} left out of the queries')
        return sentences

    @property
    def mean_counts(self) -> dict[str, int]:
        """The number of queries in each mean, by the name of the mean."""
        return dict.fromkeys(self.means, len(self.queries))

    @classmethod
    def concat(cls, results: Iterable[Self]) -> Self:
        """Join the results of blocks of queries.

        Parameters
        ----------
        results : iterable of results of this class
            One for each block, of the same run: everything except the values and counts of queries
            must be equal. Tables in memory have no hash; only their counts are compared.

        Returns
        -------
        result of this class
            Equal, bit for bit, to the result of all queries at once; a query in two blocks counts
            twice.

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
        names = [spec.name for spec in fields(cls)]  # type: ignore[arg-type]
        values = {name: [getattr(part, name) for part in parts] for name in names}
        return cls(**{name: cls._join_field(name, column) for name, column in values.items()})

    @classmethod
    def _join_field(cls, name: str, values: Sequence[Any]) -> Any:
        if name in cls._COLUMNS:
            return _concatenate(name, values)
        if name == 'reference_rows':
            return values[0]
        if name == 'warnings':
            return tuple({str(warning): warning for warning in chain(*values)}.values())
        if name == 'counts':
            joined = {}
            for count in common_value(name, [list(counts) for counts in values]):
                sizes = [counts[count] for counts in values]
                is_sum = count in cls._SUMMED_COUNTS
                joined[count] = sum(sizes) if is_sum else common_value(count, sizes)
            return joined
        return common_value(name, values)

    def worst_first(self) -> Self:
        """Sort queries: lowest AP at the last cutoff first, then most relevant shots, then name."""
        order = self._order_by_loss()
        ordered = {name: reorder(getattr(self, name), order) for name in self._COLUMNS}
        return replace(self, **ordered)  # type: ignore[type-var]

    def _order_by_loss(self) -> NDArray[np.intp]:
        """Return the rows of the queries in the order of `worst_first`."""
        ap = self.ap.reshape(len(self.queries), -1)[:, -1]
        rows = zip(ap.tolist(), -self.n_relevant, self.queries, range(len(ap)), strict=True)
        return np.array([row for *_, row in sorted(rows)], dtype=np.intp)

    def _subtitle(self) -> str:
        return ', '.join(setting_in_words(*setting) for setting in self._settings().items())

    def _settings(self) -> dict[str, Any]:
        settings = {**SHOWN_SETTINGS, **self.parameters}
        others = [name for name, default in SHOWN_SETTINGS.items() if settings[name] != default]
        return {'definition': self.definition.name, **{name: settings[name] for name in others}}

    def sort_value(self) -> float:
        (at_last_cutoff,) = mean_average_precision(self.ap.reshape(len(self.queries), -1)[:, -1:])
        return float(at_last_cutoff)

    @property
    def _floor(self) -> float:
        """Mean average precision of an empty run."""
        return float(np.mean(self.n_relevant == 0)) * self.definition.without_relevant


def common_value(name: str, values: Sequence[Any]) -> Any:
    """Return the value that all results share; raise ParameterError if they differ."""
    first, *further = values
    if isinstance(first, Mapping):
        common_value(name, [sorted(value) for value in values])
        return {
            key: common_value(f'{name}, {key}', [value[key] for value in values]) for key in first
        }
    for value in further:
        if value != first:
            raise ParameterError(f'concat: {name}: found {shown(value)}, expected {shown(first)}')
    return first


def _concatenate(name: str, values: Sequence[Any]) -> Any:
    """Concatenate the values of one field, block after block."""
    first = values[0]
    if isinstance(first, Mapping):
        common_value(name, [list(columns) for columns in values])
        return {key: _concatenate(key, [columns[key] for columns in values]) for key in first}
    if isinstance(first, list):
        return list(chain(*values))
    common_value(name, [type(value) for value in values])
    return None if first is None else np.concatenate(values)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ResultByQuery):
    """Average precision of a run by query, and its means.

    Parameters
    ----------
    queries : list of str
        The names, in the order of the rows of `ap`.
    K : list of int or 'all'
        The cutoffs, in the order of the columns of `ap`.
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
        Further settings that the values depend on.
    warnings : sequence of DataWarning
        Warnings about the data; not part of `to_dict`.
    run : str
        The name of the run; by default the name of its file without folder and suffix.
    judged : ndarray of float64, shape (n_queries, n_cutoffs), or None
        Judged share of the first k of each ranking; NaN where nothing is returned. None without
        judgements.
    reference_rows : Table or None
        The rows of the reference that were scored, by which `compare` knows the videos of queries;
        not part of `to_dict` or of a pickle, so None in results that were read back.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> evaluate = AveragePrecision('samples/reference.txt', K=[10]).evaluate
    >>> evaluation = evaluate('samples/hypothesis.txt', ['alain_juppe'])
    >>> evaluation.ap.shape, evaluation.to_frame(mean=True).columns.tolist()
    ((1, 1), ['AP@10', 'n_relevant', 'n_queries'])
    >>> evaluation.means, evaluation.to_dict()['queries']
    ({'MAP@10': 0.0}, [{'query': 'alain_juppe', 'AP@10': 0.0, 'n_relevant': 2}])
    """

    kind = 'evaluation'
    run_role = 'hypothesis'
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
    reference_rows: Table | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != 'reference_rows'}

    @property
    def notes(self) -> list[str]:
        return [
            *filter(None, [self._counts_note]),
            *super().notes,
            *notes_of_judged(self.parameters, self.counts),
            *self._notes_on_official_score(),
        ]

    def _notes_on_official_score(self) -> Iterator[str]:
        """Yield the options that may be missing for the score that the campaign publishes."""
        if 'judged' in self.inputs:  # the list of judged shots takes the place of a subset
            return
        n_videos = self.counts.get('videos', 0)
        n_in_reference = self.counts.get('videos_in_reference', 0)
        has_queries = 'queries' in self.inputs
        if 'subset' not in self.inputs and 0 < n_in_reference < n_videos:
            predicate = (
                'are not in the reference, so all that the run returns there is wrong. If the '
                'campaign judged only some videos, give their list by --subset FILE'
            )
            if not has_queries:
                predicate += ', and its queries by --queries FILE'
            yield Note(predicate, n_videos - n_in_reference, n_videos, 'videos of the run')
        elif 'subset' in self.inputs and not has_queries:
            yield (
                'Scored all reference names in the subset. If the campaign has its own list of '
                'queries, give it by --queries FILE'
            )

    @property
    def mean_counts(self) -> dict[str, int]:
        columns = self._judged_columns | dict(self.measures)
        n_valued = {name: int((~np.isnan(values)).sum()) for name, values in columns.items()}
        return super().mean_counts | n_valued

    def _count_columns(self) -> dict[str, int]:
        counts = self.mean_counts
        measure_counts = {f'{N_QUERIES}_{name}': counts[name] for name in self.measures}
        return {N_QUERIES: len(self.queries), **measure_counts}

    @property
    def _counts_note(self) -> str:
        n_queries = len(self.queries)
        counts = self.mean_counts
        smaller_counts = sorted({count for count in counts.values() if count < n_queries})
        if not smaller_counts:
            return ''
        lacks_relevant = self.n_relevant == 0
        lacks_value = [np.isnan(values) for values in self.measures.values()]
        by_relevance = all(
            np.array_equal(lack, lacks_relevant) for lack in lacks_value if lack.any()
        )
        required = 'a relevant shot' if by_relevance else 'a value'
        clauses = []
        for count in smaller_counts:
            names = [name for name in self.measures if counts[name] == count]
            verb = 'is' if len(names) == 1 else 'are'
            queries = 'query that has' if count == 1 else 'queries that have'
            clauses.append(f'{", ".join(names)} {verb} over the {count:,} {queries} {required}')
        scores = ', '.join(self._mean_names)
        about_score = f'the score, {scores}, is over all {n_queries:,}'
        if by_relevance:
            n_remaining = n_queries - smaller_counts[0]
            floor = f'{self.definition.without_relevant:g}'
            counts_as = 'counts' if n_remaining == 1 else 'count'
            about_score += f', where the other {n_remaining:,} {counts_as} {floor}'
        return '; '.join([*clauses, about_score])

    @cached_property
    def map(self) -> NDArray[np.float64]:
        """Mean average precision at each cutoff."""
        return mean_average_precision(self.ap)

    @property
    def _judged_columns(self) -> dict[str, NDArray[np.float64]]:
        """The judged share of each query, by its column; ir_measures has the same names."""
        if self.judged is None:
            return {}
        return dict(zip(map(judged_column, self.K), self.judged.T, strict=True))

    @property
    def mean_judged(self) -> dict[str, float | None]:
        """Judged@k: the mean judged share of the first k; empty without judgements."""
        return _valued_means(self._judged_columns)

    @property
    def mean_measures(self) -> dict[str, float | None]:
        """The mean of each measure over the queries with a defined value; None if there is none."""
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
        n_relevant = int(self.n_relevant.sum())
        return {**ap, **self.mean_judged, **self.mean_measures, 'n_relevant': n_relevant}

    @property
    def means(self) -> dict[str, float | None]:
        """The mean of each metric over its queries, by name, as ``'MAP@10'``."""
        means = dict(zip(self._mean_names, self.map.tolist(), strict=True))
        return means | self.mean_judged | self.mean_measures

    def compared_values(self) -> Compared:
        ap = dict(zip(self._mean_names, self.ap.T, strict=True))
        left_out = [name for name, values in self.measures.items() if np.isnan(values).any()]
        measures = {name: values for name, values in self.measures.items() if name not in left_out}
        floor = dict.fromkeys(ap, self._floor)
        return Compared(self.queries, ap | measures, self.n_relevant, floor, left_out=left_out)

    @property
    def _ap_columns(self) -> list[str]:
        return ap_columns(self.K, self.definition)

    @property
    def _mean_names(self) -> list[str]:
        if self.definition.is_estimate:
            return self._ap_columns
        return [f'M{name}' for name in self._ap_columns]


def judged_column(k: Cutoff) -> str:
    """Return the name of the column with the judged share of the first k."""
    return 'Judged' if k == ALL else f'Judged@{k}'


def _valued_means(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, float | None]:
    return {name: mean(values[~np.isnan(values)]) for name, values in columns.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation2015(ResultByQuery):
    """The score of a run, and of its evidence for names, by the protocol of 2015.

    Parameters
    ----------
    queries : list of str
        The names.
    names : list of str or None
        The name of the run that answers each query; None if none is close enough.
    ratios, n_relevant, ap : ndarray, shape (n_queries,)
        Similarity of query and name, up to 1 (0 without a name); number of relevant shots; average
        precision.
    correct : ndarray of bool, shape (n_queries,), or None
        True if the evidence for the name is correct; None without evidence.
    definition : Definition
        Definition of average precision.
    parameters : mapping of str to float or str
        ``ratio``, above which a name is close enough, and further settings.
    inputs, counts, warnings, run
        As in `Evaluation`; the inputs are ``shots``, ``reference``, ``labels`` and, if given,
        ``evidence``, ``evidence_reference``, ``consensus`` and ``queries``.

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
        """The share of queries with a correct name; None without evidence."""
        return None if self.correct is None else mean(self.correct)

    @property
    def ewmap(self) -> float | None:
        """Evidence-weighted MAP: the mean of AP, with 0 where the name is not correct."""
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

    @property
    def means(self) -> dict[str, float | None]:
        """The mean of each metric, by name, as ``'EwMAP'``."""
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

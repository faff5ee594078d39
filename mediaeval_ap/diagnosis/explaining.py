"""`AveragePrecision.explain`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mediaeval_ap.choices import NEAR, check_near
from mediaeval_ap.definitions import Cutoff, check_cutoffs
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import read_counted
from mediaeval_ap.progress import shows_progress

if TYPE_CHECKING:
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis


class Explaining:
    """Evaluation criteria by which runs can be explained."""

    _criteria: Criteria

    @shows_progress
    def explain(
        self,
        hypothesis: Any,
        queries: Any = None,
        *,
        k: Cutoff = 100,
        near: float = NEAR,
        progress: bool = False,
    ) -> Diagnosis:
        """Split the loss of a run, 1 - AP at a cutoff, into parts that add up to it.

        One thing after another is repaired, in this order, and each part is the AP that its repair
        adds:

        ``repeats``
            Each relevant shot counts once, where it is returned first. Negative where the
            definition counts shots again.
        ``ties``
            Shots that were returned under the query come first among its hypotheses of equal
            confidence. What was returned only under other names stays.
        ``confidence``
            Shots that were returned under the query come before all others.
        ``spelling``, ``confused``, ``part_of_name``, ``noise``, ``copresent``
            Relevant shots that were returned, but not under the query, come to the front. A shot
            belongs to the first of these that one of its names in the run is of: a name within
            `near` of the query; another person (of the reference or the queries) who is not in
            that shot; a name of nobody that shares a word with the query; a name of nobody; names
            that are all right for that shot.
        ``absent``
            Relevant shots that were not returned are put at the front.
        ``cutoff``, ``unanswerable``
            What remains: the definition allows no more at this cutoff, or no shot is relevant.

        Parameters
        ----------
        hypothesis, queries
            As `AveragePrecision.evaluate` takes them.
        k : int or 'all'
            The cutoff, which need not be one of those of `AveragePrecision`.
        near : float
            The largest distance, from 0 to below 1, at which a name is taken for another spelling
            of a query: 0.2 allows one edit in five characters. With 0 there is no such name.
        progress : bool
            As of `AveragePrecision.evaluate`.

        Returns
        -------
        Diagnosis
            The parts by query and in the mean, names that were confused, and each query in detail.

        Raises
        ------
        ReadError, FormatError
            When the run or the queries cannot be read.
        ParameterError
            When k or `near` is wrong.

        Warns
        -----
        DataWarning
            As of `AveragePrecision.evaluate`.

        Notes
        -----
        All parts but ``repeats`` are 0 or more, except for definitions that divide by the number
        of hits (``hits``), which repairs change. Where the reference repeats rows and the
        definition counts them, no ranking of distinct shots reaches 1: the rest is in ``cutoff``.

        Takes a few times as long as `AveragePrecision.evaluate`. Where a large part of the run is
        equally far from a query, and equally confident, at the cutoff, all of that part is looked
        at for this query.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> reference = [('x', 'v', '1', 'ann_lee'), ('x', 'v', '2', 'ann_lee')]
        >>> hypothesis = [('x', 'v', '9', 'ann_lee', 0.9), ('x', 'v', '1', 'anne_lee', 0.5)]
        >>> diagnosis = AveragePrecision(reference).explain(hypothesis)
        >>> diagnosis.ap.tolist()
        [0.25]
        >>> {part: loss for part, loss in diagnosis.mean_parts.items() if loss}
        {'spelling': 0.25, 'absent': 0.5}
        >>> diagnosis.near_misses[0].letters
        ('+e at 4',)
        """
        given = [k] if isinstance(k, Iterable) and not isinstance(k, str | bytes) else k
        cutoffs = check_cutoffs(given, self._criteria.definition, 'k')
        (diagnosis,) = self._explained(hypothesis, queries, cutoffs, near)
        return diagnosis

    @shows_progress
    def explain_at(
        self,
        hypothesis: Any,
        queries: Any = None,
        *,
        K: Cutoff | Iterable[Cutoff] | None = None,
        near: float = NEAR,
        progress: bool = False,
    ) -> list[Diagnosis]:
        """Split the loss of a run at several cutoffs, from one ranking of each query.

        Parameters
        ----------
        hypothesis, queries, near, progress
            As of `explain`.
        K : int, 'all' or iterable of these, optional
            The cutoffs; by default those of `AveragePrecision`.

        Returns
        -------
        list of Diagnosis
            One for each cutoff, equal to that of `explain`.

        Raises
        ------
        ReadError, FormatError, ParameterError
            As of `explain`.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> found = average_precision.explain_at('samples/hypothesis.txt', ['nicolas_sarkozy'])
        >>> [(diagnosis.k, round(diagnosis.map, 3)) for diagnosis in found]
        [(10, 0.299), (100, 0.213)]
        """
        criteria = self._criteria
        cutoffs = criteria.K if K is None else check_cutoffs(K, criteria.definition)
        return self._explained(hypothesis, queries, cutoffs, near)

    def _explained(
        self, hypothesis: Any, queries: Any, cutoffs: list[Cutoff], near: float
    ) -> list[Diagnosis]:
        from mediaeval_ap.diagnosis.diagnose import diagnose

        criteria, near = self._criteria, check_near(near)
        asked = criteria.read_queries(queries)
        run = read_counted(criteria, hypothesis)
        diagnoses = diagnose(criteria, run, asked, cutoffs, near)
        warn_caller(diagnoses[0].warnings)  # all have the same
        return diagnoses

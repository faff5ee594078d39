"""`AveragePrecision.report`: the page of a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mediaeval_ap.choices import Correction, check_near
from mediaeval_ap.definitions import Cutoff, check_cutoffs
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.progress import shows_progress

if TYPE_CHECKING:
    from mediaeval_ap.campaign_report.campaign_report import CampaignReport


class Reporting:
    """Evaluation criteria by which runs can be compared and diagnosed."""

    _criteria: Criteria

    @shows_progress
    def report(
        self,
        runs: Iterable[Any] | Mapping[str, Any],
        queries: Any = None,
        *,
        k: Cutoff | None = None,
        near: float = 0.2,
        progress: bool = False,
        correction: Correction = 'tukey',
        **compared: Any,
    ) -> CampaignReport:
        """Compare and diagnose the runs of a campaign, for one page about all of them.

        Parameters
        ----------
        runs : iterable or mapping from str
            The runs, each as `evaluate` takes it. The keys of a mapping name them; else they have
            the names of their files, without the folder where that tells them apart.
        queries
            As `evaluate` takes them.
        k : int or 'all', optional
            The cutoff whose loss is split; by default 100 if it is one of `K`, else the last.
        near : float
            As of `explain`.
        progress : bool
            As of `evaluate`.
        correction : {'tukey', 'holm', 'bh'}
            As of `compare`; only ``'tukey'`` gives the letters of groups.
        **compared
            ``baseline``, ``interval``, ``level``, ``cluster``, ``by``, ``resamples``,
            ``permutations`` and ``seed``, as of `compare`.

        Returns
        -------
        CampaignReport
            ``to_html`` writes the page; ``comparison``, ``diagnoses`` and ``evaluations`` are its
            numbers, ``plot`` its figures.

        Raises
        ------
        ReadError, FormatError
            When a run or the queries cannot be read.
        ParameterError
            When there is no run, two have one name, or an argument is wrong.
        MissingExtraError
            When the extra ``insight`` is not installed.

        Warns
        -----
        DataWarning
            As of `evaluate` and `compare`.

        Notes
        -----
        Each run is read once. Takes the time of `evaluate` and `explain` for each, and of one
        `compare`.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> run = 'samples/hypothesis.txt'
        >>> report = average_precision.report([run], 'samples/queries.txt')
        >>> report
        CampaignReport: hypothesis.txt scores MAP@100 0.121
        MAP@100 0.121 (95 % interval 0.000 to 0.192). There is no other run to compare it with.
        """
        from mediaeval_ap.campaign_report.collecting import collect

        criteria = self._criteria
        by_default = 100 if 100 in criteria.K else criteria.K[-1]
        (loss_at,) = check_cutoffs([by_default if k is None else k], criteria.definition, 'k')
        asked = criteria.read_queries(queries)
        compared['correction'] = correction
        report = collect(criteria, runs, asked, loss_at, check_near(near), compared)
        warn_caller(report.warnings)
        return report

"""`AveragePrecision.report`, and the names by which it tells runs apart."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mediaeval_ap import choices
from mediaeval_ap.choices import Cluster, Correction, IntervalKind, check_near
from mediaeval_ap.comparison.settings import check_baseline, checked_settings
from mediaeval_ap.definitions import Cutoff, check_cutoffs
from mediaeval_ap.errors import ParameterError, printable, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.means_and_notes import short_names

if TYPE_CHECKING:
    from mediaeval_ap.campaign.campaign_report import CampaignReport


class CampaignReporting:
    """Evaluation criteria by which runs can be compared and diagnosed."""

    _criteria: Criteria

    @shows_progress
    def report(
        self,
        runs: Iterable[Any] | Mapping[str, Any],
        queries: Any = None,
        *,
        k: Cutoff | None = None,
        near: float = choices.NEAR,
        baseline: str | None = None,
        correction: Correction = 'holm',
        interval: IntervalKind = 'plus2',
        level: float = choices.LEVEL,
        cluster: Cluster | None = None,
        resamples: int = choices.RESAMPLES,
        permutations: int | None = None,
        seed: int = 0,
        progress: bool = False,
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
        baseline : str, optional
            The run to compare all others with on the leaderboard, by its name.
        correction, interval, level, cluster, resamples, permutations, seed
            As of `compare`.
        progress : bool
            As of `evaluate`.

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
        from mediaeval_ap.campaign.collected import collect

        criteria = self._criteria
        by_default = 100 if 100 in criteria.K else criteria.K[-1]
        (loss_at,) = check_cutoffs([by_default if k is None else k], criteria.definition, 'k')
        near = check_near(near)
        settings = checked_settings(
            baseline=baseline,
            correction=correction,
            interval=interval,
            level=level,
            cluster=cluster,
            resamples=resamples,
            permutations=permutations,
            seed=seed,
        )
        by_name = named(runs)
        check_baseline(baseline, by_name)
        report = collect(criteria, by_name, criteria.read_queries(queries), loss_at, near, settings)
        warn_caller(report.warnings)
        return report


def named(runs: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Return runs by name: the given one, else the name of the file, with its folder if needed."""
    if isinstance(runs, Mapping):
        return dict(_checked(list(runs), list(runs.values())))
    if isinstance(runs, str | bytes | os.PathLike) or not isinstance(runs, Iterable):
        raise ParameterError(f'runs: found {shown(runs)}, expected a list of runs')
    given = list(runs)
    paths = [os.fsdecode(each) if isinstance(each, str | os.PathLike) else '' for each in given]
    names = [name or f'run {number}' for number, name in enumerate(short_names(paths), 1)]
    return dict(_checked(names, given))


def _checked(names: list[str], runs: list[Any]) -> Iterable[tuple[str, Any]]:
    if not names:
        raise ParameterError('runs: found none, expected one or more')
    if wrong := [name for name in names if not isinstance(name, str) or not name]:
        raise ParameterError(f'runs: found the name {shown(wrong[0])}, expected text')
    repeated = [name for name, times in Counter(map(printable, names)).items() if times > 1]
    if repeated:
        raise ParameterError(f'runs: found {shown(repeated[0])} twice, expected each run once')
    return zip(map(printable, names), runs, strict=True)

"""`Evaluator`: the rankings of runs, their loss, their comparison, their pool and its queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mediaeval_ap import choices, definitions
from mediaeval_ap.definitions import ALL, Cutoff, Definition, check_cutoff, check_cutoffs
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.criteria import Criteria, Run, check_query
from mediaeval_ap.evaluation.prepared_run import prepare_run, select_queries
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.table import Frame, Names

if TYPE_CHECKING:
    import pandas

    from mediaeval_ap.campaign.campaign_report import CampaignReport
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis
    from mediaeval_ap.judging.candidates import PooledRuns
    from mediaeval_ap.judging.judging_queue import Queue
    from mediaeval_ap.judging.pool import Pool

Runs: TypeAlias = Iterable[Run] | Mapping[str, Run]


class Evaluator:
    """Methods about runs and their rankings, for names and for topics of TREC alike."""

    criteria: Criteria

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.criteria})'

    @property
    def K(self) -> list[Cutoff]:
        """The cutoffs, in the given order."""
        return list(self.criteria.K)

    @property
    def definition(self) -> Definition:
        """The AP definition."""
        return self.criteria.definition

    @property
    def queries(self) -> list[str]:
        """The names in the reference, sorted, without placeholders such as ``?unknown?``."""
        return list(self.criteria.reference.queries)

    def rank(self, hypothesis: Run, query: str, k: int | None = None) -> pandas.DataFrame:
        """Return the first hypotheses for a query, in the order that is scored.

        Parameters
        ----------
        hypothesis, query
            A run and a name.
        k : int, optional
            The number of hypotheses, a positive integer; by default the largest cutoff.

        Returns
        -------
        pandas.DataFrame
            Columns ``rank`` (from 1), ``corpus_id``, ``video_id``, ``shot_id``, ``person_name``,
            ``distance``, ``confidence``, ``temporal_rank`` (from 1), ``relevant``, and
            ``precision`` down to that rank. Hypotheses that the definition drops are left out. For
            a topic of TREC, ``qid``, ``docno`` and ``score`` stand after ``rank``. ``attrs`` has AP
            at the cutoff k, such as ``AP@10``, and the number of relevant shots, ``n_relevant``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt')
        >>> top = average_precision.rank('samples/hypothesis.txt', 'nicolas_sarkozy', k=3)
        >>> top['relevant'].tolist(), top.attrs['n_relevant'], round(top.attrs['AP@3'], 3)
        ([False, False, True], 116, 0.111)
        """
        import pandas

        query = check_query(query)
        depth = max(definitions.depths(self.K)) if k is None else check_cutoff(k)
        cutoff = ALL if k is None and ALL in self.K else depth
        prepared = prepare_run(replace(self.criteria, K=[cutoff]), hypothesis)
        about_query = self.criteria.reference.about_unknown([query])
        warn_caller(prepared.warnings_with(about_query))
        (listing,) = prepared.lister.listings([query], depth)
        ranks = np.arange(1, len(listing.places) + 1)
        relevant = np.isin(ranks - 1, listing.hits)
        hypotheses = prepared.ranking.columns_at(listing.places, listing.distances)
        columns = {title: hypotheses[field] for field, title in self.criteria.columns.items()}
        frame = pandas.DataFrame({'rank': ranks, **columns})
        frame = frame.assign(relevant=relevant, precision=np.cumsum(relevant) / ranks)
        hits = RankedHits.of([listing.hits + 1], [listing.n_relevant], [listing.n_ranked])
        ((ap,),) = hits.ap([depth], self.definition)
        frame.attrs = {definitions.ap_column(cutoff): float(ap), 'n_relevant': listing.n_relevant}
        return frame

    @shows_progress
    def explain(
        self,
        hypothesis: Run,
        queries: Names | None = None,
        *,
        k: Cutoff = 100,
        near: float = choices.NEAR,
        progress: bool = False,
        name: str | None = None,
    ) -> Diagnosis:
        """Split the loss of a run, 1 - AP at a cutoff, into parts that add up to it.

        Faults are repaired one after another, and each part is the AP that one repair adds.
        `Diagnosis` lists the repairs in their order.

        Parameters
        ----------
        hypothesis, queries, progress, name
            As in `evaluate`.
        k : int or 'all'
            The cutoff, which need not be one of `K`.
        near : float
            The largest distance, from 0 to below 1, at which a name counts as another spelling of
            a query: 0.2 allows one edit in five characters, 0 allows none.

        Returns
        -------
        Diagnosis
            The parts by query and in the mean, confused names, and each query in detail.

        Notes
        -----
        All parts except ``repeats`` are 0 or more, unless the definition divides by the number of
        hits (``hits``), which repairs change. Where the reference repeats rows and the definition
        counts them, no ranking of distinct shots reaches 1: ``cutoff`` includes the difference.

        Takes a few times as long as `evaluate`; longer if much of the run is tied at the cutoff.

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
        cutoffs = check_cutoffs([k], self.criteria.definition, 'k')
        return self.explain_at(hypothesis, queries, K=cutoffs, near=near, name=name)[0]

    @shows_progress
    def explain_at(
        self,
        hypothesis: Run,
        queries: Names | None = None,
        *,
        K: Cutoff | Iterable[Cutoff] | None = None,
        near: float = choices.NEAR,
        progress: bool = False,
        name: str | None = None,
    ) -> list[Diagnosis]:
        """Split the loss of a run at several cutoffs, from one ranking of each query.

        Parameters
        ----------
        hypothesis, queries, near, progress, name
            As in `explain`.
        K : int, 'all' or iterable of these, optional
            The cutoffs; by default `K` of `AveragePrecision`.

        Returns
        -------
        list of Diagnosis
            One for each cutoff, equal to the result of `explain` there.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> diagnoses = average_precision.explain_at('samples/hypothesis.txt', ['nicolas_sarkozy'])
        >>> [(diagnosis.k, round(diagnosis.map, 3)) for diagnosis in diagnoses]
        [(10, 0.299), (100, 0.213)]
        """
        from mediaeval_ap.diagnosis.diagnosing import diagnose

        criteria = self.criteria
        cutoffs = criteria.K if K is None else check_cutoffs(K, criteria.definition)
        name = check_name(name)
        near = criteria.checked_near(near)
        query_table = criteria.read_queries(queries)
        prepared = prepare_run(criteria, hypothesis)
        diagnoses = diagnose(prepared, select_queries(criteria, query_table), cutoffs, near)
        warn_caller(diagnoses[0].warnings)  # the same at all cutoffs
        return [diagnosis.called(name) for diagnosis in diagnoses]

    @shows_progress
    def report(
        self,
        runs: Runs,
        queries: Names | None = None,
        *,
        k: Cutoff | None = None,
        near: float = choices.NEAR,
        teams: Mapping[str, str] | None = None,
        baseline: str | None = None,
        correction: choices.Correction = 'holm',
        level: float = choices.LEVEL,
        cluster: choices.Cluster | None = None,
        by: choices.Grouping | Frame | None = None,
        keep_going: bool = False,
        progress: bool = False,
    ) -> CampaignReport:
        """Compare and diagnose the runs of a campaign, for one page about all of them.

        Reads each run once. Takes the time of `evaluate` and `explain` for each run, and `compare`.

        Parameters
        ----------
        runs : iterable or mapping from str
            The runs. The keys of a mapping name them; otherwise they get the names of their files,
            without the folder and suffix that all share.
        queries, near, progress
            As in `explain`.
        k : int or 'all', optional
            The cutoff of ``diagnoses`` and ``plot.loss()``; by default 100 if it is one of `K`,
            otherwise the last. The page has the loss at each of `K`.
        teams : mapping of str to str, optional
            The team of each run, by the name of the run; by default its name up to the first ``_``.
        baseline : str, optional
            The name of the run with which the leaderboard compares all others.
        correction, level, cluster, by
            As in `compare`.
        keep_going : bool
            Leave out runs with errors, and say so on the page, if another run has none. An error of
            the baseline is always raised.

        Returns
        -------
        CampaignReport
            ``to_html`` writes the page; ``comparison``, ``diagnoses`` and ``evaluations`` are its
            numbers, ``plot`` its figures. With judgements, ``pool`` is the result of `pool`, unless
            ``unjudged='skip'``, where there are no bounds.

        Raises
        ------
        ParameterError, MissingExtraError
            When there is no run, or two runs have the same name; without the extra ``compare``.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> run = 'samples/hypothesis.txt'
        >>> report = average_precision.report([run], 'samples/queries.txt')
        >>> report
        CampaignReport: hypothesis scores MAP@100 0.121
        MAP@100 0.121. There is no other run to compare it with.
        """
        from mediaeval_ap.campaign.collected import make_report
        from mediaeval_ap.comparison.comparison_settings import check_run, check_settings

        if k is None:
            k = 100 if 100 in self.K else self.K[-1]
        (k,) = check_cutoffs([k], self.definition, 'k')
        deepest = max(definitions.depths(self.K))
        settings = check_settings(
            baseline=baseline, correction=correction, level=level, cluster=cluster, by=by
        )
        pooled = self._pooled_runs(runs, queries, teams, depth=deepest, near=near)
        check_run('baseline', baseline, pooled.runs)
        return make_report(pooled, k, settings, teams, keep_going=keep_going)

    @shows_progress
    def pool(
        self,
        runs: Runs,
        queries: Names | None = None,
        *,
        teams: Mapping[str, str] | None = None,
        depth: int | None = None,
        near: float = choices.NEAR,
        progress: bool = False,
    ) -> Pool:
        """Count the teams behind relevant shots; score all runs without the shots of each team.

        Parameters
        ----------
        runs, queries, teams, progress
            As in `report`.
        depth : int, optional
            The number of first ranks of each ranking that count as returned; by default the largest
            cutoff, as bounds leave out unjudged shots at later ranks.
        near : float
            The largest distance from the query to a name whose shots count as returned.

        Returns
        -------
        Pool
            The runs and teams that returned the relevant shots; MAP and ranks without the relevant
            shots that only one team returned, equal bit for bit to `evaluate` with that reference;
            with judgements, bounds over all labels that the unjudged shots of the pool could get.

        Raises
        ------
        ParameterError, MissingExtraError
            With ``unjudged='skip'``; without the extra ``compare``, for two runs or more.

        Warns
        -----
        DataWarning
            When unjudged shots of the pool could reverse the order of the two best runs.

        Notes
        -----
        Reads and ranks each run once; leaving out a team takes time for each query and run, and
        bounds for each unjudged shot of a query.

        References
        ----------
        J. Zobel, "How reliable are the results of large-scale information retrieval experiments?",
        SIGIR 1998.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> pool = average_precision.pool(['samples/hypothesis.txt'], 'samples/queries.txt')
        >>> pool.returned_by
        {0: 93, 1: 51}
        >>> pool.means['hypothesis']['MAP@100'] > pool.without[0].means['hypothesis']['MAP@100']
        True
        """
        from mediaeval_ap.judging.pooling import pool_runs

        if depth is None:
            depth = max(definitions.depths(self.K))
        pool = pool_runs(self._pooled_runs(runs, queries, teams, depth=depth, near=near))
        warn_caller(pool.warnings)
        return pool

    def _pooled_runs(
        self,
        runs: Runs,
        queries: Names | None,
        teams: Mapping[str, str] | None,
        *,
        depth: int,
        near: float,
    ) -> PooledRuns:
        """Validate and read the arguments of `pool`."""
        from mediaeval_ap.campaign.collected import name_runs, teams_of
        from mediaeval_ap.judging.candidates import PooledRuns

        criteria = self.criteria
        run_by_name = name_runs(runs)
        return PooledRuns(
            criteria=criteria,
            runs=run_by_name,
            teams=teams_of(teams, run_by_name),
            queries=select_queries(criteria, criteria.read_queries(queries)),
            depth=check_cutoff(depth, 'depth'),
            near=criteria.checked_near(near),
        )

    @shows_progress
    def judge_next(
        self,
        runs: Runs,
        queries: Names | None = None,
        *,
        n: int = choices.TO_JUDGE,
        by: choices.JudgedBy | None = None,
        strategy: choices.Strategy = 'mtc',
        teams: Mapping[str, str] | None = None,
        depth: int = choices.POOL_DEPTH,
        near: float = choices.NEAR,
        progress: bool = False,
    ) -> Queue:
        """Return the next shots or pairs to judge, by minimal test collections by default.

        Parameters
        ----------
        runs, queries, teams, near, progress
            As in `pool`.
        depth : int
            The number of first ranks of each run whose unjudged shots may be queued.
        n : int
            The largest number of lines.
        by : {'shot', 'pair'}, optional
            A line is a shot, which is judged for all names at once (the default), or a shot and a
            name; for topics of TREC, always a document and a topic.
        strategy : {'mtc', 'rank-sum', 'depth'}
            The order: by the effect on the differences in expected AP at the last cutoff (minimal
            test collections); by the sum of 1/rank over runs and queries; by the best rank.

        Returns
        -------
        Queue
            The lines, best first; it takes judgements, and returns the next line. Without `judged`
            in `AveragePrecision`, the shots of the reference count as judged; by pair, its pairs.

        Raises
        ------
        ParameterError, MissingExtraError
            When no run returns a shot whose name is within `near` of a query; without the extra
            ``compare``, which ``'mtc'`` needs.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[100])
        >>> runs = ['samples/hypothesis.txt']
        >>> queue = average_precision.judge_next(runs, 'samples/queries.txt', strategy='rank-sum')
        >>> queue.lines[0].reason
        '1 of 1 run ranks it 1'
        """
        from mediaeval_ap.judging.candidates import pool_pairs
        from mediaeval_ap.judging.judging_queue import first_queue

        n = choices.check_limit(n, 'n')
        judged_by = self.criteria.judged_by
        by = choices.check_policy('by', by or judged_by[0], judged_by)
        strategy = choices.check_policy('strategy', strategy, choices.STRATEGIES)
        pairs = pool_pairs(self._pooled_runs(runs, queries, teams, depth=depth, near=near))
        queue = first_queue(pairs, n, by, strategy)
        warn_caller(queue.warnings)
        return queue

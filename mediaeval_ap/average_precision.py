"""`AveragePrecision` scores runs against one reference, in sessions and in batches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from mediaeval_ap import choices, definitions
from mediaeval_ap.definitions import ALL, Cutoff, Definition, check_cutoff, check_cutoffs
from mediaeval_ap.errors import ParameterError, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria, Run, check_query
from mediaeval_ap.evaluation.prepared_run import prepare_run, select_queries
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.execute.run_in_blocks import EvaluationRequest, runs_in_blocks
from mediaeval_ap.metrics.ap_of_hits import RankedHits
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.table import Names, Rows

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas
    from distributed import Client

    from mediaeval_ap.campaign.campaign_report import CampaignReport
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis
    from mediaeval_ap.execute.run_in_blocks import Part
    from mediaeval_ap.judging.candidates import PooledRuns
    from mediaeval_ap.judging.judging_queue import Queue
    from mediaeval_ap.judging.pool import Pool
    from mediaeval_ap.live import Live

Runs: TypeAlias = Iterable[Run] | Mapping[str, Run]


class AveragePrecision:
    """Average precision of runs against one reference, at several cutoffs.

    Parameters
    ----------
    reference : str, path-like, file object, DataFrame or iterable of tuples
        The people in each shot: ``corpus_id video_id shot_id person_name``. This and all other
        tables may be anything that `mediaeval_ap.tables.read` takes.
    K : int, 'all' or iterable of these
        The cutoffs, each once; ``'all'`` means average precision without a cutoff.
    subset : like reference, optional
        The videos that count: ``corpus_id video_id``. Rows about other videos are left out.
    definition : str or Definition
        The AP definition, or the name of one that `mediaeval_ap.definitions` has.
    queries_without_relevant : {'count', 'skip'}
        The treatment of given queries without a relevant shot: ``'count'`` gives each the score
        that the definition sets for it, ``'skip'`` leaves all of them out before scoring. A session
        answers them in any case.
    judged : like reference, optional
        The judged shots, ``corpus_id video_id shot_id``, each judged for all names; or judged pairs
        of a shot and a name with their relevance, 0 or 1, as ``corpus_id video_id shot_id
        person_name relevance`` or as qrels of TREC, ``qid iteration docno relevance``, with
        corpus/video/shot as documents. Without it, all that is not in the reference counts as not
        relevant; with it, the reference may be empty.
    unjudged : {'nonrelevant', 'skip'}
        The treatment of returned shots that nobody judged: they count as not relevant, or leave
        the ranking (condensed lists). Order and temporal ranks stay the same as in the whole run.
    drop_unjudged_rows : bool
        Drop rows of the reference about unjudged shots, which are an error otherwise.

    Raises
    ------
    ParameterError
        When an argument is not valid, or no row of the reference is in the subset.
    ReadError, FormatError
        When the reference, the subset or the judgements cannot be read, or these contradict the
        reference.

    Warns
    -----
    DataWarning
        When the reference repeats rows.

    Notes
    -----
    All methods take a run and queries as `evaluate` does, and several runs with teams as `report`
    does; they raise and warn like these. Their descriptions tell only the differences.

    Examples
    --------
    >>> session = AveragePrecision('samples/reference.txt', K=[10])('samples/hypothesis.txt')
    >>> session.send('alain_juppe')
    Answer(ap=[0.0], n_relevant=2)
    """

    def __init__(
        self,
        reference: Rows,
        K: Cutoff | Iterable[Cutoff] = definitions.CUTOFFS,
        *,
        subset: Rows | None = None,
        definition: str | Definition = definitions.DEFAULT,
        queries_without_relevant: choices.WithoutRelevant = 'count',
        judged: Rows | None = None,
        unjudged: choices.Unjudged = 'nonrelevant',
        drop_unjudged_rows: bool = False,
    ) -> None:
        self.criteria = Criteria.read(
            reference,
            K,
            definition=definition,
            subset=subset,
            queries_without_relevant=queries_without_relevant,
            judged=judged,
            unjudged=unjudged,
            drop_unjudged_rows=drop_unjudged_rows,
        )
        warn_caller(self.criteria.repeated_rows())

    def __repr__(self) -> str:
        return f'AveragePrecision({self.criteria})'

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

    def __call__(self, hypothesis: Run) -> Session:
        """Begin a session, which answers one query after another.

        Parameters
        ----------
        hypothesis
            A run. It is read now, in O(n log n) time for n hypotheses, not at the first query.

        Returns
        -------
        Session
            A primed coroutine: ``send(query)`` returns ``(ap, n_relevant)``.
        """
        prepared = prepare_run(self.criteria, hypothesis)
        warn_caller(prepared.warnings_with([]))
        return Session(prepared.lister, self.criteria)

    @shows_progress
    def evaluate(
        self,
        hypothesis: Run,
        queries: Names | None = None,
        *,
        progress: bool = False,
        measures: str | Iterable[str] = (),
        jobs: int | Literal['all'] | Executor | Client = 1,
        resume: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> Evaluation:
        """Score a run on many queries at once.

        Once the run is read, takes time in proportion to the number of queries times the number of
        distinct names of the run.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame, iterable of tuples, Store or Ranking
            A run: ``corpus_id video_id shot_id person_name confidence``; or a store or its path, or
            a ranking from `Live.snapshot`.
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path, so give one name as a list. By default all
            names of the reference.
        progress : bool
            Show progress on standard error, if it takes longer than half a second.
        measures : str or iterable of str
            Measures of ir_measures to add, such as ``'nDCG@10 P@5 RR'``, separated by spaces or
            commas. They are computed on the rankings that `export_trec` writes, down to 1000 shots,
            or further if a measure has a larger cutoff.
        jobs : int, 'all', Executor or Client
            The largest number of processes that share the queries; ``'all'`` for one on each core;
            or an executor of `concurrent.futures`, or a client of Dask, that scores all of them.
            The result is the same, bit for bit. Small evaluations stay in this process.
        resume : str or path-like, optional
            A folder that keeps the result of each block of queries, for this evaluation only;
            created if it does not exist. Blocks that it has already are not computed again. A run
            that is a path must be a file, not a pipe, so that it can be read again.
        name : str, optional
            The name of the run; by default the name of its file, without folder and suffix.

        Returns
        -------
        Evaluation
            Values by query, equal bit for bit to the answers of a session, and their means.

        Raises
        ------
        ReadError, WriteError, FormatError
            When the run or the queries cannot be read; when the folder cannot be written to,
            belongs to another evaluation, or has a file that is cut off.
        ParameterError, MissingExtraError
            When a measure is unknown, cannot be computed, or has the name of another column; when
            the extra ``trec``, which measures need, is not installed.
        ProcessError
            When a process ends before its work is done, for example for lack of memory; when the
            scheduler of a cluster is lost, or its workers have other versions.

        Warns
        -----
        DataWarning
            When the run or the queries repeat rows, or average precision exceeds 1.
        NoOverlapWarning
            When no shot of the run is in the subset or the reference, or no query or name of the
            run is in the reference; when ids of shots lost leading zeros.
        WithoutRelevantWarning
            When some queries have no relevant shot, or are not names in the reference.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> queries = ['nicolas_sarkozy', 'alain_juppe']
        >>> average_precision.evaluate('samples/hypothesis.txt', queries).map.round(3)
        array([0.149, 0.106])
        """
        n_jobs = choices.check_jobs(jobs)
        name = check_name(name)
        request = EvaluationRequest.of(self.criteria, queries, measures)
        (run,) = runs_in_blocks(request, [hypothesis], resume, [name])
        run.compute(n_jobs)
        evaluation = run.evaluation()
        warn_caller(evaluation.warnings)
        return evaluation

    @shows_progress
    def evaluate_part(
        self,
        hypothesis: Run,
        queries: Names | None = None,
        *,
        part: tuple[int, int],
        resume: str | os.PathLike[str],
        progress: bool = False,
        measures: str | Iterable[str] = (),
        jobs: int | Literal['all'] | Executor | Client = 1,
    ) -> Part:
        """Score a run on one of n parts of the queries, and keep the values in a folder.

        Parameters
        ----------
        hypothesis, queries, progress, measures, jobs
            As in `evaluate`; the same for all parts, except `jobs`.
        part : tuple of two int
            ``(i, n)``: every n-th block of queries, beginning with the i-th; i is from 1 to n.
        resume : str or path-like
            The folder of all parts, which may run at the same time or one after another.

        Returns
        -------
        Part
            The numbers of blocks that were computed, and that the folder had already.
            `mediaeval_ap.collect` joins them, warns about their values, and has an example.
        """
        part = choices.check_part(part)
        n_jobs = choices.check_jobs(jobs)
        if resume is None:
            raise ParameterError('found None, expected the path of a folder', 'resume')
        request = EvaluationRequest.of(self.criteria, queries, measures)
        (run,) = runs_in_blocks(request, [hypothesis], resume)
        return run.compute_part(part, n_jobs)

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
            ``precision`` down to that rank. Hypotheses that the definition drops are left out.
            ``attrs`` has AP at the cutoff k, such as ``AP@10``, and ``n_relevant``, the number of
            relevant shots.

        Examples
        --------
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
        frame = pandas.DataFrame({'rank': ranks, **hypotheses})
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

        Takes a few times as long as `evaluate`; longer if a large part of the run is tied at the
        cutoff, in both distance and confidence.

        Examples
        --------
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
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> diagnoses = average_precision.explain_at('samples/hypothesis.txt', ['nicolas_sarkozy'])
        >>> [(diagnosis.k, round(diagnosis.map, 3)) for diagnosis in diagnoses]
        [(10, 0.299), (100, 0.213)]
        """
        from mediaeval_ap.diagnosis.diagnosing import diagnose

        criteria = self.criteria
        cutoffs = criteria.K if K is None else check_cutoffs(K, criteria.definition)
        name = check_name(name)
        near = choices.check_near(near)
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
        queries, progress
            As in `evaluate`.
        k : int or 'all', optional
            The cutoff of ``diagnoses`` and ``plot.loss()``; by default 100 if it is one of `K`,
            otherwise the last. The page has the loss at each of `K`.
        near : float
            As in `explain`.
        teams : mapping of str to str, optional
            The team of each run, by the name of the run; by default its name up to the first ``_``.
        baseline : str, optional
            The name of the run with which the leaderboard compares all others.
        correction, level, cluster
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
            baseline=baseline, correction=correction, level=level, cluster=cluster
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
        Reads and ranks each run once; leaving out a team takes time for each query and run. Bounds
        also take time for each unjudged shot of a query. They may be wider than needed where a
        definition counts shots again, for ``n_wider`` queries of `Bounds`.

        References
        ----------
        J. Zobel, "How reliable are the results of large-scale information retrieval experiments?",
        SIGIR 1998.

        Examples
        --------
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
            near=choices.check_near(near),
        )

    @shows_progress
    def judge_next(
        self,
        runs: Runs,
        queries: Names | None = None,
        *,
        n: int = choices.TO_JUDGE,
        by: choices.JudgedBy = 'shot',
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
        by : {'shot', 'pair'}
            A line is a shot, which is judged for all names at once, or a shot and a name.
        strategy : {'mtc', 'rank-sum', 'depth'}
            The order: largest effect on the difference in expected AP of the runs at the last
            cutoff (minimal test collections); largest sum of 1/rank over runs and queries; best
            rank.

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
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[100])
        >>> runs = ['samples/hypothesis.txt']
        >>> queue = average_precision.judge_next(runs, 'samples/queries.txt', strategy='rank-sum')
        >>> queue.lines[0].reason
        '1 of 1 run ranks it 1'
        """
        from mediaeval_ap.judging.candidates import pool_pairs
        from mediaeval_ap.judging.judging_queue import first_queue

        n = choices.check_limit(n, 'n')
        by = choices.check_policy('by', by, choices.JUDGED_BY)
        strategy = choices.check_policy('strategy', strategy, choices.STRATEGIES)
        pairs = pool_pairs(self._pooled_runs(runs, queries, teams, depth=depth, near=near))
        queue = first_queue(pairs, n, by, strategy)
        warn_caller(queue.warnings)
        return queue

    def live(self, hypothesis: Run | None = None) -> Live:
        """Begin a session on hypotheses that can be added, changed and removed.

        Parameters
        ----------
        hypothesis : optional
            A run to begin with.

        Returns
        -------
        Live
            A session that takes hypotheses and answers queries.

        Examples
        --------
        >>> live = AveragePrecision('samples/reference.txt', K=[10]).live('samples/hypothesis.txt')
        >>> len(live)
        12000
        """
        from mediaeval_ap.live import Live

        live = Live(self.criteria)
        if hypothesis is not None:
            live.extend(hypothesis)
        return live

    def export_trec(
        self,
        hypothesis: Run,
        qrels: str | os.PathLike[str],
        run: str | os.PathLike[str],
        queries: Names | None = None,
        *,
        k: int = choices.TREC_DEPTH,
        tag: str = 'mediaeval_ap',
    ) -> None:
        """Write a run and the reference as files that every TREC tool reads.

        Parameters
        ----------
        hypothesis, queries
            As in `evaluate`.
        qrels, run : str or path-like
            The files to write; both are on the disk before either replaces an older one. A query is
            a topic, a shot the document ``corpus/video/shot``. White space, ``%`` and ``/`` in
            these are percent-encoded, and so is a ``#`` or a byte order mark at the beginning of a
            query. Scores are integers that decrease strictly.
        k : int
            The largest number of shots for a query, up to 2**24.
        tag : str
            The name of the run: one word.

        Raises
        ------
        WriteError, ParameterError
            When a file cannot be written; when `k` or `tag` is wrong, both files are the same, or a
            file would be empty, as the run returns no shot for any query with a relevant shot.

        Warns
        -----
        DataWarning
            When a query has no relevant shot: the qrels leave it out.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')])
        >>> hypothesis = [('x', 'v', '1', 'ann', 0.5)]
        >>> average_precision.export_trec(hypothesis, folder / 'qrels', folder / 'run')
        >>> print((folder / 'run').read_text(), end='')
        ann Q0 x/v/1 1 1 mediaeval_ap
        """
        from mediaeval_ap.trec.topics import export, topics

        criteria = self.criteria
        selected = select_queries(criteria, criteria.read_queries(queries))
        prepared = prepare_run(criteria, hypothesis)
        warn_caller(prepared.warnings_with(selected.warnings))
        export(topics(prepared, selected.names, check_cutoff(k)), qrels, run, tag)

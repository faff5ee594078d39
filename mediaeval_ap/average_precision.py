"""`AveragePrecision`: sessions and batches that score runs against one reference."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mediaeval_ap import choices, definitions
from mediaeval_ap.definitions import ALL, Cutoff, Definition, check_cutoff, check_cutoffs
from mediaeval_ap.errors import ParameterError, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria, Run, check_query
from mediaeval_ap.evaluation.scoring import prepare_run, select_queries
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.execute.run_in_blocks import runs_in_blocks
from mediaeval_ap.execute.worker_tasks import EvaluationRequest
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.table import Names, Rows

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas
    from distributed import Client

    from mediaeval_ap.campaign.campaign_report import CampaignReport
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis
    from mediaeval_ap.execute.run_in_blocks import Part
    from mediaeval_ap.judging.judging_queue import Queue
    from mediaeval_ap.judging.pool import Pool
    from mediaeval_ap.live import Live


class AveragePrecision:
    """Average precision of runs against one reference, at several cutoffs.

    Parameters
    ----------
    reference : str, path-like, file object, DataFrame or iterable of tuples
        Who is in which shot: ``corpus_id video_id shot_id person_name``. This and all other tables
        may be anything that `mediaeval_ap.tables.read` takes.
    K : int, 'all' or iterable of these
        The cutoffs, each once; ``'all'`` means no cutoff (average precision without a cutoff).
    subset : like reference, optional
        The videos that count: ``corpus_id video_id``. Rows about other videos are left out.
    definition : str or Definition
        AP definition: a name that `mediaeval_ap.definitions` knows, or a value.
    queries_without_relevant : {'count', 'skip'}
        What becomes of queries that are given and have no relevant shot: each scores what the
        definition says, or all are left out before anything is scored. A query that is sent to a
        session is answered in any case.
    judged : like reference, optional
        What was looked at: shots, ``corpus_id video_id shot_id``, for all names at once; or pairs
        with their relevance, 0 or 1, as ``corpus_id video_id shot_id person_name relevance`` or as
        qrels of TREC, ``qid iteration docno relevance``, with corpus/video/shot as documents. With
        it, the reference may be empty.
    unjudged : {'nonrelevant', 'skip'}
        What becomes of returned shots that nobody judged: they count as not relevant, or leave the
        ranking (condensed lists). Order and temporal ranks are those of the whole run.
    drop_unjudged_rows : bool
        Drop rows of the reference about shots that are not judged, which are an error otherwise.

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
    Methods take runs and queries, raise and warn as `evaluate` does, and runs, teams and queries of
    several runs as `report`. Their own pages say what they add.

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
        how = definition, subset, queries_without_relevant
        self.criteria = Criteria.read(reference, K, *how, judged, unjudged, drop_unjudged_rows)
        warn_caller(self.criteria.repeated_rows())

    def __repr__(self) -> str:
        return f'AveragePrecision({self.criteria})'

    @property
    def K(self) -> list[Cutoff]:
        """The cutoffs, as they were given."""
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
        """Begin a session that answers one query after another.

        Parameters
        ----------
        hypothesis
            A run. It is read here, in O(n log n) time for n hypotheses, not at the first query.

        Returns
        -------
        Session
            A primed coroutine: ``send(query)`` returns ``(ap, n_relevant)``.
        """
        run = prepare_run(self.criteria, hypothesis)
        warn_caller(run.warnings_with([]))
        return Session(run.scorer, self.criteria)

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

        Takes time in proportion to queries times distinct names of the run, once it is read.

        Parameters
        ----------
        hypothesis : str, path-like, file object, DataFrame, iterable of tuples, Store or Ranking
            A run: ``corpus_id video_id shot_id person_name confidence``; the path of a store is one
            as well, and a ranking is from `Live.snapshot`.
        queries : str, path-like, file object, DataFrame or iterable of str, optional
            The names to ask for; a string is a path, so one name is a list of one. By default all
            of the reference.
        progress : bool
            Show progress on standard error, if it takes longer than half a second.
        measures : str or iterable of str
            Measures of ir_measures to add, between spaces or commas, such as ``'nDCG@10 P@5 RR'``.
            They are computed on the rankings that `export_trec` writes: of 1000 shots, or the
            largest cutoff of a measure.
        jobs : int, 'all', Executor or Client
            The number of processes that share the queries at most; ``'all'`` for one on each core;
            or an executor of `concurrent.futures`, or a client of Dask, that does all of them.
            The result is the same, bit for bit. Small evaluations stay in this process.
        resume : str or path-like, optional
            A folder that keeps the result of each block of queries, of this evaluation alone. What
            is in it already is not computed again; it is made if it is not there. A run that is a
            path must be a file, which can be read again.
        name : str, optional
            The name of the run; by default that of its file, without folder and suffix.

        Returns
        -------
        Evaluation
            Values by query, equal bit for bit to the answers of a session, and their means.

        Raises
        ------
        ReadError, FormatError
            When the run or the queries cannot be read; when the folder is of another evaluation, or
            a file of it was cut.
        WriteError
            When the folder cannot be written to.
        ParameterError, MissingExtraError
            When a measure is unknown, cannot be computed, or has the name of another column; when
            the extra ``trec`` that measures need is not installed.
        ProcessError
            When a process ends before its work is done, as for lack of memory; when a scheduler is
            lost, or its workers have other versions.

        Warns
        -----
        DataWarning
            When the run or the queries repeat rows, or average precision exceeds 1.
        NoOverlapWarning
            When no shot of the run is in the subset or the reference, or no query in the reference.
        WithoutRelevantWarning
            When some queries have no relevant shot, or are no names of the reference.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> asked = ['nicolas_sarkozy', 'alain_juppe']
        >>> average_precision.evaluate('samples/hypothesis.txt', asked).map.round(3)
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
        """Score a run on one of n shares of the queries, and keep the values in a folder.

        Parameters
        ----------
        hypothesis, queries, progress, measures, jobs
            As of `evaluate`; the same for all parts, but for jobs.
        part : tuple of two int
            ``(i, n)``: every n-th block of queries, from the i-th, which counts from 1.
        resume : str or path-like
            The folder, which all parts share, at the same time or not.

        Returns
        -------
        Part
            How many blocks were computed, and how many were there already. `mediaeval_ap.collect`
            puts them together, and warns of the values.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> folder = pathlib.Path(tempfile.mkdtemp(), 'blocks')
        >>> for _ in 'once', 'again':
        ...     average_precision.evaluate_part(
        ...         'samples/hypothesis.txt', ['alain_juppe'], part=(1, 1), resume=folder
        ...     )
        Part(computed=1, found=0)
        Part(computed=0, found=1)
        """
        part = choices.check_part(part)
        n_jobs = choices.check_jobs(jobs)
        if resume is None:
            raise ParameterError('resume: found None, expected the path of a folder')
        request = EvaluationRequest.of(self.criteria, queries, measures)
        (run,) = runs_in_blocks(request, [hypothesis], resume)
        return run.compute_part(part, n_jobs)

    def rank(self, hypothesis: Run, query: str, k: int | None = None) -> pandas.DataFrame:
        """Return the first hypotheses for a query, as they are scored.

        Parameters
        ----------
        hypothesis, query
            A run and a name.
        k : int, optional
            The number of hypotheses, which is positive; by default the largest cutoff.

        Returns
        -------
        pandas.DataFrame
            Columns ``rank`` (from 1), ``corpus_id``, ``video_id``, ``shot_id``, ``person_name``,
            ``distance``, ``confidence``, ``temporal_rank`` (from 1), ``relevant``, and
            ``precision`` down to that rank. Hypotheses that the definition drops are left out. Its
            ``attrs`` have AP at that cutoff, as ``AP@10``, and ``n_relevant``, the number of
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
        run = prepare_run(replace(self.criteria, K=[cutoff]), hypothesis)
        about_query = self.criteria.reference.about_unknown([query])
        warn_caller(run.warnings_with(about_query))
        ((places, hits, distances),) = run.scorer.top([query], depth)
        ranks = np.arange(1, len(places) + 1)
        relevant = np.isin(ranks - 1, hits)
        frame = pandas.DataFrame({'rank': ranks, **run.ranking.columns_at(places, distances)})
        frame = frame.assign(relevant=relevant, precision=np.cumsum(relevant) / ranks)
        (((ap,),), (n_relevant,)) = run.scorer.score_hits([query], [hits])
        frame.attrs = {definitions.ap_column(cutoff): float(ap), 'n_relevant': int(n_relevant)}
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

        One thing after another is repaired, and each part is the AP that its repair adds:
        `Diagnosis` has them in their order.

        Parameters
        ----------
        hypothesis, queries, progress, name
            As of `evaluate`.
        k : int or 'all'
            The cutoff, which need not be one of `K`.
        near : float
            The largest distance, from 0 to below 1, at which a name is taken for another spelling
            of a query: 0.2 allows one edit in five characters. With 0 there is no such name.

        Returns
        -------
        Diagnosis
            The parts by query and in the mean, names that were confused, and each query in detail.

        Notes
        -----
        All parts but ``repeats`` are 0 or more, except for definitions that divide by the number
        of hits (``hits``), which repairs change. Where the reference repeats rows and the
        definition counts them, no ranking of distinct shots reaches 1: the rest is in ``cutoff``.

        Takes a few times as long as `evaluate`; longer where a large part of the run is equally far
        from a query, and equally confident, at the cutoff.

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
            As of `explain`.
        K : int, 'all' or iterable of these, optional
            The cutoffs; by default those of `AveragePrecision`.

        Returns
        -------
        list of Diagnosis
            One for each cutoff, equal to that of `explain`.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> found = average_precision.explain_at('samples/hypothesis.txt', ['nicolas_sarkozy'])
        >>> [(diagnosis.k, round(diagnosis.map, 3)) for diagnosis in found]
        [(10, 0.299), (100, 0.213)]
        """
        from mediaeval_ap.diagnosis.diagnosis import diagnose

        criteria = self.criteria
        cutoffs = criteria.K if K is None else check_cutoffs(K, criteria.definition)
        name = check_name(name)
        near = choices.check_near(near)
        asked = criteria.read_queries(queries)
        found = diagnose(criteria, prepare_run(criteria, hypothesis), asked, cutoffs, near)
        warn_caller(found[0].warnings)  # all have the same
        return [each.called(name) for each in found]

    @shows_progress
    def report(
        self,
        runs: Iterable[Any] | Mapping[str, Any],
        queries: Names | None = None,
        *,
        k: Cutoff | None = None,
        near: float = choices.NEAR,
        teams: Mapping[str, str] | None = None,
        baseline: str | None = None,
        correction: choices.Correction = 'holm',
        level: float = choices.LEVEL,
        cluster: choices.Cluster | None = None,
        progress: bool = False,
    ) -> CampaignReport:
        """Compare and diagnose the runs of a campaign, for one page about all of them.

        Each run is read once. Takes the time of `evaluate` and `explain` for each, and `compare`.

        Parameters
        ----------
        runs : iterable or mapping from str
            The runs. The keys of a mapping name them; else they have the names of their files,
            without the suffix and folder that all have in common.
        queries, progress
            As of `evaluate`.
        k : int or 'all', optional
            The cutoff of ``diagnoses`` and ``plot.loss()``; by default 100 if it is one of `K`,
            else the last. The page has the loss at each of `K`.
        near : float
            As of `explain`.
        teams : mapping of str to str, optional
            The teams of runs, by the names of the runs; by default what is before the first ``_``.
        baseline : str, optional
            The run to compare all others with on the leaderboard, by its name.
        correction, level, cluster
            As of `compare`.

        Returns
        -------
        CampaignReport
            ``to_html`` writes the page; ``comparison``, ``diagnoses`` and ``evaluations`` are its
            numbers, ``plot`` its figures. With judgements, ``pool`` is what `pool` returns; not
            with ``unjudged='skip'``, where there are no bounds.

        Raises
        ------
        ParameterError, MissingExtraError
            When there is no run, or two have one name; without the extra ``compare``.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> run = 'samples/hypothesis.txt'
        >>> report = average_precision.report([run], 'samples/queries.txt')
        >>> report
        CampaignReport: hypothesis scores MAP@100 0.121
        MAP@100 0.121. There is no other run to compare it with.
        """
        from mediaeval_ap.campaign.collected import make_report, name_runs, teams_of
        from mediaeval_ap.comparison.testing import check_run, checked_settings

        criteria = self.criteria
        by_default = 100 if 100 in criteria.K else criteria.K[-1]
        (loss_at,) = check_cutoffs([by_default if k is None else k], criteria.definition, 'k')
        near = choices.check_near(near)
        settings = checked_settings(
            baseline=baseline,
            correction=correction,
            level=level,
            cluster=cluster,
        )
        by_name = name_runs(runs)
        check_run('baseline', baseline, by_name)
        of_runs = teams_of(teams, by_name)
        asked = criteria.read_queries(queries)
        report = make_report(criteria, by_name, asked, loss_at, near, settings, of_runs)
        warn_caller(report.warnings)
        return report

    @shows_progress
    def pool(
        self,
        runs: Iterable[Any] | Mapping[str, Any],
        queries: Names | None = None,
        *,
        teams: Mapping[str, str] | None = None,
        depth: int | None = None,
        near: float = choices.NEAR,
        progress: bool = False,
    ) -> Pool:
        """Say who found the relevant shots, and score all runs without what one team found.

        Parameters
        ----------
        runs, queries, teams, progress
            As of `report`.
        depth : int, optional
            How many first ranks of each ranking count as returned; by default the largest cutoff,
            as bounds leave out unjudged shots at later ranks.
        near : float
            The largest distance from the query to a name under which a shot counts as returned.

        Returns
        -------
        Pool
            Who returned the relevant shots; MAP and ranks without what only one team returned,
            equal bit for bit to those of `evaluate` with that reference; with judgements, bounds
            over all labels that the unjudged shots of the pool could get.

        Raises
        ------
        ParameterError, MissingExtraError
            With ``unjudged='skip'``; without the extra ``compare``, for two runs or more.

        Warns
        -----
        DataWarning
            When unjudged shots of the pool could turn the order of the two best runs.

        Notes
        -----
        Each run is read and ranked once; leaving out a team takes time for each query and run.
        Bounds take time for each unjudged shot of a query, too. They may be wider than needed where
        a definition counts shots again; a note says so, and ``n_wider`` of `Bounds` has the number
        of queries.

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
        from mediaeval_ap.judging.pool import pool_runs

        depth = max(definitions.depths(self.K)) if depth is None else depth
        found = pool_runs(*self._pooled(runs, queries, teams, depth, near))
        warn_caller(found.warnings)
        return found

    def _pooled(
        self, runs: Any, queries: Any, teams: Any, depth: int, near: float
    ) -> tuple[Criteria, dict[str, Any], Table | None, dict[str, str], int, float]:
        """Return what a pool is made of: the arguments of `pool`, checked."""
        from mediaeval_ap.campaign.collected import name_runs, teams_of

        by_name = name_runs(runs)
        of_runs = teams_of(teams, by_name)
        asked = self.criteria.read_queries(queries)
        depth = check_cutoff(depth, 'depth')
        near = choices.check_near(near)
        return self.criteria, by_name, asked, of_runs, depth, near

    @shows_progress
    def judge_next(
        self,
        runs: Iterable[Any] | Mapping[str, Any],
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
        """Return the next shots or pairs to judge, so that the order of runs becomes right soon.

        Parameters
        ----------
        runs, queries, teams, near, progress
            As of `pool`.
        depth : int
            What runs return in so many first ranks, and is not judged, may be queued.
        n : int
            The number of lines at most.
        by : {'shot', 'pair'}
            A line is a shot, which is judged for all names at once, or a shot and a name.
        strategy : {'mtc', 'rank-sum', 'depth'}
            What comes first: what most separates the expected AP of the runs at the last cutoff
            (minimal test collections); the largest sum of 1/rank over runs and queries; the best
            rank.

        Returns
        -------
        Queue
            The lines, best first, and what comes after a judgement. All is to be judged if the
            evaluator was made without `judged`.

        Raises
        ------
        ParameterError, MissingExtraError
            When no run returns a shot under a name near a query; without the extra ``compare``,
            which mtc needs.

        Examples
        --------
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[100])
        >>> runs = ['samples/hypothesis.txt']
        >>> queue = average_precision.judge_next(runs, 'samples/queries.txt', strategy='rank-sum')
        >>> queue.lines[0].reason
        'hypothesis has it at 1'
        """
        from mediaeval_ap.judging.candidates import pool_pairs
        from mediaeval_ap.judging.judging_queue import first_queue

        n = choices.check_limit(n, 'n')
        by = choices.check_policy('by', by, choices.JUDGED_BY)
        strategy = choices.check_policy('strategy', strategy, choices.STRATEGIES)
        pairs = pool_pairs(*self._pooled(runs, queries, teams, depth, near))
        found = first_queue(pairs, n, by, strategy)
        warn_caller(found.warnings)
        return found

    def live(self, hypothesis: Run | None = None) -> Live:
        """Begin a session about hypotheses that are added, changed and removed.

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
            As of `evaluate`.
        qrels, run : str or path-like
            The files to write; both are on the disk before either replaces an older one. A query is
            a topic, a shot the document ``corpus/video/shot``. White space, ``%`` and ``/`` in them
            are percent-encoded, and so is a ``#`` or a byte order mark at the beginning of a query.
            Scores are integers that decrease strictly.
        k : int
            The number of shots to return at most, up to 2**24.
        tag : str
            The name of the run: one word.

        Raises
        ------
        WriteError, ParameterError
            When a file cannot be written; when k or the tag is wrong, both files are the same, or
            a file would be empty, as the run returns no shot for a query that has a relevant one.

        Warns
        -----
        DataWarning
            When no shot is relevant to a query, so that it is not in the qrels.

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
        asked, _, about_queries, _ = select_queries(criteria, criteria.read_queries(queries))
        counted = prepare_run(criteria, hypothesis)
        warn_caller(counted.warnings_with(about_queries))
        export(topics(counted, asked, check_cutoff(k)), qrels, run, tag)

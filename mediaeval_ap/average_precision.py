"""`AveragePrecision` scores runs against one reference, in sessions and in batches."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from mediaeval_ap import choices, definitions
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoff
from mediaeval_ap.errors import ParameterError, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria, Run
from mediaeval_ap.evaluation.prepared_run import prepare_run
from mediaeval_ap.evaluation.session import Session
from mediaeval_ap.evaluator import Evaluator
from mediaeval_ap.execute.run_in_blocks import EvaluationRequest, runs_in_blocks
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.table import Names, Rows

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from distributed import Client

    from mediaeval_ap.execute.run_in_blocks import Part
    from mediaeval_ap.live import Live


class AveragePrecision(Evaluator):
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
            a topic, a shot the document ``corpus/video/shot``, percent-encoded for tools of TREC.
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
        from mediaeval_ap.atomic_files import write_all_whole
        from mediaeval_ap.trec.topics import export

        runs = {os.fsdecode(run): (hypothesis, tag)}
        write_all_whole(export(self.criteria, runs, qrels, queries=queries, k=check_cutoff(k)))

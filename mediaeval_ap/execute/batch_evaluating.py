"""`AveragePrecision.evaluate` and `evaluate_part`: many queries at once."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mediaeval_ap.choices import check_jobs, check_part
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import (
    names_asked,
    read_counted,
    with_skipped,
    with_warnings,
)
from mediaeval_ap.execute.job import score_with_measures
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.evaluation import Evaluation

if TYPE_CHECKING:
    from mediaeval_ap.execute.resuming import KeptRun, Part


class BatchEvaluating:
    """Evaluation criteria by which a run can be scored on many queries at once."""

    _criteria: Criteria

    @shows_progress
    def evaluate(
        self,
        hypothesis: Any,
        queries: Any = None,
        *,
        progress: bool = False,
        measures: str | Iterable[str] = (),
        jobs: int | Literal['all'] = 1,
        resume: str | os.PathLike[str] | None = None,
    ) -> Evaluation:
        """Score a run on many queries at once.

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
            Measures of ir_measures to add, between spaces or commas, such as
            ``'nDCG@10 P@5 RR'``. They are computed on the
            rankings that `export_trec` writes: of 1000 shots, or the largest cutoff of a measure.
        jobs : int or 'all'
            The number of processes that share the queries at most; ``'all'`` for one on each core.
            The result is the same, bit for bit. Small evaluations stay in this process.
        resume : str or path-like, optional
            A folder that keeps the result of each block of queries, of this evaluation alone. What
            is in it already is not computed again; it is made if it is not there.

        Returns
        -------
        Evaluation
            Values by query, equal bit for bit to the answers of a session, and their means.

        Raises
        ------
        ReadError, FormatError
            When the run or the queries cannot be read; when the folder is of another evaluation, or
            a file of it was cut or edited.
        WriteError
            When the folder cannot be written to.
        ParameterError, MissingExtraError
            When a measure is unknown, cannot be computed, or has the name of another column; when
            the extra ``trec`` that measures need is not installed.
        ProcessError
            When one of several processes ends before its work is done, as for lack of memory.

        Warns
        -----
        RepeatedRowsWarning, RepeatedQueriesWarning
            When the run or the queries repeat rows.
        EmptyRunWarning, NoOverlapWarning
            When no shot of the run is in the subset or the reference, or no query in the reference.
        WithoutRelevantWarning, ScoreAboveOneWarning
            When some queries have no relevant shot, or average precision exceeds 1.

        Notes
        -----
        Takes time in proportion to queries times distinct names of the run, once it is read.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10, 100])
        >>> asked = ['nicolas_sarkozy', 'alain_juppe']
        >>> average_precision.evaluate('samples/hypothesis.txt', asked).map.round(3)
        array([0.149, 0.106])
        """
        n_jobs = check_jobs(jobs)
        if resume is not None:
            (kept,) = self._keep([hypothesis], queries, measures, resume)
            kept.compute(jobs=n_jobs)
            evaluation = kept.evaluation()
        elif n_jobs > 1:
            from mediaeval_ap.execute.evaluating import given_out

            (result,) = self._evaluate_runs([hypothesis], queries, measures, n_jobs)
            return given_out(result)
        else:
            parsed = self._measures(measures)
            asked = self._criteria.read_queries(queries)
            names, n_skipped, about_queries = names_asked(self._criteria, asked)
            run = read_counted(self._criteria, hypothesis)
            source = None if asked is None else asked.source
            evaluation = score_with_measures(run, names, source, parsed)
            evaluation = with_skipped(evaluation, n_skipped)
            evaluation = with_warnings(evaluation, self._criteria, run.warnings_with(about_queries))
        warn_caller(evaluation.warnings)
        return evaluation

    def _evaluate_runs(
        self,
        runs: Sequence[Any],
        queries: Any,
        measures: str | Iterable[str],
        jobs: int,
    ) -> Generator[Evaluation | Exception]:
        """Score runs by several processes; yield for each its result, or what it would raise."""
        from mediaeval_ap.execute.evaluating import evaluate_runs

        parsed = self._measures(measures)
        asked = self._criteria.read_queries(queries)
        return evaluate_runs(self._criteria, runs, asked, parsed, jobs)

    @shows_progress
    def evaluate_part(
        self,
        hypothesis: Any,
        queries: Any = None,
        *,
        part: tuple[int, int],
        resume: str | os.PathLike[str],
        progress: bool = False,
        measures: str | Iterable[str] = (),
        jobs: int | Literal['all'] = 1,
    ) -> Part:
        """Score a run on one of n shares of the queries, and keep the values in a folder.

        Parameters
        ----------
        hypothesis, queries, progress, measures, jobs
            As `evaluate` takes them; the same for all parts, but for jobs. A run that is a path
            must be a file, which can be read again.
        part : tuple of two int
            ``(i, n)``: every n-th block of queries, from the i-th, which counts from 1.
        resume : str or path-like
            The folder, which all parts share, at the same time or not. It is made if it is not
            there.

        Returns
        -------
        Part
            How many blocks were computed, and how many were there already. `mediaeval_ap.collect`
            puts them together.

        Raises
        ------
        ReadError, FormatError, WriteError, MissingExtraError
            As of `evaluate`.
        ParameterError
            As of `evaluate`, and when the part is not two integers i and n, i from 1 to n.

        Warns
        -----
        RepeatedRowsWarning, RepeatedQueriesWarning, EmptyRunWarning, NoOverlapWarning
            As of `evaluate`, where a block is computed. `collect` warns of the values.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mediaeval_ap import AveragePrecision
        >>> average_precision = AveragePrecision('samples/reference.txt', K=[10])
        >>> folder = pathlib.Path(tempfile.mkdtemp(), 'blocks')
        >>> for _ in 'once', 'again':
        ...     average_precision.evaluate_part(
        ...         'samples/hypothesis.txt', ['alain_juppe'], part=(1, 1), resume=folder
        ...     )
        Part(computed=1, found=0)
        Part(computed=0, found=1)
        """
        part, n_jobs = check_part(part), check_jobs(jobs)
        (kept,) = self._keep([hypothesis], queries, measures, resume)
        return kept.compute_part(part, n_jobs)

    def _keep(
        self,
        runs: Sequence[Any],
        queries: Any,
        measures: str | Iterable[str],
        folder: str | os.PathLike[str],
    ) -> list[KeptRun]:
        """Begin to score runs in blocks that are kept in a folder, or go on with it."""
        from mediaeval_ap.execute.resuming import keep

        parsed = self._measures(measures)
        return keep(self._criteria, runs, self._criteria.read_queries(queries), parsed, folder)

    def _measures(self, measures: str | Iterable[str]) -> list[Any]:
        """Return measures of ir_measures that a reference allows, beside average precision."""
        if not measures:
            return []
        from mediaeval_ap.trec.measures import check_columns, parse_measures, refuse_nonrelevant

        parsed = parse_measures(measures)
        refuse_nonrelevant(parsed)
        check_columns(parsed, self._criteria.K)
        return parsed

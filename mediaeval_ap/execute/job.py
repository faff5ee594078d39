"""A block of queries about one run, scored wherever its store can be opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.whole_run import CountedRun, read_counted, score_names
from mediaeval_ap.progress import hidden
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import Source

OPENED_RUNS = 4  # a choice: blocks come run by run, so that more would rarely be asked for again


@dataclass(frozen=True, eq=False)
class Job:
    """All that another process needs to score queries about one run; it can be pickled."""

    criteria: Criteria
    run: str  # absolute path of a store
    sha256: str  # of the store
    source: Source  # what results name as the run: of a temporary store, the file behind it
    queries: Source | None  # where the names are from; None if they are those of the reference
    measures: tuple[str, ...] = ()  # of ir_measures
    version: str = __version__  # of this package, where the job was made


def score_block(job: Job, names: Sequence[str]) -> Evaluation:
    """Return the result of some queries of a job, without warnings, for `Evaluation.concat`."""
    if job.version != __version__:
        raise ParameterError(
            f'this process has mediaeval_ap {__version__}, expected {job.version}, as where the '
            'evaluation was begun; install the same version everywhere'
        )
    measures = parsed(job.measures)
    with hidden():
        run = _opened(job.criteria, job.run, job.sha256)
        evaluation = score_with_measures(run, list(names), job.queries, measures)
    return replace(evaluation, inputs={**evaluation.inputs, 'hypothesis': job.source})


def parsed(measures: Sequence[str]) -> list[Any]:
    """Return measures by their names, if any."""
    if not measures:
        return []
    from mediaeval_ap.trec.measures import parse_measures

    return parse_measures(measures)


def score_with_measures(
    run: CountedRun, names: list[str], queries: Source | None, measures: Sequence[Any]
) -> Evaluation:
    """Score a run on names, also by measures of ir_measures; warn of nothing."""
    if not measures:
        return score_names(run, names, queries)
    from mediaeval_ap.trec.measures import depth_of, with_measures
    from mediaeval_ap.trec.topics import topics

    depth = depth_of(measures)
    _check_depth(run.ranking, measures, depth)
    evaluation = score_names(run, names, queries)
    return with_measures(evaluation, topics(run, names, depth), measures)


def _check_depth(ranking: Ranking, measures: Sequence[Any], depth: int) -> None:
    """Refuse measures of deeper rankings than a store keeps; no cutoff was asked for."""
    if ranking.kept is not None and ranking.kept < depth:
        found = f'{", ".join(map(str, measures))}, computed on rankings of {depth} shots'
        remedy = f'index the run with --keep {depth} or without --keep'
        expected = f'rankings of at most {ranking.kept}, which this store keeps; {remedy}'
        raise FormatError(ranking.source.name, '', 'measures', found, expected)


@lru_cache(OPENED_RUNS)
def _opened(criteria: Criteria, path: str, sha256: str) -> CountedRun:
    """Open a store; criteria are compared as objects, so keep those of a job for all its blocks."""
    from mediaeval_ap.store.store import open_store

    store = open_store(path)
    if store.sha256 != sha256:
        expected = f'{sha256}, as when the evaluation was begun; begin it again'
        raise FormatError(store.path, '', 'sha256', store.sha256, expected)
    return read_counted(criteria, store)

"""`compare`: which runs differ, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mediaeval_ap import choices
from mediaeval_ap.choices import Cluster, Correction, Grouping, IntervalKind, alpha_of
from mediaeval_ap.comparison.comparison import Comparison
from mediaeval_ap.comparison.runs import (
    GroupMean,
    Runs,
    VideosOfQueries,
    agreements,
    cluster_numbers,
    means_by_corpus,
    means_by_relevant,
    read_runs,
)
from mediaeval_ap.comparison.settings import Settings, check_baseline, checked_settings
from mediaeval_ap.comparison.testing import Pair, tests_of
from mediaeval_ap.errors import (
    DataWarning,
    FewPermutationsWarning,
    NarrowIntervalWarning,
    counted,
    warn_caller,
)
from mediaeval_ap.progress import shows_progress
from mediaeval_ap.results.result import SKIPPED, Result, note_of_floor

__all__ = ['compare']

FEW = 50  # differences, below which bca and t were measured to be too narrow (docs/comparison.md)
# Videos that are clusters by default. With fewer, plus2 over videos was simulated to be much wider
# than t, and BCa intervals of means to cover less (docs/comparison.md).
LEAST_VIDEOS = 50


@shows_progress
def compare(
    results: Iterable[Result] | Mapping[str, Result | Sequence[Result]],
    *,
    baseline: str | None = None,
    correction: Correction = 'holm',
    interval: IntervalKind = 'plus2',
    level: float = choices.LEVEL,
    cluster: Cluster | None = None,
    by: Grouping | None = None,
    reference: Any = None,
    subset: Any = None,
    also: Mapping[str, Iterable[Result] | Mapping[str, Result | Sequence[Result]]] | None = None,
    resamples: int = choices.RESAMPLES,
    permutations: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Compare runs on the same queries: intervals, tests of all pairs, ranks, groups.

    Parameters
    ----------
    results : iterable of Evaluation, Evaluation2015 or Score, or mapping from str to these
        Results of one kind, with the same queries, definition and reference. The keys of a mapping
        name the runs. One run has intervals, but no pairs. Scores at several cutoffs are a list, or
        share the name of their run.
    baseline : str, optional
        The run to compare all others with on the leaderboard.
    correction : {'holm', 'bh', 'tukey'}
        The correction of p for many comparisons: Holm, Benjamini and Hochberg (false discovery
        rate), or randomised Tukey HSD. Each metric is a family of its own: all pairs, for letters
        and intervals of ranks, and all comparisons with the baseline. Of several metrics, the last
        one is what is claimed; the others are exploratory.
    interval : {'plus2', 'bca', 't'}
        Confidence intervals of differences: Student's t after a difference of +m and one of -m are
        appended, where m is 1, or the largest difference if that is more; bootstrap
        (bias-corrected and accelerated); or Student's t. Those of means are of the bootstrap, with
        't' Student's.
    level : float
        Level of confidence of the intervals, between 0 and 1. Runs whose corrected p is above
        1 - level share a letter.
    cluster : {'video', 'none'}, optional
        What is resampled and flipped: all queries of a video together, or single queries. The
        video of a query is the one with most of its relevant shots, of equal ones the first; a
        query without relevant shots is a cluster of its own. By default videos where a reference
        is given and the queries are of at least 50, else queries.
    by : {'corpus', 'relevant'}, optional
        Add means by corpus, or by the number of relevant shots.
    reference, subset : as of `AveragePrecision`, optional
        What the runs were scored against, for clusters and means by corpus.
    also : mapping from str to results, optional
        The same runs under other definitions, by name: adds Kendall's tau-b between the orders.
    resamples : int
        Number of bootstrap resamples.
    permutations : int, optional
        Number of random sign flips, or of permutations of Tukey. By default 100,000, and 10,000 for
        Tukey, whose p needs no correction for the number of pairs.
    seed : int
        Seed of the random generators.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    Comparison
        Leaderboard, pairs, agreement of orders, means by group.

    Raises
    ------
    ParameterError
        When runs cannot be compared, a run is there twice, or an argument is not valid.
    ReadError, FormatError
        When the reference or the subset cannot be read.
    MissingExtraError
        When the extra ``insight`` is not installed.

    Warns
    -----
    NarrowIntervalWarning
        When runs differ on fewer than 50 queries, or clusters, and intervals are not plus2.
    FewPermutationsWarning
        When no data could give a corrected p of at most 1 - level.

    Notes
    -----
    p is that of paired sign flips, two-sided: exact for up to 20 differences that are not zero,
    else (b + 1) / (n + 1) of n random patterns (Phipson and Smyth, 2010). Tukey's corrected p is
    that of Carterette (2012). With clusters, p and intervals are of clusters, but wins, ties,
    losses and dz of queries. The order of runs and queries changes nothing. Time grows with the
    square of the number of queries, as BCa leaves out each in turn.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision, compare
    >>> reference = [('x', 'v', str(shot), f'name{shot}') for shot in range(60)]
    >>> evaluate = AveragePrecision(reference, K=[10]).evaluate
    >>> right = [(*row, 0.5) for row in reference]
    >>> results = {'all': evaluate(right), 'few': evaluate(right[:6])}
    >>> comparison = compare(results, resamples=100, permutations=1000)
    >>> comparison.pairs[0].difference, comparison.pairs[0].p < 0.05
    (0.9, True)
    """
    settings = checked_settings(
        baseline=baseline,
        correction=correction,
        interval=interval,
        level=level,
        cluster=cluster,
        by=by,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    runs = read_runs(results)
    check_baseline(baseline, runs.names)
    is_known = reference is not None and runs.kind == 'evaluation'
    videos = None
    if by == 'corpus':
        videos = VideosOfQueries(runs, 'by', reference, subset)
    elif cluster == 'video' or (cluster is None and is_known):
        videos = VideosOfQueries(runs, 'cluster', reference, subset)
    why_no_videos = '' if settings.cluster else _why_no_videos(runs, videos)
    if settings.cluster is None:
        settings = replace(settings, cluster='none' if why_no_videos else 'video')
    orders = agreements(runs, also)
    groups: list[GroupMean] = []  # before the tests, as some are refused
    if by == 'relevant':
        groups = means_by_relevant(runs)
    elif videos is not None and by == 'corpus':
        groups = means_by_corpus(runs, videos)
    clusters = cluster_numbers(runs, videos if settings.cluster == 'video' else None)
    tested = tests_of(settings, runs, clusters)
    pairs = [pair for each in tested for pair in each.pairs]
    counts = {'runs': len(runs.names), 'queries': len(runs.queries), 'units': clusters.max() + 1}
    if runs.n_skipped is not None:
        counts[SKIPPED] = runs.n_skipped
    if runs.n_relevant is not None:
        counts['queries_without_relevant'] = runs.n_without_relevant
    best_first = tested[-1].best_first
    comparison = Comparison(
        runs=[runs.names[run] for run in best_first],
        metrics=runs.metrics,
        queries=runs.queries,
        values={
            metric: each[best_first] for metric, each in zip(runs.metrics, runs.values, strict=True)
        },
        leaderboard=[standing for each in tested for standing in each.leaderboard],
        pairs=pairs,
        orders=orders,
        groups_by=groups,
        parameters={**settings.to_dict(), 'definition': runs.definition},
        counts={name: int(count) for name, count in counts.items()},
        notes=[*runs.notes, *_notes(settings, runs, why_no_videos)],
        sources=runs.sources,
        inputs=runs.inputs,
        warnings=tuple(_warnings(settings, pairs)),
    )
    warn_caller(comparison.warnings)
    return comparison


def _why_no_videos(runs: Runs, videos: VideosOfQueries | None) -> str:
    """Return why videos are not the units by default; nothing if they are."""
    if runs.kind != 'evaluation':
        return 'the results have no videos'
    if videos is None:
        return 'their videos are not known without the reference'
    if (n_videos := videos.n_videos) < LEAST_VIDEOS:
        found = counted(n_videos, 'video', 'videos')
        return f'their relevant shots are in {found}, and {LEAST_VIDEOS} are needed'
    return ''


def _notes(settings: Settings, runs: Runs, why_no_videos: str) -> list[str]:
    """Return sentences about the floor, and about what stands for a cluster."""
    notes = []
    if n_without := runs.n_without_relevant:
        n_queries = len(runs.queries)
        floor = next(iter(runs.floor.values()))
        notes.append(note_of_floor(n_without, n_queries, floor * n_queries / n_without))
    if settings.cluster == 'video':
        notes.append(
            'p, intervals and numbers of differences that are not 0 are of clusters; wins, ties, '
            'losses, dz and queries for 80 % are of queries'
        )
        if n_without:
            notes.append('each query without a relevant shot is a cluster of its own')
    if why_no_videos and runs.kind == 'evaluation':
        notes.append(f'queries are taken as independent, not by video: {why_no_videos}')
    if unknown := [metric for metric in runs.metrics if metric not in runs.floor]:
        notes.append(f'{", ".join(unknown)}: no floor, as the mean of an empty run is not known')
    if runs.n_relevant is None:
        notes.append('no means without the floor: numbers of relevant items are not known')
    return notes


def _warnings(settings: Settings, pairs: Sequence[Pair]) -> Iterable[DataWarning]:
    n_few = len({(frozenset((pair.a, pair.b))) for pair in pairs if 0 < pair.n_nonzero < FEW})
    n_pairs = len({frozenset((pair.a, pair.b)) for pair in pairs})
    if n_few and settings.interval != 'plus2':
        units = 'queries' if settings.cluster == 'none' else 'clusters of queries'
        by = ' by some metric' if len({pair.metric for pair in pairs}) > 1 else ''
        some = f'{n_few:,} of {n_pairs:,} pairs of runs {"differs" if n_few == 1 else "differ"}'
        if n_few == n_pairs:
            some = f'all {n_pairs:,} pairs of runs differ'
        if n_pairs == 1:
            some = '1 pair of runs differs'
        yield NarrowIntervalWarning(
            f'{some} on fewer than {FEW} {units}{by}: {settings.interval} intervals of their '
            'differences may be too narrow; take plus2'
        )
    if not pairs or (settings.correction != 'tukey' and any(pair.exact for pair in pairs)):
        return
    # Holm multiplies the smallest p by the number of pairs; letters are of all of them in any case.
    factor = n_pairs if settings.correction == 'holm' else 1
    alpha = alpha_of(settings.level)
    least = factor / (settings.permutations + 1)
    if least > alpha:  # no data could give a corrected p that is small enough
        yield FewPermutationsWarning(
            f'{counted(settings.permutations, "permutation gives", "permutations give")} no '
            f'corrected p below {min(least, 1):.4f}, and {alpha:g} is what tells runs apart: take '
            f'{math.ceil(factor / alpha):,} or more'
        )

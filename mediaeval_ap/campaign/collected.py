"""Make the report of a campaign: read each run once, score, diagnose and compare it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.campaign.campaign_report import Alternatives, CampaignReport
from mediaeval_ap.choices import TEXT, is_text
from mediaeval_ap.comparison.comparison import compare
from mediaeval_ap.comparison.testing import Settings, check_run
from mediaeval_ap.definitions import Cutoff, ap_column, depths
from mediaeval_ap.diagnosis.diagnosis import Diagnosis, diagnose
from mediaeval_ap.errors import DataWarning, Error, ParameterError, printable, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import (
    PreparedRun,
    Top,
    evaluate_run,
    prepare_run,
    select_queries,
)
from mediaeval_ap.judging.pool import Pooling
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import refuse_repeats, run_names, team_of
from mediaeval_ap.tables import Table

KEEP_GOING = '--keep-going makes the page from the other runs'
MOST_ROWS = 10  # hypotheses of each ranking on the page
LEAST_ROWS = 3
ROWS_OF_ALL_RANKINGS = 60_000  # the page of 17 runs of 599 queries stays below 1.3 MB
MOST_DECIMALS = 15  # more digits than a double holds
RANKING_COLUMNS = 'hits repeats tops lengths distance shot name decimals confidence'.split()
LARGEST_EXACT = 2**53  # a double holds all integers up to it


def make_report(
    criteria: Criteria,
    runs: Mapping[str, Any],
    queries: Table | None,
    k: Cutoff,
    near: float,
    settings: Settings,
    teams: Mapping[str, str] | None,
    keep_going: bool,
) -> CampaignReport:
    """Make the report on runs, given by name; issue the warnings about them."""
    team_by_run = teams_of(teams, runs)
    evaluations: dict[str, Evaluation] = {}
    diagnoses: dict[str, Diagnosis] = {}
    warnings: dict[str, DataWarning] = {}  # each text once
    errors: dict[str, Exception] = {}
    alternatives: dict[str, Alternatives] = {}
    losses: dict[str, dict[str, dict[str, float]]] = {}
    cutoffs = list(dict.fromkeys([k, *criteria.K]))
    selected = select_queries(criteria, queries)
    sorted_queries = sorted(selected.names)  # as compare sorts
    rankings = Rankings(criteria, sorted_queries, len(runs))
    pooling = None
    if criteria.parameters.get('unjudged') == 'nonrelevant':  # bounds need whole rankings
        pooling = Pooling(criteria, queries, team_by_run, max(depths(criteria.K)), near)
    for name, hypothesis in tracked(runs.items(), 'examining', ' runs'):
        try:
            run = prepare_run(criteria, hypothesis)
            evaluation = evaluate_run(run, selected).called(name)
            _warn_once(evaluation.warnings, warnings)
        except ParameterError:  # the call is wrong, not the run
            raise
        except (Error, DataWarning) as error:  # a warning is raised if the user's filters say so
            is_baseline = name == settings.baseline
            if is_baseline == keep_going and len(runs) > 1:
                no_page = f'--baseline {printable(name)}: has errors, so there is no page'
                error.add_note(no_page if is_baseline else KEEP_GOING)
            if is_baseline or not keep_going:
                raise
            errors[name] = error
            continue
        evaluations[name] = evaluation
        diagnosis_at = dict(
            zip(cutoffs, diagnose(criteria, run, queries, cutoffs, near), strict=True)
        )
        diagnoses[name] = diagnosis_at[k].called(name)
        losses[name] = {
            f'M{ap_column(cutoff)}': diagnosis_at[cutoff].mean_parts for cutoff in criteria.K
        }
        alternatives[name] = Alternatives.of(diagnosis_at[criteria.K[-1]])
        # Each run is ranked once for its rankings and for the pool.
        depth = rankings.depth if pooling is None else pooling.deepest
        tops = dict(zip(sorted_queries, run.scorer.top(sorted_queries, depth), strict=True))
        rankings.add(name, run, [tops[query].first(rankings.depth) for query in sorted_queries])
        if pooling is not None:
            pooling.add(name, run, [tops[query] for query in selected.names])
    if not evaluations:
        raise _all_in_one(errors.values())
    pool = None if pooling is None else pooling.result()
    _warn_once(() if pool is None else pool.warnings, warnings)
    rows, subset = criteria.reference.table, criteria.subset
    comparison = compare(evaluations, reference=rows, subset=subset, **vars(settings))
    return CampaignReport(
        comparison,
        {run: diagnoses[run] for run in comparison.runs},
        {run: evaluations[run] for run in comparison.runs},
        rankings.to_dict(comparison.runs),
        {run: alternatives[run] for run in comparison.runs},
        {run: losses[run] for run in comparison.runs},
        tuple(warnings.values()),
        teams or {},
        pool,
        {run: str(error) for run, error in errors.items()},
    )


def _all_in_one(errors: Iterable[Exception]) -> Exception:
    """Return the first error, with the others as its notes."""
    first_error, *other_errors = errors
    for other_error in other_errors:
        first_error.add_note(str(other_error))
    return first_error


def _warn_once(more_warnings: Iterable[DataWarning], warnings: dict[str, DataWarning]) -> None:
    """Issue warnings whose text is not among those issued before, and add them to these."""
    texts = {str(warning): warning for warning in more_warnings}
    new_warnings = {text: texts[text] for text in texts if text not in warnings}
    warn_caller(new_warnings.values())
    warnings |= new_warnings


class Rankings:
    """The first rows of the rankings of runs, and the ranks of all hits, small enough for a page.

    Rows refer to lists of distinct values by index. Rankings of queries without a relevant shot are
    left out, because no value depends on them.
    """

    def __init__(self, criteria: Criteria, queries: Sequence[str], n_runs: int) -> None:
        self._queries = queries
        self._is_answerable = [criteria.reference.n_relevant(query) > 0 for query in queries]
        n_rankings = max(n_runs * sum(self._is_answerable), 1)
        self._n_rows = max(LEAST_ROWS, min(MOST_ROWS, ROWS_OF_ALL_RANKINGS // n_rankings))
        self.depth = max(depths(criteria.K))
        # Looking up a new value gives it the next number.
        self._videos, self._shots, self._names, self._distances = (
            defaultdict[Any, int](count().__next__) for _ in range(4)
        )
        self._runs: dict[str, dict[str, Any]] = {}

    def add(self, name: str, run: PreparedRun, tops: Sequence[Top]) -> None:
        """Add the rankings of a run, down to `depth`."""
        first_places = [
            top.places[: self._n_rows] if is_answerable else top.places[:0]
            for top, is_answerable in zip(tops, self._is_answerable, strict=True)
        ]
        distances = [
            np.asarray(run.ranking.columns_at(places, top.distances)['distance']).tolist()
            for top, places in zip(tops, first_places, strict=True)
        ]
        # Rows are sorted by name, as rankings nearly are, so that the steps between them are small.
        rows = np.unique(np.concatenate(first_places))
        columns = run.ranking.columns_at(rows, tops[0].distances)
        rows = rows[np.lexsort([rows, np.array(columns['person_name'], dtype=object)])]
        number_of = {row: number for number, row in enumerate(rows.tolist())}
        columns = run.ranking.columns_at(rows, tops[0].distances)
        videos = zip(columns['corpus_id'], columns['video_id'], strict=True)
        shots = zip((self._videos[video] for video in videos), columns['shot_id'], strict=True)
        decimals, confidence = _as_integers(np.asarray(columns['confidence']))
        shot_at = run.ranking.shot_at
        repeats = [
            np.delete(top.hits, first_occurrences(shot_at[top.places[top.hits]])) for top in tops
        ]
        self._runs[name] = {
            'hits': [_steps((top.hits + 1).tolist()) for top in tops],
            'repeats': [_steps((positions + 1).tolist()) for positions in repeats],
            'tops': _steps([number_of[row] for places in first_places for row in places.tolist()]),
            'lengths': list(map(len, first_places)),
            'distance': [
                [self._distances[distance] for distance in ranking] for ranking in distances
            ],
            'shot': _steps([self._shots[shot] for shot in shots]),
            'name': [self._names[person] for person in columns['person_name']],
            'decimals': decimals,
            'confidence': confidence,
        }

    def to_dict(self, runs: Sequence[str]) -> dict[str, Any]:
        """Return the lists of distinct values, and the rankings of the runs in this order.

        Each column has one entry per run, which compresses better than a dict per run. Rows are the
        hypotheses in any of the rankings; steps are the differences of successive numbers, from 0.

        ``hits``, ``repeats``
            For each query, the steps through the ranks of its hits, and of the hits that repeat a
            shot of an earlier one.
        ``tops``, ``lengths``, ``distance``
            The steps through the rows of all rankings, one ranking after another; the number of
            rows in each ranking; and, for each ranking, the distances of its rows.
        ``shot``, ``name``
            The steps through the shots of all rows, and the names of all rows.
        ``confidence``, ``decimals``
            The steps through the confidences of all rows, multiplied by 10 to the power of
            `decimals`; where that is None, the confidences themselves.
        """
        return {
            'depth': self._n_rows,
            'videos': list(self._videos),
            'shots': list(self._shots),
            'names': list(self._names),
            'distances': list(self._distances),
            **{column: [self._runs[run][column] for run in runs] for column in RANKING_COLUMNS},
        }


def _steps(numbers: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise(chain([0], numbers))]


def _as_integers(values: NDArray[np.float64]) -> tuple[int | None, list[Any]]:
    """Return (decimals, steps) of numbers as exact integers; (None, numbers) if there are none.

    >>> _as_integers(np.array([0.5, 0.75]))
    (2, [50, 25])
    >>> _as_integers(np.array([1 / 3]))
    (None, [0.3333333333333333])
    """
    for decimals in range(MOST_DECIMALS + 1):
        integers = np.rint(values * 10**decimals)
        if np.abs(integers).max(initial=0) >= LARGEST_EXACT:
            break
        if (integers / 10**decimals == values).all():
            return decimals, _steps(integers.astype(np.int64).tolist())
    return None, values.tolist()


def name_runs(runs: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Return runs by name: by the keys of a mapping, or else as `run_names` names them."""
    if isinstance(runs, Mapping):
        names = list(runs)
        inputs = list(runs.values())
    elif isinstance(runs, str | bytes | os.PathLike) or not isinstance(runs, Iterable):
        raise ParameterError(f'found {shown(runs)}, expected a list of runs', 'runs')
    else:
        inputs = list(runs)
        paths = [os.fsdecode(run) if isinstance(run, str | os.PathLike) else '' for run in inputs]
        numbers = ['' if path else f'run {number}' for number, path in enumerate(paths, 1)]
        names = run_names(paths, numbers)
    if not names:
        raise ParameterError('found none, expected one or more', 'runs')
    if wrong_names := [name for name in names if not is_text(name)]:
        raise ParameterError(f'found the name {shown(wrong_names[0])}, expected {TEXT}', 'runs')
    refuse_repeats(names)
    return dict(zip(names, inputs, strict=True))


def teams_of(teams: Mapping[str, str] | None, runs: Iterable[str]) -> dict[str, str]:
    """Return the team of each run: by `teams`, or else by the beginning of its name."""
    if teams is not None and not isinstance(teams, Mapping):
        raise ParameterError(f'found {shown(teams)}, expected a mapping of runs to teams', 'teams')
    for run, team in (teams or {}).items():
        check_run('teams', run, runs)
        if not is_text(team):
            raise ParameterError(f'found {shown(team)} for {shown(run)}, expected {TEXT}', 'teams')
    return {run: (teams or {}).get(run) or team_of(run) for run in runs}

"""Make the report of a campaign: read each run once, score, diagnose and compare it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import first_occurrences
from mediaeval_ap.campaign.campaign_report import Alternatives, CampaignReport
from mediaeval_ap.choices import TEXT, is_text
from mediaeval_ap.comparison.comparison import compare
from mediaeval_ap.comparison.comparison_settings import Settings, check_run
from mediaeval_ap.definitions import Cutoff, ap_column, depths
from mediaeval_ap.diagnosis.diagnosing import diagnose
from mediaeval_ap.diagnosis.diagnosis import Diagnosis
from mediaeval_ap.errors import DataWarning, Error, ParameterError, printable, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.listing import Listing, WholeListing
from mediaeval_ap.evaluation.prepared_run import PreparedRun, prepare_run
from mediaeval_ap.evaluation.scoring import Scores, evaluate_run
from mediaeval_ap.judging.bounds import RankedRun
from mediaeval_ap.judging.candidates import PooledRuns
from mediaeval_ap.judging.pooling import Pooling
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import refuse_repeats, run_names, team_of
from mediaeval_ap.tables.table import texts_at

KEEP_GOING = '--keep-going makes the page from the other runs'
MOST_ROWS = 10  # hypotheses of each ranking on the page
ROWS_OF_ALL_RANKINGS = 60_000  # the page of 17 runs of 599 queries stays below 1.3 MB
MOST_DECIMALS = 15  # more digits than a double holds
RANKING_COLUMNS = 'hits repeats tops lengths distance shot name decimals confidence'.split()
LARGEST_EXACT = 2**53  # a double holds all integers up to it


class ReportedRun(NamedTuple):
    """All that a report has of one run."""

    evaluation: Evaluation
    diagnosis: Diagnosis
    alternatives: Alternatives
    losses: dict[str, dict[str, float]]  # the mean parts by metric
    rows: PageRows
    pooled: RankedRun | None

    @classmethod
    def of(
        cls,
        run: PreparedRun,
        pooled: PooledRuns,
        k: Cutoff,
        rows: PageRows,
        pooling: Pooling | None,
    ) -> ReportedRun:
        """Rank a run once for each query, and read all from these listings."""
        criteria = run.criteria
        K = depths(criteria.K)
        ranked = None if pooling is None else pooling.reader(run)
        judged_shares = {}

        def read(whole: WholeListing) -> None:
            listing = whole.as_ranked(criteria.definition, max(K))
            rows.read(listing)
            if ranked is not None:
                ranked.read(listing)
                judged_shares[listing.query] = ranked.hits_by_query[listing.query].judged_shares
            elif criteria.judgements is not None:
                judged_shares[listing.query] = run.lister.share_judged(listing, K)

        cutoffs = list(dict.fromkeys([k, *criteria.K]))
        diagnoses = diagnose(run, pooled.queries, cutoffs, pooled.near, reader=read)
        diagnosis_at = dict(zip(cutoffs, diagnoses, strict=True))
        ap = np.column_stack([diagnosis_at[cutoff].ap for cutoff in criteria.K])
        scores = Scores(ap, diagnoses[0].n_relevant)
        if judged_shares:
            shares = np.array([judged_shares[query] for query in pooled.queries.names])
            scores = scores._replace(judged=shares)
        return cls(
            evaluate_run(run, pooled.queries, scores),
            diagnosis_at[k],
            alternatives=Alternatives.of(diagnosis_at[criteria.K[-1]]),
            losses={
                f'M{ap_column(cutoff)}': diagnosis_at[cutoff].mean_parts for cutoff in criteria.K
            },
            rows=rows,
            pooled=ranked,
        )


def make_report(
    pooled: PooledRuns,
    k: Cutoff,
    settings: Settings,
    teams: Mapping[str, str] | None,
    *,
    keep_going: bool,
) -> CampaignReport:
    """Make the report on runs; issue the warnings about them. `teams` are those that users gave."""
    criteria = pooled.criteria
    runs: dict[str, ReportedRun] = {}
    warnings: dict[str, DataWarning] = {}  # each text once
    errors: dict[str, Exception] = {}
    rankings = Rankings(criteria, sorted(pooled.queries.names), len(pooled.runs))
    pooling = None
    if criteria.parameters.get('unjudged') == 'nonrelevant':  # bounds need whole rankings
        pooling = Pooling(pooled)
    for name, hypothesis in tracked(pooled.runs.items(), 'examining', ' runs'):
        try:
            run = prepare_run(criteria, hypothesis)
            examined = ReportedRun.of(run, pooled, k, PageRows(run, rankings.n_rows), pooling)
            _warn_once(examined.evaluation.warnings, warnings)
        except ParameterError:  # the call is wrong, not the run
            raise
        except (Error, DataWarning) as error:  # a warning is raised if the user's filters say so
            is_baseline = name == settings.baseline
            if is_baseline == keep_going and len(pooled.runs) > 1:
                no_page = f'--baseline {printable(name)}: has errors, so there is no page'
                error.add_note(no_page if is_baseline else KEEP_GOING)
            if is_baseline or not keep_going:
                raise
            errors[name] = error
            continue
        runs[name] = examined
        rankings.add(name, examined.rows)
        if pooling is not None and examined.pooled is not None:
            pooling.add(name, examined.pooled)
    if not runs:
        raise _all_in_one(errors.values())
    pool = None
    if pooling is not None:
        pool = pooling.result()
        _warn_once(pool.warnings, warnings)
    evaluations = {name: examined.evaluation.called(name) for name, examined in runs.items()}
    rows, subset = criteria.reference.table, criteria.subset
    comparison = compare(evaluations, reference=rows, subset=subset, **vars(settings))
    ordered = comparison.runs
    return CampaignReport(
        comparison=comparison,
        diagnoses={name: runs[name].diagnosis.called(name) for name in ordered},
        evaluations={name: evaluations[name] for name in ordered},
        rankings=rankings.to_dict(ordered),
        alternatives={name: runs[name].alternatives for name in ordered},
        losses={name: runs[name].losses for name in ordered},
        warnings=tuple(warnings.values()),
        teams=teams or {},
        pool=pool,
        missing={name: str(error) for name, error in errors.items()},
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


class PageRows:
    """The first rows of the rankings of a run, and its hits, by query; it reads their listings."""

    def __init__(self, run: PreparedRun, n_rows: int) -> None:
        self.ranking = run.ranking
        self.places: dict[str, NDArray[np.int64]] = {}
        self.distances: dict[str, list[float]] = {}
        self.hits: dict[str, NDArray[np.int64]] = {}
        self.repeats: dict[str, NDArray[np.int64]] = {}
        self._n_rows = n_rows

    def read(self, listing: Listing) -> None:
        """Keep the first rows of a listing, none if no shot is relevant, and its hits."""
        query = listing.query
        hits = listing.hits
        n_rows = self._n_rows if listing.n_relevant else 0
        places = listing.places[:n_rows].copy()  # a view would keep all places
        self.places[query] = places
        self.distances[query] = listing.distances[self.ranking.name_at[places]].tolist()
        self.hits[query] = hits + 1
        self.repeats[query] = np.delete(hits, first_occurrences(listing.shots[hits])) + 1


class Rankings:
    """The first rows of the rankings of runs, and the ranks of all hits, small enough for a page.

    Rows refer to lists of distinct values by index. Rankings of queries without a relevant shot are
    left out, because no value depends on them.
    """

    def __init__(self, criteria: Criteria, queries: Sequence[str], n_runs: int) -> None:
        self._queries = queries
        n_answerable = sum(criteria.reference.n_relevant(query) > 0 for query in queries)
        n_rankings = max(n_runs * n_answerable, 1)
        self.n_rows = max(1, min(MOST_ROWS, ROWS_OF_ALL_RANKINGS // n_rankings))
        # Looking up a new value gives it the next number.
        self._videos, self._shots, self._names, self._distances = (
            defaultdict[Any, int](count().__next__) for _ in range(4)
        )
        self._runs: dict[str, dict[str, Any]] = {}

    def add(self, name: str, page: PageRows) -> None:
        """Add the rows of a run."""
        ranking = page.ranking
        queries = self._queries
        first_places = [page.places[query] for query in queries]
        # Rows are sorted by name, as rankings nearly are, so that the steps between them are small.
        rows = np.unique(np.concatenate(first_places))
        names = np.array(texts_at(ranking.names.values, ranking.name_at[rows]), dtype=object)
        order = np.lexsort([rows, names])
        rows = rows[order]
        number_of = {row: number for number, row in enumerate(rows.tolist())}
        ids = ranking.shots.ids_of(ranking.shot_at[rows])
        videos = zip(ids['corpus_id'], ids['video_id'], strict=True)
        shots = zip((self._videos[video] for video in videos), ids['shot_id'], strict=True)
        decimals, confidence = _as_integers(ranking.confidence_at[rows])
        # By query, the ranks of hits, and of those that repeat a shot; the rows, lengths and
        # distances of the rankings, one after another; then the columns of the rows.
        self._runs[name] = {
            'hits': [_steps(page.hits[query].tolist()) for query in queries],
            'repeats': [_steps(page.repeats[query].tolist()) for query in queries],
            'tops': _steps([number_of[row] for places in first_places for row in places.tolist()]),
            'lengths': list(map(len, first_places)),
            'distance': [
                [self._distances[distance] for distance in page.distances[query]]
                for query in queries
            ],
            'shot': _steps([self._shots[shot] for shot in shots]),
            'name': [self._names[person] for person in names[order].tolist()],
            'decimals': decimals,
            'confidence': confidence,
        }

    def to_dict(self, runs: Sequence[str]) -> dict[str, Any]:
        """Return the lists of distinct values, and the rankings of the runs in this order."""
        # A column with an entry per run compresses better than a dict per run.
        return {
            'depth': self.n_rows,
            'videos': list(self._videos),
            'shots': list(self._shots),
            'names': list(self._names),
            'distances': list(self._distances),
            **{column: [self._runs[run][column] for run in runs] for column in RANKING_COLUMNS},
        }


def _steps(numbers: Sequence[int]) -> list[int]:
    """Return the differences of successive numbers, from 0."""
    return [after - before for before, after in pairwise(chain([0], numbers))]


def _as_integers(values: NDArray[np.float64]) -> tuple[int | None, list[Any]]:
    """Return (decimals, steps) of numbers, times 10 ** decimals; (None, numbers) if none is exact.

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

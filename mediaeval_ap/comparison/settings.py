"""The settings of a comparison, checked. No numpy here: the command checks them first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from mediaeval_ap import choices
from mediaeval_ap.choices import check_policy
from mediaeval_ap.errors import ParameterError, require, shown
from mediaeval_ap.render.document import OF_RESULTS, Terms

MISSING_SCORES = ('error', 'skip')
SIGN_FLIPS, TUKEY = 'paired sign flips', 'randomised Tukey HSD'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The checked settings of a comparison."""

    baseline: str | None
    correction: choices.Correction
    interval: choices.IntervalKind | Literal['percentile']
    level: float
    cluster: choices.Cluster | Literal['column'] | None
    by: str | None = None
    resamples: int
    permutations: int
    seed: int
    power: float | None = None
    fail_if_worse: float | None = None
    require_better: bool = False
    range: list[float] | None = None


def checked_settings(**given: Any) -> Settings:
    """Return settings, with the permutations that the correction has by default."""
    check_policy('correction', given['correction'], choices.CORRECTIONS)
    if given['permutations'] is None:
        given['permutations'] = choices.PERMUTATIONS[given['correction']]
    given['level'] = choices.check_level(given['level'])
    for name in 'resamples', 'permutations':
        given[name] = choices.check_limit(given[name], name)
    given['seed'] = choices.check_seed(given['seed'])
    if given.get('power') is not None:
        given['power'] = choices.check_above_zero(given['power'], 'power')
    worse = given.get('fail_if_worse')
    if worse is not None and worse != 0:
        given['fail_if_worse'] = choices.check_above_zero(worse, 'fail_if_worse')
    if given['baseline'] is None and (worse is not None or given.get('require_better')):
        name = 'require_better' if worse is None else 'fail_if_worse'
        raise ParameterError(f'{name}: it compares with a baseline: give one, too')
    given['interval'] = given['interval'] or 'plus2'
    check_policy('interval', given['interval'], choices.INTERVALS)
    if given.get('cluster') is not None:
        check_policy('cluster', given['cluster'], choices.CLUSTERS)
    require_libraries()
    return Settings(**given)


def for_resamples(settings: Settings, runs: Any, **asked: object) -> Settings:
    """Refuse what only means over queries have; intervals are percentiles of resamples."""
    asked |= {'by': settings.by, 'power': settings.power}
    others = {'cluster': settings.cluster, 'correction': settings.correction}
    asked |= {name: each for name, each in others.items() if each in ('video', 'tukey')}
    for name, value in asked.items():
        if value is not None:
            told = f'{name}: found {shown(value)} for {runs.metrics[0]}, expected another or none'
            raise ParameterError(f'{told}: its queries are resampled, as {runs.no_mean}')
    return replace(settings, interval='percentile')


def require_libraries() -> None:
    """Refuse to begin the work without the library that it ends with."""
    require('scipy', 'compare', 'compare')


def check_run(what: str, run: str | None, runs: Iterable[str]) -> None:
    """Refuse the name of a run, such as the baseline, if there is no such run."""
    if run is not None and run not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'{what}: found {shown(run)}, expected one of {expected}')


def words_of_test(correction: str) -> str:
    """Return the name of the test, with its correction."""
    if correction == 'tukey':
        return TUKEY
    return f'{SIGN_FLIPS}, corrected by {CORRECTED_BY[correction]}'


def terms_of(parameters: Mapping[str, Any]) -> Terms:
    """Return what a comparison with these settings is of; score tables alone have a range."""
    if (bounds := parameters.get('range')) is None:
        return OF_RESULTS
    return Terms('system', 'systems', 'item', 'items', *bounds)

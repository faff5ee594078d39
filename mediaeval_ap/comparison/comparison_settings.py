"""The settings of a comparison, checked, and the words that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mediaeval_ap import choices
from mediaeval_ap.choices import check_policy
from mediaeval_ap.errors import ParameterError, require, shown, with_noun
from mediaeval_ap.render.document import Terms
from mediaeval_ap.results.result import kind_of_metric

SIGN_FLIPS = 'paired sign flips'
CORRECTED_BY = {'holm': 'Holm', 'bh': 'Benjamini and Hochberg'}
LIMITS = ('fail_if_worse', 'require_not_worse')


@dataclass(frozen=True, kw_only=True)
class Settings:
    baseline: str | None
    correction: choices.Correction
    level: float
    cluster: choices.Cluster | Literal['column'] | None
    by: Any = None
    macro: str | None = None
    power: float | None = None
    fail_if_worse: float | None = None
    require_not_worse: float | None = None
    require_better: bool = False
    range: list[float] | None = None

    @property
    def is_gate(self) -> bool:
        return limit_of(vars(self)) is not None or self.require_better


def limit_of(parameters: Mapping[str, Any]) -> float | None:
    """Return how much worse than the baseline a run may be; None without such a gate."""
    return next((parameters[name] for name in LIMITS if parameters[name] is not None), None)


def check_settings(**settings: Any) -> Settings:
    """Check each setting, and that the libraries of the tests are installed."""
    check_policy('correction', settings['correction'], choices.CORRECTIONS)
    settings['level'] = choices.check_level(settings['level'])
    if settings.get('power') is not None:
        settings['power'] = choices.check_above_zero(settings['power'], 'power')
    limits = [name for name in LIMITS if settings.get(name) is not None]
    for name in limits:
        settings[name] = choices.check_margin(settings[name], name)
    if len(limits) > 1:
        raise ParameterError('found both, expected one of them', *limits)
    gates = [*limits, 'require_better'] if settings.get('require_better') else limits
    if settings['baseline'] is None and gates:
        raise ParameterError(f'{gates[0]} compares with a baseline: give one, too')
    if settings.get('cluster') is not None:
        check_policy('cluster', settings['cluster'], choices.CLUSTERS)
    require('scipy', 'compare', 'compare')  # fails here, before any work
    return Settings(**settings)


def check_run(option: str, run: str | None, runs: Iterable[str]) -> None:
    """Raise ParameterError if a run, such as the baseline, is given but is not one of `runs`."""
    if run is not None and run not in (names := list(runs)):
        expected = ', '.join(map(shown, names))
        raise ParameterError(f'found {shown(run)}, expected one of {expected}', option)


def words_of_test(parameters: Mapping[str, Any], counts: Mapping[str, int], metric: str) -> str:
    """Return the name of the test, and of the correction."""
    _, units = names_of_units(parameters, metric)
    test = f'{SIGN_FLIPS} of {units}'
    if 'seeds' in counts:
        test = f"Student's t of {units} and seeds"
    return f'{test}, corrected by {CORRECTED_BY[parameters["correction"]]}'


def terms_of(parameters: Mapping[str, Any], metric: str) -> Terms:
    """Return the terms for runs and queries; score tables, which have a range, have their own."""
    if (bounds := parameters.get('range')) is None:
        query, queries = kind_of_metric(metric).query
        return Terms(query=query, queries=queries)
    return Terms(
        run='system',
        runs='systems',
        query='item',
        queries='items',
        low=bounds[0],
        high=bounds[1],
        lower_is_better=parameters.get('lower_is_better', False),
    )


def names_of_units(parameters: Mapping[str, Any], metric: str) -> tuple[str, str]:
    """Return the word for one unit, and for several: a query, or a cluster."""
    if parameters['cluster'] != 'none':
        return 'cluster', 'clusters'
    terms = terms_of(parameters, metric)
    return terms.query, terms.queries


def units_phrase(settings: Settings, n_units: int, metric: str) -> str:
    return with_noun(n_units, *names_of_units(vars(settings), metric))

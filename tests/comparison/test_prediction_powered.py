"""Means with the help of predictions: by definition, over all samples, beside ppi_py, refusals."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap.comparison import prediction_powered as module
from mediaeval_ap.comparison.prediction_powered import prediction_powered
from mediaeval_ap.errors import ParameterError


def drawn(seed, n=120, n_others=480, noise=0.2):
    """Values, predictions of them, and predictions of others."""
    generator = np.random.default_rng(seed)
    truth = generator.beta(0.5, 0.8, n + n_others)
    predicted = np.clip(truth + generator.normal(0, noise, n + n_others), 0, 1)
    return truth[:n], predicted[:n], predicted[n:]


def by_ppi(measured, predicted, others):
    """Return the weight and the estimate of PPI++, from sums in plain Python."""
    n, n_others = len(measured), len(others)
    mean, mean_predicted = sum(measured) / n, sum(predicted) / n
    pairs = zip(measured, predicted, strict=True)
    covariance = sum((y - mean) * (f - mean_predicted) for y, f in pairs) / n
    every = [*predicted, *others]
    mean_all = sum(every) / len(every)
    variance = sum((f - mean_all) ** 2 for f in every) / (len(every) - 1)
    weight = min(max(covariance / ((1 + n / n_others) * variance), 0), 1) if variance else 0
    return weight, mean - weight * mean_predicted + weight * sum(others) / n_others


@given(st.integers(0, 10_000), st.sampled_from([-1, 0.3, 1, 3]), st.integers(1, 700))
def test_the_estimate_is_that_of_ppi(seed, scale, n_others):
    measured, predicted, others = drawn(seed, n_others=n_others)
    found = prediction_powered(measured, scale * predicted, scale * others)
    weight, estimate = by_ppi(measured, scale * predicted, scale * others)
    # The order of additions differs; 1e-12 is a thousand roundings.
    assert (found.weight, found.estimate) == pytest.approx((weight, estimate), abs=1e-12)
    assert (found.n, found.n_population) == (120, 120 + n_others)
    assert (found.weight == 0) == (scale < 0)


def test_the_variance_is_that_over_all_samples(monkeypatch):
    """With a fixed weight, the mean variance over all samples is the variance of the estimates."""
    monkeypatch.setattr(module, 'LEAST_MEASURED', 2)
    monkeypatch.setattr(module, 'APPENDED', 0)
    truth = np.array([0, 0, 0.2, 0.5, 0.5, 0.7, 0.9, 1])
    noise = np.array([0.1, 0, -0.1, 0.2, 0, 0.1, -0.2, 0])
    predicted = (4 * truth + noise) / 100  # so small that the weight is 1 for all samples
    estimates, variances = [], []
    quantile = module.require('scipy.stats', 'compare', '').t.isf(0.025, 3)
    for chosen in combinations(range(8), 4):
        is_measured = np.isin(np.arange(8), chosen)
        found = prediction_powered(
            truth[is_measured], predicted[is_measured], predicted[~is_measured]
        )
        assert found.weight == 1
        estimates.append(found.estimate)
        variances.append(((found.high - found.low) / (2 * quantile)) ** 2)
    # Sums of 70 doubles, of which each is exact to 1e-16.
    assert np.mean(estimates) == pytest.approx(truth.mean(), abs=1e-13)
    assert np.mean(variances) == pytest.approx(np.var(estimates), abs=1e-13)


def test_useless_predictions_change_nothing():
    measured, _, others = drawn(1)
    for guess in (np.full(120, 0.5), 1 - measured):
        found = prediction_powered(measured, guess, others)
        assert (found.weight, found.estimate) == (0, measured.mean())
    assert found.low < found.classical_low < found.classical_high < found.high


def test_right_predictions_need_no_other_values():
    measured, _, _ = drawn(1)
    _, _, others = drawn(2)
    found = prediction_powered(measured, measured, others)
    width, classical = found.high - found.low, found.classical_high - found.classical_low
    assert width < 0.35 * classical
    every = np.concatenate([measured, others])
    assert found.low < every.mean() < found.high


def test_where_all_are_measured_the_mean_is_known():
    measured, predicted, _ = drawn(3)
    found = prediction_powered(measured, predicted, [])
    assert {found.estimate, found.low, found.high, found.classical_low} == {measured.mean()}
    assert (found.weight, found.n_population) == (0, 120)


def test_a_higher_level_is_wider():
    values = drawn(4)
    low, high = prediction_powered(*values, 0.8), prediction_powered(*values, 0.99)
    assert high.low < low.low < low.estimate == high.estimate < low.high < high.high


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'measured': [0.5] * 99, 'predicted': [0.5] * 99}, 'found 99 queries, expected 100'),
        ({'predicted': [0.5] * 119}, 'predicted: found 119 for 120 measured queries'),
        ({'measured': [float('nan')] * 120}, 'measured: found other values than finite'),
        ({'predicted_others': [[0.5, 0.5]]}, 'predicted_others: found other values than finite'),
        ({'predicted_others': ['half']}, 'predicted_others: found .*, expected numbers'),
        ({'level': 1}, 'level: found 1, expected a number between 0 and 1'),
    ],
)
def test_refused(change, message):
    given = dict(zip(('measured', 'predicted', 'predicted_others'), drawn(5), strict=True))
    with pytest.raises(ParameterError, match=message):
        prediction_powered(**{**given, **change})


def test_beside_ppi_py():
    """Skipped where ppi_py is not installed: numba and scikit-learn make it heavy."""
    ppi_py = pytest.importorskip('ppi_py', exc_type=ImportError)
    for n, n_others in (120, 480), (5_000, 5_000_000):
        measured, predicted, others = drawn(6, n, n_others)
        found = prediction_powered(measured, predicted, others)
        estimate = float(ppi_py.ppi_mean_pointestimate(measured, predicted, others)[0])
        assert found.estimate == pytest.approx(estimate, abs=1e-12)  # the order of additions
    low, high = ppi_py.ppi_mean_ci(measured, predicted, others, alpha=0.05)
    bounds = float(low[0]), float(high[0])
    # Its queries are a sample of infinitely many, so widths agree as far as few are measured: 1 in
    # 1,000 takes .2 % here. Two of 5,002 residuals that are appended take as much.
    half = (found.high - found.low) / 2
    assert (found.low, found.high) == pytest.approx(bounds, abs=0.005 * half)
    assert all(dataclasses.astuple(found))

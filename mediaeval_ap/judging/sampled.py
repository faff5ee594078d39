"""MAP over all queries from some that were drawn at random and judged completely.

A model of relevance predicts AP of all queries. What it is wrong by on the judged ones corrects its
mean (`comparison.prediction_powered`). Each judged query is predicted by a model that was fitted
without it, and the others by the mean of these models (T. Zrnic and E. J. Candès,
"Cross-prediction-powered inference", PNAS 2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.comparison.prediction_powered import PredictionPowered, prediction_powered
from mediaeval_ap.errors import ParameterError, shown
from mediaeval_ap.judging.candidates import UNJUDGED, Floats, Labels, PoolPairs
from mediaeval_ap.judging.expected_ap import ExpectedAP
from mediaeval_ap.judging.relevance_model import RelevanceModel

FOLDS = 5  # each is predicted from the four others


def means_of_sample(pairs: PoolPairs, sampled: Sequence[str]) -> dict[str, PredictionPowered]:
    """Return MAP at the last cutoff over all queries, by run, from those in a sample."""
    numbers = _numbers(pairs, sampled)
    labels = pairs.labels(pairs.criteria.reference)
    _refuse_unjudged(pairs, numbers)
    predicted, of_others = _predicted(pairs, numbers, labels)
    found = {}
    for row, (name, run) in enumerate(zip(pairs.runs, pairs.read, strict=True)):
        measured = run.scorer.score(sampled)[0][:, -1]
        found[name] = prediction_powered(measured, predicted[row], of_others[row])
    return found


def _numbers(pairs: PoolPairs, sampled: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers of sampled queries among all, each once."""
    if repeated := [name for name, times in Counter(sampled).items() if times > 1]:
        found = f'{shown(repeated[0])} twice'
        raise ParameterError(f'sampled_queries: found {found}, expected each query once')
    number_of = {name: number for number, name in enumerate(pairs.queries)}
    if strangers := [name for name in sampled if name not in number_of]:
        expected = 'queries of the runs, from which the sample was drawn'
        raise ParameterError(f'sampled_queries: found {shown(strangers[0])}, expected {expected}')
    return np.array([number_of[name] for name in sampled], dtype=np.int64)


def _refuse_unjudged(pairs: PoolPairs, numbers: NDArray[np.int64]) -> None:
    """Refuse a sampled query with a shot in the pool that was not judged, if that is known."""
    if pairs.criteria.judgements is None:
        return
    open_ = (pairs.known() == UNJUDGED) & np.isin(pairs.query, numbers)
    if open_.any():
        at = int(open_.argmax())
        query, shot = pairs.queries[pairs.query[at]], '/'.join(pairs.texts[pairs.shot[at]])
        raise ParameterError(
            f'sampled_queries: found {shown(query)}, for which {shown(shot)} of the pool is not '
            'judged, expected queries that are judged completely'
        )


def _predicted(
    pairs: PoolPairs, numbers: NDArray[np.int64], labels: Labels
) -> tuple[Floats, Floats]:
    """Return predicted AP of the sampled queries and of the others, a row for each run."""
    model, expected = RelevanceModel(pairs), ExpectedAP(pairs)
    is_other = np.ones(len(pairs.queries), dtype=np.bool_)
    is_other[numbers] = False
    predicted = np.zeros((len(pairs.runs), len(numbers)))
    of_others = np.zeros((len(pairs.runs), int(is_other.sum())))
    for fold in range(FOLDS):
        held_out = numbers[fold::FOLDS]
        known = np.isin(pairs.query, np.setdiff1d(numbers, held_out))
        p = model.probabilities(np.where(known, labels, UNJUDGED).astype(np.int8))
        values = expected(p)
        predicted[:, fold::FOLDS] = values[:, held_out]
        of_others += values[:, is_other] / FOLDS
    return predicted, of_others

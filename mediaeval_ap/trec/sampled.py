"""Estimates for qrels that are a sample by strata: xinfAP, xinfNDCG and inferred precision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mediaeval_ap import definitions
from mediaeval_ap.arrays import ranks_in_runs, run_starts
from mediaeval_ap.choices import plain_text
from mediaeval_ap.definitions import ALL, Cutoff
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.metrics.inferred_ap import Sample
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables.layouts import SAMPLED_QRELS
from mediaeval_ap.trec.entries import descending_keys
from mediaeval_ap.trec.matched_run import MatchedRun

DEPTH = 1000  # the default


def is_estimate(measure: Any) -> bool:
    """Return True for the name of a measure of samples."""
    return bool(re.fullmatch('xinfNDCG|infP@[1-9][0-9]{0,17}', plain_text(measure) or ''))


def refuse_estimates(measures: Iterable[Any]) -> None:
    for measure in filter(is_estimate, measures):
        expected = f'it only for a sample: qrels of {SAMPLED_QRELS.expected}'
        raise ParameterError(f'found {measure}, expected {expected}', 'measures')


def check_settings(definition: object, K: Sequence[Cutoff], measures: Any, others: Any) -> None:
    """Raise ParameterError for a setting that xinfAP does not have."""
    values = {'unjudged': 'nonrelevant', 'ignore': 'none', **others}
    values |= {'definition': definition, 'K': ','.join(map(str, K))}
    values['measures'] = next((name for name in measures if not is_estimate(name)), None)
    for name, is_right, expected in (
        ('definition', definition is None, 'none: the estimate has its own'),
        ('K', len(K) == 1 and ALL not in K, 'one number: the depth of the estimate'),
        ('measures', values['measures'] is None, 'xinfNDCG or infP@k: others take no strata'),
        ('ties', values['ties'] == 'trec_eval', 'trec_eval: the estimate has this order'),
        ('relevance_level', values['relevance_level'] >= 0, '0 or more: below, none is judged'),
        ('unjudged', values['unjudged'] == 'nonrelevant', 'nonrelevant: the estimate counts them'),
        ('ignore', values['ignore'] == 'none', 'none: the estimate counts all documents'),
    ):
        if not is_right:
            problem = f'found {values[name]} for a sample (qrels with strata), expected {expected}'
            raise ParameterError(problem, name)


def with_estimates(
    evaluation: Evaluation, matched: MatchedRun, measures: Sequence[str]
) -> Evaluation:
    """Return an evaluation with estimates in place of its values: xinfAP at its one depth."""
    judged = matched.topics.judged
    returned, topic, *_ = matched.rows
    strata = judged.stratum.sorted()  # type: ignore[union-attr]
    (depth,) = definitions.depths(evaluation.K)
    partner = np.full(len(returned), -1)  # the row of the qrels
    rows, judged_rows = returned.matches(judged, np.arange(len(judged)))
    partner[rows] = judged_rows
    order = np.lexsort((-returned.number, topic))
    if len(run_starts([topic[order], returned.number[order]])) < len(order):  # there are ties
        order = np.lexsort((descending_keys(returned.document), -returned.number, topic))
    ranks = ranks_in_runs(run_starts([topic[order]]), len(order))
    partner = partner[order]
    is_pooled = (partner >= 0) & (ranks <= depth)
    sample = Sample(
        judged.topic.codes * len(strata.values) + strata.codes,
        relevance=judged.number,
        is_relevant=judged.number >= float(evaluation.parameters['relevance_level']),
        shape=(len(judged.topic.values), len(strata.values)),
        returned=partner[is_pooled],
        ranks=ranks[is_pooled],
        depth=depth,
    )
    scored = judged.topic.positions(evaluation.queries)
    values = {}
    for name in measures:
        _, _, k = name.partition('@')
        column = sample.precision(int(k)) if k else sample.ndcg()
        values[name] = column[scored]
    return replace(
        evaluation,
        ap=sample.average_precision()[scored, None],
        definition=definitions.XINFAP,
        measures=values,
        counts={**evaluation.counts, 'judged': int(np.count_nonzero(judged.number >= 0))},
        parameters={**evaluation.parameters, 'depth': depth},
    )

"""The class of pytrec_eval, with average precision by the kernel of this package."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from numbers import Real
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.choices import check_limit
from mediaeval_ap.definitions import Cutoff, check_cutoff, depths
from mediaeval_ap.errors import FormatError, ParameterError, require, shown
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_hits

__all__ = ['RelevanceEvaluator', 'supported_measures']

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

MAP, MAP_CUT = 'map', 'map_cut'
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)  # of trec_eval, where a measure names none
WITH_PARAMETERS = frozenset('P iprec_at_recall map_cut ndcg_cut recall success'.split())
supported_measures = WITH_PARAMETERS | frozenset(
    """Rprec bpref infAP map ndcg num_q num_rel num_rel_ret num_ret recip_rank set_F set_P set_map
    set_recall set_relative_P""".split()
)
_parse = re.compile(
    f'({"|".join(supported_measures)})(?:[._]([0-9]+(?:[.][0-9]+)?(?:,[0-9]+(?:[.][0-9]+)?)*))?'
).fullmatch


class RelevanceEvaluator:
    """Judgements and measures by which runs are scored, called as that of pytrec_eval.

    ``map`` and ``map_cut`` are computed here; all others by ir_measures (the extra ``trec``).

    Parameters
    ----------
    query_relevance : mapping
        Judgements, ``{qid: {docno: relevance}}``.
    measures : iterable of str
        Names of `supported_measures`, with parameters or without: ``'map'``, ``'map_cut_10'``,
        ``'map_cut.1,5'``, ``'ndcg_cut'``.
    relevance_level : int
        The least relevance of a relevant document, at least 1.
    judged_docs_only_flag : bool
        Leave documents that are not judged out of the rankings.

    Raises
    ------
    ParameterError
        When a measure is not supported, or the level is not positive.
    MissingExtraError
        When a measure needs ir_measures, which is not installed.

    Examples
    --------
    >>> evaluator = RelevanceEvaluator({'7': {'d1': 1, 'd2': 0, 'd3': 1}}, {'map', 'map_cut_1'})
    >>> evaluator.evaluate({'7': {'d1': 0.5, 'd2': 0.5}})
    {'7': {'map': 0.25, 'map_cut_1': 0.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        check_limit(relevance_level, 'relevance_level')
        judged = {topic: docs for topic, docs in query_relevance.items() if docs}
        self._relevant = {
            topic: {document for document, grade in docs.items() if grade >= relevance_level}
            for topic, docs in judged.items()
        }
        self._judged = {
            topic: {document for document, grade in docs.items() if grade >= 0}
            for topic, docs in (judged.items() if judged_docs_only_flag else ())
        }
        self._cutoffs: dict[str, Cutoff] = {}
        self._name_of: dict[Any, str] = {}  # by measures of ir_measures
        for base, parameters in _parsed(measures).items():
            if base == MAP:
                self._cutoffs[MAP] = 'all'
            elif base == MAP_CUT:
                given = [int(k) if k.isdigit() else k for k in parameters] or CUTOFFS
                self._cutoffs |= {f'{base}_{k}': check_cutoff(k, base) for k in given}
            else:
                self._name_of |= _by_ir_measures(
                    base, parameters, relevance_level, judged_docs_only_flag
                )
        if self._name_of:
            ir_measures = require('ir_measures', 'trec', 'measures')
            self._others = ir_measures.evaluator(list(self._name_of), judged)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Score a run.

        Parameters
        ----------
        scores : mapping
            The run, ``{qid: {docno: score}}``. Scores are compared in single precision, and equal
            ones are in descending order of their documents, as in trec_eval 9.

        Returns
        -------
        dict
            ``{qid: {measure: value}}`` for the topics that are judged, in the order of the run.

        Raises
        ------
        FormatError
            When a score is no number.
        """
        found: dict[str, dict[str, float]] = {
            topic: {} for topic in scores if topic in self._relevant
        }
        if found and self._cutoffs:
            values = self._average_precision(list(found), scores)
            for topic, row in zip(found, values.tolist(), strict=True):
                found[topic] |= zip(self._cutoffs, row, strict=True)
        if found and self._name_of:
            for metric in self._others.iter_calc({topic: scores[topic] for topic in found}):
                if metric.query_id in found:
                    found[metric.query_id][self._name_of[metric.measure]] = metric.value
        return found

    def _average_precision(
        self, topics: list[str], scores: Mapping[str, Mapping[str, float]]
    ) -> NDArray[np.float64]:
        rankings = [scores[topic] for topic in topics]
        if self._judged:
            rankings = [
                {document: docs[document] for document in docs if document in self._judged[topic]}
                for topic, docs in zip(topics, rankings, strict=True)
            ]
        relevant = [self._relevant[topic] for topic in topics]
        sizes = np.fromiter(map(len, rankings), np.int64, len(rankings))
        numbers = np.arange(len(rankings)).repeat(sizes)
        keys = _descending_keys(numbers, _numbers(topics, rankings, int(sizes.sum())))
        ranking, ranks = _hits(keys, rankings, relevant)
        ranks -= (sizes.cumsum() - sizes)[ranking]
        order = np.lexsort((ranks, ranking))
        return average_precision_of_hits(
            ranking[order],
            ranks[order],
            np.fromiter(map(len, relevant), np.int64, len(relevant)),
            sizes,
            depths(self._cutoffs.values()),
            definitions.get('trec'),
        )


def _hits(
    keys: Integers, rankings: list[Mapping[str, float]], relevant: list[set[str]]
) -> tuple[Integers, Integers]:
    """Return the ranking of each hit, and its rank in all of them, one after another."""
    hits = [
        (number, document, docs[document])
        for number, (docs, wanted) in enumerate(zip(rankings, relevant, strict=True))
        for document in wanted
        if document in docs
    ]
    ranking = np.array([number for number, _, _ in hits], dtype=np.int64)
    of_hits = _descending_keys(ranking, np.array([score for _, _, score in hits], np.float64))
    ordered = np.sort(keys)
    begins, ends = (ordered.searchsorted(of_hits, side=side) for side in ('left', 'right'))
    ranks = begins + 1
    tied = np.flatnonzero(ends - begins > 1)
    if not len(tied):
        return ranking, ranks
    tied = tied[begins[tied].argsort()]  # so each block of ties is sorted once
    documents = list(chain.from_iterable(rankings))
    by_key = keys.argsort().tolist()
    begun, block = -1, []
    for hit, begin, end in zip(
        *(each.tolist() for each in (tied, begins[tied], ends[tied])), strict=True
    ):
        if begin != begun:
            begun, block = begin, sorted(itemgetter(*by_key[begin:end])(documents))
        ranks[hit] = end - bisect_right(block, hits[hit][1]) + 1
    return ranking, ranks


def _parsed(measures: Iterable[str]) -> dict[str, list[str]]:
    """Return the parameters of each measure, none for those of trec_eval."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in measures:
        match = _parse(name)
        if match is None or (match[2] and match[1] not in WITH_PARAMETERS):
            expected = f'one of {", ".join(sorted(supported_measures))}'
            raise ParameterError(f'measures: found {shown(name)}, expected {expected}')
        found[match[1]] += match[2].split(',') if match[2] else []
    return found


def _by_ir_measures(
    base: str, parameters: list[str], level: int, judged_only: bool
) -> dict[Any, str]:
    """Return measures of ir_measures, each with the name that pytrec_eval has for it."""
    ir_measures = require('ir_measures', 'trec', 'measures')
    name = f'{base}.{",".join(parameters)}' if parameters else base
    found = {}
    for each in ir_measures.parse_trec_measure(name):
        lacks_flag = judged_only and 'judged_only' not in each.SUPPORTED_PARAMS
        if lacks_flag or (level != 1 and base == 'num_rel'):
            why = 'judged_docs_only_flag' if lacks_flag else 'this relevance_level'
            raise ParameterError(f'measures: found {base}, which ir_measures lacks with {why}')
        key = f'{base}_{each["cutoff"]}' if 'cutoff' in each.params else base
        key = f'{base}_{each["recall"]:.2f}' if 'recall' in each.params else key
        own: dict[str, Any] = {'judged_only': True} if judged_only else {}
        if level != 1 and 'rel' in each.SUPPORTED_PARAMS and base != 'num_ret':
            own['rel'] = level
        found[each(**own)] = key
    return found


def _numbers(topics: list[str], rankings: list[Mapping[str, float]], n: int) -> Floats:
    """Return all scores; refuse what is no number."""
    kinds = set(map(type, chain.from_iterable(docs.values() for docs in rankings)))
    scores = np.zeros(0)
    if all(issubclass(kind, Real) for kind in kinds):
        scores = np.fromiter(chain.from_iterable(docs.values() for docs in rankings), float, n)
        if not np.isnan(scores).any():
            return scores
    for topic, docs in zip(topics, rankings, strict=True):
        for document, score in docs.items():
            if not isinstance(score, Real) or score != score:
                place = f'topic {shown(topic)}, docno {shown(document)}'
                found = f'{shown(score)} ({type(score).__name__})'
                raise FormatError('<run>', place, 'score', found, 'a number')
    return scores


def _descending_keys(rankings: Integers, scores: Floats) -> Integers:
    """Return integers that ascend with rankings, and in each descend with single precision."""
    with np.errstate(over='ignore'):  # infinite, as in C
        bits = (scores.astype(np.float32) + np.float32(0)).view(np.int32)  # no -0
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    return (rankings << 32) - ascending

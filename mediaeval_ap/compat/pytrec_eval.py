"""The class of pytrec_eval, with average precision by the kernel of this package."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, repeat
from numbers import Real
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.arrays import ranges
from mediaeval_ap.choices import check_limit
from mediaeval_ap.definitions import Cutoff, check_cutoff, depths
from mediaeval_ap.errors import FormatError, require, shown
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_hits

__all__ = ['RelevanceEvaluator']

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Rankings: TypeAlias = Sequence[Mapping[str, float]]
CUTOFFS = '5,10,15,20,30,100,200,500,1000'  # of trec_eval, where map_cut names none
_own = re.compile(r'map|map_cut(?:[._]([0-9]+(?:,[0-9]+)*))?').fullmatch


class RelevanceEvaluator:
    """Judgements and measures by which runs are scored, called as that of pytrec_eval.

    ``map`` and ``map_cut`` are computed here; all others, and all with the flag, by pytrec_eval,
    which comes with the extra ``trec``.

    Parameters
    ----------
    query_relevance : mapping
        Judgements, ``{qid: {docno: relevance}}``.
    measures : iterable of str
        Names as pytrec_eval has them: ``'map'``, ``'map_cut_10'``, ``'map_cut.1,5'``, ``'ndcg'``.
    relevance_level : int
        The least relevance of a relevant document, at least 1.
    judged_docs_only_flag : bool
        Leave documents that are not judged out of the rankings.

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
        level = check_limit(relevance_level, 'relevance_level')
        self._relevant = {
            topic: [document for document, grade in docs.items() if grade >= level]
            for topic, docs in query_relevance.items()
            if docs
        }
        given = set(measures)
        own = (
            {}
            if judged_docs_only_flag
            else {each: match[1] for each in given if (match := _own(each))}
        )
        # As in trec_eval, cutoffs that are named stand in place of its own.
        named = ','.join(filter(None, own.values())) or CUTOFFS * bool(own.keys() - {'map'})
        self._cutoffs: dict[str, Cutoff] = {'map': 'all'} if 'map' in own else {}
        for k in map(int, filter(None, named.split(','))):
            self._cutoffs[f'map_cut_{k}'] = check_cutoff(k, 'map_cut')
        self._others: Any = None
        if others := given - own.keys():
            peer = require('pytrec_eval', 'trec', 'measures').RelevanceEvaluator
            self._others = peer(query_relevance, others, level, judged_docs_only_flag)

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
        """
        topics = [topic for topic in scores if topic in self._relevant]
        found: dict[str, dict[str, float]] = {topic: {} for topic in topics}
        if topics and self._cutoffs:
            values = self._average_precision(topics, [scores[topic] for topic in topics])
            rows = zip(*values.T.tolist(), strict=True)
            pairs = map(zip, repeat(tuple(self._cutoffs)), rows)  # by C, as topics may be many
            found = dict(zip(topics, map(dict, pairs), strict=True))
        for topic, row in self._others.evaluate(scores).items() if self._others else ():
            found[topic] |= row
        return found

    def _average_precision(self, topics: list[str], rankings: Rankings) -> Floats:
        relevant = [self._relevant[topic] for topic in topics]
        sizes = np.fromiter(map(len, rankings), np.int64, len(rankings))
        ranking = np.arange(len(rankings)).repeat(sizes)
        keys = _descending_keys(ranking, _scores(topics, rankings, ranking))
        n_relevant = np.fromiter(map(len, relevant), np.int64, len(relevant))
        ranking, ranks = _hits(keys, rankings, relevant, n_relevant)
        ranks -= (sizes.cumsum() - sizes)[ranking]
        order = np.lexsort((ranks, ranking))
        hits, at = (ranking[order], ranks[order]), depths(self._cutoffs.values())
        return average_precision_of_hits(*hits, n_relevant, sizes, at, definitions.get('trec'))


def _hits(
    keys: Integers, rankings: Rankings, relevant: Sequence[list[str]], n_relevant: Integers
) -> tuple[Integers, Integers]:
    """Return the ranking of each hit, and its rank in all of them, one after another."""
    pairs = zip(rankings, relevant, strict=True)
    found = [docs.get(each, np.nan) for docs, wanted in pairs for each in wanted]
    scores = np.array(array('d', found))
    hits = np.flatnonzero(~np.isnan(scores))
    ranking = np.arange(len(n_relevant)).repeat(n_relevant)[hits]
    of_hits = _descending_keys(ranking, scores[hits])
    ordered = np.sort(keys)
    begins, ends = ordered.searchsorted(of_hits), ordered.searchsorted(of_hits, side='right')
    ranks = begins + 1
    tied = np.flatnonzero(ends - begins > 1)
    if not len(tied):
        return ranking, ranks
    tied = tied[begins[tied].argsort()]  # so each block of ties is sorted once
    begins, ends = begins[tied], ends[tied]
    is_first = np.diff(begins, prepend=-1) > 0
    sizes = (ends - begins)[is_first]
    rows = keys.argsort()[ranges(begins[is_first], sizes)]
    documents = iter(itemgetter(*rows.tolist())(list(chain.from_iterable(rankings))))
    all_relevant = list(chain.from_iterable(relevant))
    blocks = (sorted(islice(documents, size)) for size in sizes.tolist())
    block: list[str] = []
    n_below = []
    for hit, is_next in zip(hits[tied].tolist(), is_first.tolist(), strict=True):
        block = next(blocks) if is_next else block
        n_below.append(bisect_right(block, all_relevant[hit]))
    ranks[tied] = ends - n_below + 1
    return ranking, ranks


def _scores(topics: list[str], rankings: Rankings, ranking: Integers) -> Floats:
    """Return all scores; refuse what is no number."""
    values = list(chain.from_iterable(docs.values() for docs in rankings))
    if all(issubclass(kind, Real) for kind in set(map(type, values))):
        scores = np.array(array('d', values))  # takes half the time of a list
        if not np.isnan(scores).any():
            return scores
    at = next(at for at, each in enumerate(values) if not isinstance(each, Real) or each != each)
    document = next(islice(chain.from_iterable(rankings), at, None))
    place = f'topic {shown(topics[ranking[at]])}, docno {shown(document)}'
    raise FormatError('<run>', place, 'score', shown(values[at]), 'a number')


def _descending_keys(rankings: Integers, scores: Floats) -> Integers:
    """Return integers that ascend with rankings, and in each descend with single precision."""
    with np.errstate(over='ignore'):  # infinite, as in C
        bits = (scores.astype(np.float32) + np.float32(0)).view(np.int32)  # no -0
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    return (rankings << 32) - ascending

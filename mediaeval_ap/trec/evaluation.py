"""Plain TREC files, scored by any definition of average precision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.arrays import find, ranges
from mediaeval_ap.choices import (
    LARGEST_TREC_LEVEL,
    TREC_MISSING,
    TREC_TIES,
    TrecMissing,
    TrecTies,
    check_policy,
)
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoffs, depths
from mediaeval_ap.errors import (
    MissingIdsWarning,
    ParameterError,
    UnknownIdsWarning,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.data_warnings import no_overlap, without_relevant
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.metrics import average_precision_of_hits
from mediaeval_ap.metrics.ap_kernel import average_precision_of_terms
from mediaeval_ap.metrics.tied_ranks import TieBlocks, expected_precisions
from mediaeval_ap.results import Evaluation
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.trec.files import Entries, read_entries

__all__ = ['evaluate_trec']


def evaluate_trec(
    qrels: Any,
    run: Any,
    K: Iterable[Cutoff] = definitions.CUTOFFS,
    *,
    definition: str | Definition = 'trec',
    ties: TrecTies = 'trec_eval',
    relevance_level: int = 1,
    missing: TrecMissing = 'zero',
    max_bytes: int = MAX_BYTES,
) -> Evaluation:
    """Score a run in TREC's format, topic by topic.

    Parameters
    ----------
    qrels : str, path-like, file object, DataFrame or iterable of tuples
        What is relevant: a file of ``qid iteration docno relevance``, a table with the columns
        ``qid``, ``docno`` and ``relevance``, or tuples of these three.
    run : like qrels
        What was returned: a file of ``qid Q0 docno rank score tag``, of which topic, document and
        score are looked at, a table with these columns, or tuples of these three.
    K : iterable of int or 'all'
        The cutoffs, each once; ``'all'`` is none, for uncut average precision: `map` of trec_eval.
    definition : str or Definition
        What average precision is: a name that `mediaeval_ap.definitions` knows.
    ties : {'trec_eval', 'trec_eval-9', 'expected', 'best', 'worst'}
        How to break ties between equal scores. ``'trec_eval'``: documents in descending order of
        their bytes, as trec_eval 10 does. ``'trec_eval-9'``: the same where scores are compared in
        single precision, as by trec_eval 9, pytrec_eval and ir_measures. All others compare in
        double precision: the mean over all orders, relevant documents first, relevant documents
        last.
    relevance_level : int
        A document is relevant from this relevance on.
    missing : {'zero', 'skip'}
        What a topic of the qrels is that the run lacks: one for which nothing is returned, or left
        out.
    max_bytes : int
        How many bytes a compressed file, Parquet, a pipe or standard input may come to.

    Returns
    -------
    Evaluation
        Average precision of each topic of the qrels, in the order in which they come there.

    Raises
    ------
    ReadError, FormatError
        When something cannot be read, a relevance is no integer, or a topic has a document twice.
    ParameterError
        When a parameter is none of these, or nothing is left to score; for expected values of a
        definition that divides by hits.

    Warns
    -----
    MissingIdsWarning, UnknownIdsWarning
        When the run lacks topics of the qrels, or has others, which are left out.

    Notes
    -----
    Takes O(n log n) time for n rows.

    Examples
    --------
    >>> qrels = [('7', 'd1', 1), ('7', 'd2', 0), ('7', 'd3', 2)]
    >>> run = [('7', 'd2', 0.9), ('7', 'd1', 0.5)]
    >>> evaluate_trec(qrels, run, [10]).map.tolist()
    [0.25]
    """
    definition = definitions.get(definition)
    cutoffs = check_cutoffs(K, definition)
    ties = _check_ties(ties, definition)
    missing = check_policy('missing', missing, TREC_MISSING)
    _check_level(relevance_level)
    judged, returned = _read(qrels, run, max_bytes)
    topics = judged.topic.values
    topic, hit = _judge(judged, returned, relevance_level)
    n_returned = np.bincount(topic + 1, minlength=len(topics) + 1)[1:]
    relevant = judged.number >= relevance_level
    n_relevant = np.bincount(judged.topic.codes[relevant], minlength=len(topics))
    ranked = _ranked(returned, topic, hit, ties)
    score = _expected if ties == 'expected' else _average_precision
    ap = score(ranked, n_relevant, n_returned, depths(cutoffs), definition)
    kept = np.flatnonzero(n_returned) if missing == 'skip' else np.arange(len(topics))
    if not len(kept):
        cause = likely_cause(returned.topic.values, topics)
        raise ParameterError(
            f'{printable(returned.source.name)}: no topic of this run is judged'
            f'{f"; {cause}" if cause else ""}'
        )
    counts = {
        'queries': len(kept),
        'queries_without_relevant': int(np.count_nonzero(n_relevant[kept] == 0)),
        **_counts(judged, returned, int(np.count_nonzero(n_returned))),
        'relevant': int(n_relevant[kept].sum()),
        'relevant_returned': int(np.count_nonzero(hit)),
    }
    _warn(judged, returned, counts, missing)
    warn_caller(without_relevant(printable(judged.source.name), n_relevant[kept], definition))
    return Evaluation(
        [topics[place] for place in kept.tolist()],
        cutoffs,
        ap[kept],
        n_relevant[kept],
        definition,
        {'reference': judged.source, 'hypothesis': returned.source},
        counts,
        parameters={'ties': ties, 'relevance_level': int(relevance_level), 'missing': missing},
    )


def _read(qrels: Any, run: Any, max_bytes: int) -> tuple[Entries, Entries]:
    judged = read_entries(qrels, QRELS, max_bytes=max_bytes)
    _refuse_fractions(judged)
    returned = read_entries(run, RUN, max_bytes=max_bytes)
    for entries in (judged, returned):
        entries.refuse_repeated()
    return judged, returned


def _counts(judged: Entries, returned: Entries, n_in_both: int) -> dict[str, int]:
    return {
        'judgements': len(judged),
        'hypotheses': len(returned),
        'missing': len(judged.topic.values) - n_in_both,
        'unknown': len(returned.topic.values) - n_in_both,
    }


def _check_ties(ties: TrecTies, definition: Definition) -> TrecTies:
    ties = check_policy('ties', ties, TREC_TIES)
    if ties == 'expected' and 'H' in definition.denominator:
        raise ParameterError(f'ties: found expected, which {definition} is not defined for')
    return ties


def _check_level(level: Any) -> None:
    is_integer = isinstance(level, Integral) and not isinstance(level, bool)
    if is_integer and -LARGEST_TREC_LEVEL <= level <= LARGEST_TREC_LEVEL:
        return
    expected = 'an integer from -2**53 to 2**53'
    raise ParameterError(f'relevance_level: found {shown(level)}, expected {expected}')


def _refuse_fractions(judged: Entries) -> None:
    wrong = np.flatnonzero(judged.number != np.trunc(judged.number))
    if len(wrong):
        found = f'{judged.number[wrong[0]]!s}'
        raise judged.error(int(wrong[0]), str(QRELS.number), found, 'an integer')


def _judge(
    judged: Entries, returned: Entries, level: float
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """For each returned row its topic among those judged, or -1, and whether it is relevant."""
    topic = judged.topic.find(returned.topic).astype(np.int32)
    relevant = np.flatnonzero(judged.number >= level)
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(text, len(code_of)) for text in judged.texts(relevant)]
    keys = np.sort(judged.topic.codes[relevant].astype(np.int64) << 32 | np.array(codes, np.int64))
    rows, texts = returned.about(judged, relevant)
    found = np.array([code_of[text] for text in texts], dtype=np.int64)
    hit = np.zeros(len(returned), dtype=np.bool_)
    hit[rows] = find(keys, topic[rows].astype(np.int64) << 32 | found) >= 0
    return topic, hit


@dataclass(frozen=True)
class _Ranked:
    """All returned rows by topic and rank; those of topics that are not judged, first."""

    topic: NDArray[np.int32]
    hit: NDArray[np.bool_]
    ties: NDArray[np.bool_]  # with the row before


def _ranked(
    returned: Entries, topic: NDArray[np.int32], hit: NDArray[np.bool_], ties: TrecTies
) -> _Ranked:
    score = returned.number
    if ties == 'trec_eval-9':
        with np.errstate(over='ignore'):  # what single precision does not hold is infinite, as in C
            score = score.astype(np.float32)
    order = None
    later, equal = topic[1:] > topic[:-1], topic[1:] == topic[:-1]
    if not (later | (equal & (score[1:] <= score[:-1]))).all():  # most runs stand so already
        order = np.lexsort((-score, topic))
        topic, score, hit = topic[order], score[order], hit[order]
    ties_with_last = np.zeros(len(topic), dtype=np.bool_)
    ties_with_last[1:] = (topic[1:] == topic[:-1]) & (score[1:] == score[:-1])
    ranked = _Ranked(topic, hit.copy(), ties_with_last)
    if ties == 'expected':
        return ranked
    in_block = ties_with_last.copy()
    in_block[:-1] |= ties_with_last[1:]
    tied = in_block.nonzero()[0]
    block = (~ties_with_last[tied]).cumsum()
    if ties in ('trec_eval', 'trec_eval-9'):
        within = _descending(returned.texts(tied if order is None else order[tied]))
    else:
        within = hit[tied] != (ties == 'best')
    ranked.hit[tied] = hit[tied[np.lexsort((within, block))]]
    return ranked


def _descending(texts: Sequence[str]) -> NDArray[np.int64]:
    """The place of each text in descending order."""
    place = {text: place for place, text in enumerate(sorted(set(texts), reverse=True))}
    return np.array([place[text] for text in texts], dtype=np.int64)


def _average_precision(
    ranked: _Ranked,
    n_relevant: NDArray[np.int64],
    n_returned: NDArray[np.int64],
    K: list[int],
    definition: Definition,
) -> NDArray[np.float64]:
    hits = ranked.hit.nonzero()[0]
    topic = ranked.topic[hits]
    ranks = hits - _begins(ranked, n_returned)[topic] + 1
    return average_precision_of_hits(topic, ranks, n_relevant, n_returned, K, definition)


def _expected(
    ranked: _Ranked,
    n_relevant: NDArray[np.int64],
    n_returned: NDArray[np.int64],
    K: list[int],
    definition: Definition,
) -> NDArray[np.float64]:
    """The mean over all orders within blocks of equal score."""
    starts = (~ranked.ties).nonzero()[0]
    size = np.diff(starts, append=len(ranked.hit))
    n_hits = np.add.reduceat(ranked.hit, starts, dtype=np.int64)
    held = n_hits > 0
    starts, size, n_hits = starts[held], size[held], n_hits[held]
    topic = ranked.topic[starts]
    by_topic = np.bincount(topic, weights=n_hits, minlength=len(n_relevant)).astype(np.int64)
    hits_above = (n_hits.cumsum() - n_hits) - (by_topic.cumsum() - by_topic)[topic]
    above = starts - _begins(ranked, n_returned)[topic]
    terms = expected_precisions(TieBlocks(size, n_hits, above, hits_above))
    ranks = ranges(above + 1, size)
    return average_precision_of_terms(
        topic.repeat(size), ranks, terms, n_relevant, n_returned, K, definition
    )


def _begins(ranked: _Ranked, n_returned: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each judged topic begins."""
    ends = n_returned.cumsum()
    begins: NDArray[np.int64] = len(ranked.topic) - ends[-1] + ends - n_returned
    return begins


def _warn(judged: Entries, returned: Entries, counts: dict[str, int], missing: TrecMissing) -> None:
    run, truth = printable(returned.source.name), printable(judged.source.name)
    if not counts['relevant_returned']:
        _warn_of_no_overlap(judged, returned, truth)
    if n_missing := counts['missing']:
        scored = 'scored as if nothing were returned' if missing == 'zero' else 'left out'
        n_topics = len(judged.topic.values)
        text = f'{run}: {n_missing} of {n_topics} topics of {truth} are missing, and {scored}'
        warn_caller([MissingIdsWarning(text)])
    if n_unknown := counts['unknown']:
        n_topics = len(returned.topic.values)
        text = f'{run}: {n_unknown} of {n_topics} topics are not in {truth}, and left out'
        warn_caller([UnknownIdsWarning(text)])


def _warn_of_no_overlap(judged: Entries, returned: Entries, truth: str) -> None:
    """Warn when no topic of the run is judged, or else no document."""
    here, there = set(returned.topic.values), set(judged.topic.values)
    what = 'topics'
    if here & there:
        here, there = (set(each.document.unique().to_pylist()) for each in (returned, judged))
        what = 'returned documents'
    if not here & there:
        finding = f'0 of {len(here):,} {what} occur in {truth}'
        cause = likely_cause(here, there)
        warn_caller(no_overlap(returned.source.name, finding, cause))

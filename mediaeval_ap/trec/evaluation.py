"""Plain TREC files, scored by any definition of average precision."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices, definitions, errors
from mediaeval_ap.arrays import find
from mediaeval_ap.choices import TrecMissing, TrecTies, check_policy
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoffs, depths
from mediaeval_ap.errors import DataWarning, ParameterError, printable, shown, warn_caller
from mediaeval_ap.evaluation.data_warnings import no_overlap, without_relevant
from mediaeval_ap.evaluation.likely_causes import likely_cause
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_terms
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.input_kinds import Origin
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.trec.files import Entries, read_entries
from mediaeval_ap.trec.tie_breaking import precisions


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
        The reference: a file of ``qid iteration docno relevance``, or a table with the columns
        ``qid``, ``docno`` and ``relevance``, or tuples of these three.
    run : like qrels
        The run: a file of ``qid Q0 docno rank score tag`` or a table with these columns, of which
        qid, docno and score are used, or tuples of these three.
    K : iterable of int or 'all'
        The cutoffs, each once; ``'all'`` is no cutoff, as `map` of trec_eval.
    definition : str or Definition
        AP definition: a name that `mediaeval_ap.definitions` knows.
    ties : {'trec_eval', 'trec_eval-9', 'expected', 'best', 'worst'}
        How to break ties between equal scores. ``'trec_eval'``: documents in descending order of
        their bytes, as trec_eval 10 does. ``'trec_eval-9'``: the same where scores are compared in
        single precision, as by trec_eval 9, pytrec_eval and ir_measures. All others compare in
        double precision: the mean over all orders, relevant documents first, or last.
    relevance_level : int
        The least relevance at which a document is relevant.
    missing : {'zero', 'skip'}
        How to score topics that the run does not answer: as if nothing were returned, or not.
    max_bytes : int
        Largest size in bytes of a compressed file, Parquet, a pipe or standard input.

    Returns
    -------
    Evaluation
        Average precision of each topic of the qrels, in their order.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, a relevance is no integer, or a topic has a document twice.
    ParameterError
        When a parameter is none of these, or no topic is left to score; for expected values of a
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
    >>> evaluate_trec(qrels, [('7', 'd2', 0.9), ('7', 'd1', 0.5)], [10]).map.tolist()
    [0.25]
    """
    definition = definitions.get(definition)
    cutoffs = check_cutoffs(K, definition)
    ties = _check_ties(ties, definition)
    missing = check_policy('missing', missing, choices.TREC_MISSING)
    level = _check_level(relevance_level)
    judged, returned = _read(Origin.of(qrels, max_bytes), Origin.of(run, max_bytes))
    topics = judged.topic.values
    topic, hit = _judge(judged, returned, level)
    n_returned = np.bincount(topic + 1, minlength=len(topics) + 1)[1:]
    n_relevant = np.bincount(judged.topic.codes[judged.number >= level], minlength=len(topics))
    terms = precisions(returned, topic, hit, n_returned, ties)
    ap = average_precision_of_terms(*terms, n_relevant, n_returned, depths(cutoffs), definition)
    kept = _topics_to_score(judged, returned, n_returned, missing)
    n_relevant = n_relevant[kept]
    counts = _counts(judged, returned, hit, n_relevant, int(np.count_nonzero(n_returned)))
    evaluation = Evaluation(
        [topics[place] for place in kept.tolist()],
        cutoffs,
        ap[kept],
        n_relevant,
        definition,
        {'reference': judged.source, 'hypothesis': returned.source},
        counts,
        parameters={'ties': ties, 'relevance_level': level, 'missing': missing},
        warnings=tuple(_warnings(judged, returned, counts, missing, n_relevant, definition)),
    )
    warn_caller(evaluation.warnings)
    return evaluation


def _check_ties(ties: object, definition: Definition) -> TrecTies:
    known = check_policy('ties', ties, choices.TREC_TIES)
    if known == 'expected' and 'H' in definition.denominator:
        raise ParameterError(f'ties: found expected, which {definition} is not defined for')
    return known


def _read(qrels: Origin, run: Origin) -> tuple[Entries, Entries]:
    judged = read_entries(qrels, QRELS)
    fractions = np.flatnonzero(judged.number != np.trunc(judged.number))
    if len(fractions):
        found = str(judged.number[fractions[0]])
        raise judged.error(fractions[:1], str(QRELS.number), found, 'an integer')
    returned = read_entries(run, RUN)
    judged.refuse_repeated()
    returned.refuse_repeated()
    return judged, returned


def _topics_to_score(
    judged: Entries, returned: Entries, n_returned: NDArray[np.int64], missing: TrecMissing
) -> NDArray[np.int64]:
    kept = np.flatnonzero(n_returned) if missing == 'skip' else np.arange(len(n_returned))
    if not len(kept):
        cause = likely_cause(returned.topic.values, judged.topic.values)
        finding = f'{printable(returned.source.name)}: no topic of this run is judged'
        raise ParameterError(f'{finding}; {cause}' if cause else finding)
    return kept


def _counts(
    judged: Entries,
    returned: Entries,
    hit: NDArray[np.bool_],
    n_relevant: NDArray[np.int64],
    n_topics_in_both: int,
) -> dict[str, int]:
    return {
        'queries': len(n_relevant),
        'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
        'judgements': len(judged),
        'hypotheses': len(returned),
        'missing': len(judged.topic.values) - n_topics_in_both,
        'unknown': len(returned.topic.values) - n_topics_in_both,
        'relevant': int(n_relevant.sum()),
        'relevant_returned': int(np.count_nonzero(hit)),
    }


def _check_level(level: Any) -> int:
    is_integer = isinstance(level, Integral) and not isinstance(level, bool)
    if is_integer and -choices.LARGEST_TREC_LEVEL <= level <= choices.LARGEST_TREC_LEVEL:
        return int(level)
    expected = 'an integer from -2**53 to 2**53'
    raise ParameterError(f'relevance_level: found {shown(level)}, expected {expected}')


def _judge(
    judged: Entries, returned: Entries, level: float
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the judged topic of each returned row, or -1, and whether the row is relevant."""
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


def _warnings(
    judged: Entries,
    returned: Entries,
    counts: dict[str, int],
    missing: TrecMissing,
    n_relevant: NDArray[np.int64],
    definition: Definition,
) -> list[DataWarning]:
    run, truth = printable(returned.source.name), printable(judged.source.name)
    found = [] if counts['relevant_returned'] else _no_overlap(judged, returned, truth)
    if n_missing := counts['missing']:
        scored = 'scored as if nothing were returned' if missing == 'zero' else 'left out'
        n_topics = len(judged.topic.values)
        text = f'{run}: {n_missing} of {n_topics} topics of {truth} are missing, and {scored}'
        found.append(errors.MissingIdsWarning(text))
    if n_unknown := counts['unknown']:
        n_topics = len(returned.topic.values)
        text = f'{run}: {n_unknown} of {n_topics} topics are not in {truth}, and left out'
        found.append(errors.UnknownIdsWarning(text))
    return found + without_relevant(truth, n_relevant, definition)


def _no_overlap(judged: Entries, returned: Entries, truth: str) -> list[DataWarning]:
    """Return the warning that no topic of the run is judged, or else no document."""
    here, there = set(returned.topic.values), set(judged.topic.values)
    what = 'topics'
    if here & there:
        here, there = (set(each.document.unique().to_pylist()) for each in (returned, judged))
        what = 'returned documents'
    if here & there:
        return []
    finding = f'0 of {len(here):,} {what} occur in {truth}'
    return no_overlap(returned.source.name, finding, likely_cause(here, there))

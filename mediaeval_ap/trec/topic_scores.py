"""Plain TREC files, scored by any definition of average precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices, definitions
from mediaeval_ap.arrays import ranges
from mediaeval_ap.choices import (
    Missing,
    TrecTies,
    Unjudged,
    Unknown,
    WithoutRelevant,
    check_policy,
    check_without_relevant,
    parameter_of_skipped,
)
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoffs, depths
from mediaeval_ap.errors import (
    DataWarning,
    Note,
    ParameterError,
    UndefinedScoreError,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.criteria import skipped_queries
from mediaeval_ap.evaluation.data_warnings import (
    IdPolicy,
    likely_cause,
    no_overlap,
    without_relevant,
)
from mediaeval_ap.metrics.ap_of_hits import average_precision_of_terms, precision_at_hits
from mediaeval_ap.metrics.tie_blocks import TieBlocks, expected_precisions
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.result import SKIPPED
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.table import Rows, consistent
from mediaeval_ap.trec.entries import TOPIC, Entries, compared, descending, is_large, read_entries
from mediaeval_ap.trec.other_tools import file_in

NO_RELEVANT_DOCUMENT = 'have no relevant document'
# Topic, rank, and what the hit adds to the sum of precisions.
Terms: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]


def evaluate_trec(
    qrels: Rows | Mapping[str, Mapping[str, float]],
    run: Rows | Mapping[str, Mapping[str, float]],
    K: Cutoff | Iterable[Cutoff] = definitions.CUTOFFS,
    *,
    definition: str | Definition = 'trec',
    ties: TrecTies = 'trec_eval',
    relevance_level: int = 1,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    measures: str | Iterable[str] = (),
    queries_without_relevant: WithoutRelevant = 'count',
    unjudged: Unjudged = 'nonrelevant',
    name: str | None = None,
    part: str | None = None,
) -> Evaluation:
    """Score a run in TREC's format, topic by topic.

    Parameters
    ----------
    qrels : str, path-like, file object, DataFrame, dict or iterable of tuples
        The reference: a file of ``qid iteration docno relevance``; a table with the columns
        ``qid``, ``docno`` and ``relevance``, or tuples of these three; a dictionary ``{qid: {docno:
        relevance}}``; `Qrel` of ir_measures; `Qrels` of ranx. A table may have the names of BEIR,
        Hugging Face, ir_measures, PyTerrier or ranx, as a frame, CSV, TSV, Parquet or JSON.
    run : like qrels
        The run: a file of ``qid Q0 docno rank score tag``; a table with these columns, of which
        qid, docno and score are used, or tuples of these three; a dictionary ``{qid: {docno:
        score}}``; `ScoredDoc` of ir_measures; `Run` of ranx. A table may have names as in qrels. A
        file may also be what ranx (JSON) or sentence-transformers (`write_predictions`) wrote, or
        the predictions of MTEB, or the folder of their one file.
    K : int, 'all' or iterable of these
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
    missing : {'error', 'zero', 'skip'}
        What to do about topics that the run lacks: raise an error, score them as if nothing were
        returned, or leave them out.
    unknown : {'error', 'drop'}
        What to do about topics of the run that the qrels lack: raise an error, or leave them out.
    measures : str or iterable of str
        Measures of ir_measures to add, between spaces or commas, such as ``'nDCG@10 P@5 RR'``, with
        graded relevance and ties broken as `ties` says. Not with ``'expected'``. Those that need
        documents judged not relevant, as Bpref, are refused if the qrels have none.
    queries_without_relevant : {'count', 'skip'}
        As for `AveragePrecision`, of topics without a relevant document.
    unjudged : {'nonrelevant', 'skip'}
        As for `AveragePrecision`, of documents that the qrels lack for the topic, or have with a
        negative relevance.
    name : str, optional
        As for `AveragePrecision.evaluate`.
    part : str, optional
        Of a run of MTEB with several subsets or splits, the one to score: ``'en/test'``, or
        ``'en'`` or ``'test'`` where this names one alone.

    Returns
    -------
    Evaluation
        Average precision of each topic of the qrels, in their order.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, a relevance is no integer, a topic has a document twice, topics
        are missing or unknown that may not be, or measures need rows that the qrels lack.
    ParameterError, MissingExtraError
        When a parameter is none of these; for expected values of a definition that divides by hits,
        or beside measures; when the extra ``trec`` that measures need is not installed.
    UndefinedScoreError
        When no topic is left to score.

    Warns
    -----
    DataWarning, NoOverlapWarning, WithoutRelevantWarning
        As `AveragePrecision.evaluate`; when topics are missing or unknown without an error.

    Notes
    -----
    Takes O(n log n) time for n rows.

    Examples
    --------
    >>> qrels = [('7', 'd1', 1), ('7', 'd2', 0), ('7', 'd3', 2)]
    >>> evaluate_trec(qrels, [('7', 'd2', 0.9), ('7', 'd1', 0.5)], 10).map.tolist()
    [0.25]
    >>> evaluate_trec({'7': {'d1': 1, 'd2': 0}}, {'7': {'d2': 0.9, 'd1': 0.5}}, 10).map.tolist()
    [0.5]
    """
    definition = definitions.get(definition)
    cutoffs = check_cutoffs(K, definition)
    ties = check_policy('ties', ties, choices.TREC_TIES)
    if ties == 'expected' and 'H' in definition.denominator:
        raise ParameterError(f'ties: found expected, which {definition} is not defined for')
    policy = IdPolicy(missing, unknown, 'topic', 'a topic of the qrels')
    run_name = check_name(name)
    skip_or_count = check_without_relevant(queries_without_relevant)
    level = _check_level(relevance_level)
    unjudged = check_policy('unjudged', unjudged, choices.UNJUDGED)
    parsed = _check_measures(measures, cutoffs, ties, level)
    returned_by = TableInput.of(file_in(run))
    judged, returned = _read(TableInput.of(qrels), returned_by, part)
    if parsed:
        from mediaeval_ap.trec.measures import check_judged, measures_of_files

        check_judged(parsed, judged)
    topics = judged.topic.values
    judged_name = judged.source.name
    topic = judged.topic.find(returned.topic).astype(np.int32)  # -1 where it is not judged
    is_relevant = judged.number >= level
    hit = np.zeros(len(returned), dtype=np.bool_)
    hit[returned.rows_of(judged, np.flatnonzero(is_relevant))] = True
    n_returned = np.bincount(topic + 1, minlength=len(topics) + 1)[1:]
    n_relevant = np.bincount(judged.topic.codes[is_relevant], minlength=len(topics))
    scored = n_relevant > 0 if skip_or_count == 'skip' else np.ones(len(topics), dtype=np.bool_)
    n_skipped = int(np.count_nonzero(~scored))
    # Where nothing is relevant this raises, before any error about the run.
    about_skipped = skipped_queries(
        judged_name, judged_name, n_skipped, len(topics), NO_RELEVANT_DOCUMENT
    )
    lacking = (n_returned == 0) & scored
    warnings = [] if hit.any() else _no_overlap(judged, returned)
    warnings += _topics_of_one_file(judged, returned, topic, lacking, policy)
    ranked = returned
    of_ranked = topic
    n_ranked = n_returned
    if unjudged == 'skip':
        is_judged = _are_judged(judged, returned, level)
        ranked = returned.select(is_judged)
        of_ranked = topic[is_judged]
        hit = hit[is_judged]
        n_ranked = np.bincount(of_ranked + 1, minlength=len(topics) + 1)[1:]
    terms = precisions(ranked, of_ranked, hit, n_ranked, ties)
    ap = average_precision_of_terms(*terms, n_relevant, n_ranked, depths(cutoffs), definition)
    kept = np.flatnonzero(scored & ~(lacking & (policy.missing == 'skip')))
    if not len(kept):
        cause = likely_cause(returned.topic.values, topics)
        which = ' and has a relevant document' if n_skipped else ''
        finding = f'{printable(returned.source.name)}: no topic of this run is judged{which}'
        raise UndefinedScoreError(f'{finding}; {cause}' if cause else finding)
    n_relevant = n_relevant[kept]
    warnings += without_relevant(printable(judged_name), n_relevant, definition)
    warnings += about_skipped
    evaluation = Evaluation(
        [topics[place] for place in kept.tolist()],
        cutoffs,
        ap[kept],
        n_relevant,
        definition,
        {'reference': judged.source, 'hypothesis': returned.source},
        {
            'queries': len(kept),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            'judgements': len(judged),
            'hypotheses': len(returned),
            'missing': int(np.count_nonzero(lacking)),
            'unknown': len(returned.topic.values) - int(np.count_nonzero(n_returned)),
            'relevant': int(n_relevant.sum()),
            'relevant_returned': int(np.count_nonzero(hit)),
            **({SKIPPED: n_skipped} if skip_or_count == 'skip' else {}),
        },
        measures_of_files(parsed, judged, ranked, of_ranked, kept, ties) if parsed else {},
        {
            'ties': ties,
            'relevance_level': level,
            'missing': policy.missing,
            'unknown': policy.unknown,
            **parameter_of_skipped(skip_or_count),
            **({'unjudged': unjudged} if unjudged == 'skip' else {}),
        },
        warnings=tuple(warnings),
        run=run_name,
    )
    warn_caller(evaluation.warnings)
    return evaluation


def _are_judged(judged: Entries, returned: Entries, level: int) -> NDArray[np.bool_]:
    """Find the returned rows that are judged: as in trec_eval, with a relevance from 0."""
    judged.expect_nonrelevant(level, 'to leave out those that are not judged')
    is_judged = np.zeros(len(returned), dtype=np.bool_)
    is_judged[returned.rows_of(judged, np.flatnonzero(judged.number >= min(level, 0)))] = True
    return is_judged


def _check_level(level: Any) -> int:
    is_integer = isinstance(level, Integral) and not isinstance(level, bool)
    if is_integer and -choices.LARGEST_TREC_LEVEL <= level <= choices.LARGEST_TREC_LEVEL:
        return int(level)
    expected = 'an integer from -2**53 to 2**53'
    raise ParameterError(f'relevance_level: found {shown(level)}, expected {expected}')


def _check_measures(
    measures: str | Iterable[str], K: Sequence[Cutoff], ties: TrecTies, level: int
) -> list[Any]:
    if not measures:
        return []
    if ties == 'expected':
        raise ParameterError(
            'measures: found ties expected beside them, expected another order of equal scores: '
            'a measure of ir_measures has no mean over all orders here'
        )
    from mediaeval_ap.trec.measures import check_columns, check_levels, parse_measures

    parsed = parse_measures(measures)
    check_columns(parsed, K)
    check_levels(parsed, level)
    return parsed


def _read(qrels: TableInput, run: TableInput, part: str | None) -> tuple[Entries, Entries]:
    judged = read_entries(qrels, QRELS, in_blocks=is_large(run))
    fractions = np.flatnonzero(judged.number != np.trunc(judged.number))
    if len(fractions):
        found = str(judged.number[fractions[0]])
        raise judged.error(fractions[:1], str(QRELS.number), found, 'an integer')
    returned = read_entries(run, RUN, in_blocks=is_large(qrels), part=part)
    consistent(judged, returned)
    judged.refuse_repeated()
    returned.refuse_repeated()
    return judged, returned


def _no_overlap(judged: Entries, returned: Entries) -> list[DataWarning]:
    """Return the warning that no topic of the run is judged, or else no document."""
    here = set(returned.topic.values)
    there = set(judged.topic.values)
    what = 'topics'
    if here & there:
        here, there = (
            set(map(bytes.decode, set(each.document.tolist()))) for each in (returned, judged)
        )
        what = 'returned documents'
    if here & there:
        return []
    finding = f'0 of {len(here):,} {what} occur in {printable(judged.source.name)}'
    return no_overlap(returned.source.name, finding, likely_cause(here, there))


def _topics_of_one_file(
    judged: Entries,
    returned: Entries,
    topic: NDArray[np.int32],
    lacking: NDArray[np.bool_],
    policy: IdPolicy,
) -> list[DataWarning]:
    """Refuse topics that are in one file alone, or warn of them where they may be."""
    run = printable(returned.source.name)
    truth = printable(judged.source.name)
    found: list[DataWarning] = []
    unknown = np.flatnonzero(topic < 0)
    missing = np.flatnonzero(lacking)
    if len(unknown):
        all_are = len(unknown) == len(topic)
        cause = likely_cause(returned.topic.values, judged.topic.values) if all_are else ''
        first = returned.topic.text(unknown[0])
        policy.refuse_unknown(returned, unknown, TOPIC, first, truth, cause)
    if len(missing):
        first = judged.topic.values[missing[0]]
        policy.refuse_missing(returned.source.name, TOPIC, first, len(missing), truth)
        zero = policy.missing == 'zero'
        scored = 'scored as if nothing were returned' if zero else 'left out'
        n_topics = len(judged.topic.values)
        note = Note(f'are missing, and {scored}', len(missing), n_topics, f'topics of {truth}')
        found.append(DataWarning('missing-ids', run, note))
    if len(unknown):
        n_unknown = len(np.unique(returned.topic.codes[unknown]))
        n_topics = len(returned.topic.values)
        note = Note(f'are not in {truth}, and left out', n_unknown, n_topics, 'topics')
        found.append(DataWarning('unknown-ids', run, note))
    return found


def precisions(
    returned: Entries,
    topic: NDArray[np.int32],
    hit: NDArray[np.bool_],
    n_returned: NDArray[np.int64],
    ties: TrecTies,
) -> Terms:
    """Return the precisions of hits by topic and rank; a topic that is not judged is -1."""
    score = compared(returned.number, ties)
    order = None
    later = topic[1:] > topic[:-1]
    equal = topic[1:] == topic[:-1]
    if not (later | (equal & (score[1:] <= score[:-1]))).all():  # most runs stand so already
        order = np.lexsort((-score, topic))
        topic = topic[order]
        score = score[order]
        hit = hit[order]
    ties_with_last = np.zeros(len(topic), dtype=np.bool_)
    ties_with_last[1:] = (topic[1:] == topic[:-1]) & (score[1:] == score[:-1])
    begins = len(topic) - n_returned[::-1].cumsum()[::-1]  # for each judged topic, its first row
    if ties == 'expected':
        return _expected(topic, hit, ties_with_last, begins)
    in_block = ties_with_last.copy()
    in_block[:-1] |= ties_with_last[1:]
    tied = in_block.nonzero()[0]
    block = (~ties_with_last[tied]).cumsum()
    if ties in ('best', 'worst'):
        within = hit[tied] != (ties == 'best')
    else:
        within = descending(returned.document[tied if order is None else order[tied]])
    ranked = hit.copy()
    ranked[tied] = hit[tied[np.lexsort((within, block))]]
    hits = ranked.nonzero()[0]
    topic = topic[hits]
    ranks = hits - begins[topic] + 1
    return topic, ranks, precision_at_hits(ranks, topic)


def _expected(
    topic: NDArray[np.int32],
    hit: NDArray[np.bool_],
    ties_with_last: NDArray[np.bool_],
    begins: NDArray[np.int64],
) -> Terms:
    """Return what ranks of tie blocks add in the mean over all orders of equal scores."""
    starts = (~ties_with_last).nonzero()[0]
    size = np.diff(starts, append=len(hit))
    n_hits = np.add.reduceat(hit, starts, dtype=np.int64)
    held = n_hits > 0
    starts = starts[held]
    size = size[held]
    n_hits = n_hits[held]
    topic = topic[starts]
    by_topic = np.bincount(topic, weights=n_hits, minlength=len(begins)).astype(np.int64)
    hits_above = (n_hits.cumsum() - n_hits) - (by_topic.cumsum() - by_topic)[topic]
    above = starts - begins[topic]
    terms = expected_precisions(TieBlocks(size, n_hits, above, hits_above))
    return topic.repeat(size), ranges(above + 1, size), terms

"""Plain TREC files, scored by any definition of average precision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices, definitions
from mediaeval_ap.arrays import ranges
from mediaeval_ap.choices import (
    Missing,
    Repeated,
    TrecTies,
    Unjudged,
    Unknown,
    WithoutRelevant,
    check_policy,
    check_without_relevant,
    parameter_of_skipped,
)
from mediaeval_ap.definitions import Cutoff, Definition, Precision, check_cutoffs, depths
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
from mediaeval_ap.evaluation.data_warnings import IdPolicy, likely_cause, overlap, without_relevant
from mediaeval_ap.metrics.ap_of_hits import (
    PrecisionTerms,
    average_precision_of_terms,
    precision_at_hits,
)
from mediaeval_ap.metrics.tie_blocks import TieBlocks, expected_precisions, threshold_precisions
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.notes import count_of_skipped
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.table import Rows, consistent
from mediaeval_ap.trec import sampled
from mediaeval_ap.trec.entries import (
    TOPIC,
    Entries,
    comparable_scores,
    descending_keys,
    first_ranks,
    is_large,
    read_entries,
)
from mediaeval_ap.trec.other_tools import file_in

NO_RELEVANT_DOCUMENT = 'have no relevant document'
FEW_ROWS = 10  # too few of one topic for a warning about scores
UNORDERED = ('expected', 'threshold')  # ties that are not put in an order


def evaluate_trec(
    qrels: Rows | Mapping[str, Mapping[str, float]],
    run: Rows | Mapping[str, Mapping[str, float]],
    K: Cutoff | Iterable[Cutoff] | None = None,
    *,
    definition: str | Definition | None = None,
    ties: TrecTies = 'trec_eval',
    relevance_level: int = 1,
    missing: Missing = 'error',
    unknown: Unknown = 'error',
    measures: str | Iterable[str] = (),
    queries_without_relevant: WithoutRelevant = 'count',
    unjudged: Unjudged = 'nonrelevant',
    ignore: int | Iterable[int] = (),
    repeated: Repeated = 'error',
    name: str | None = None,
    part: str | None = None,
) -> Evaluation:
    """Score a run in TREC's format, topic by topic.

    Qrels with a stratum are a sample: their score is xinfAP, which is estimated from it.

    Parameters
    ----------
    qrels : str, path-like, file object, DataFrame, dict or iterable of tuples
        The reference: a file of ``qid iteration docno relevance``; a table with the columns
        ``qid``, ``docno`` and ``relevance``, or tuples of these three; a dictionary ``{qid: {docno:
        relevance}}``; `Qrel` of ir_measures; `Qrels` of ranx. A table may have the names of BEIR,
        Hugging Face, ir_measures, PyTerrier or ranx, as a frame, CSV, TSV, Parquet or JSON. A
        sample has a ``stratum`` before the relevance, or as a column; its negative relevance is of
        documents that are pooled, but not judged.
    run : like qrels
        The run: a file of ``qid Q0 docno rank score tag``; a table with the columns ``qid``,
        ``docno`` and ``score``, or tuples of these three; a dictionary ``{qid: {docno: score}}``;
        `ScoredDoc` of ir_measures; `Run` of ranx. A table may have names as in qrels. A file may
        also come from ranx (JSON) or sentence-transformers (`write_predictions`), or hold the
        predictions of MTEB; of these, the folder will do if it has one such file.
    K : int, 'all' or iterable of these, optional
        The cutoffs, each once, by default 1, 10, 100 and 1000; ``'all'`` is no cutoff, as `map` of
        trec_eval. For a sample the depth of the rankings, by default 1000.
    definition : str or Definition, optional
        As for `AveragePrecision`, by default ``'trec'``; a sample takes none.
    queries_without_relevant, name
        As for `AveragePrecision` and its method `evaluate`.
    ties : {'trec_eval', 'trec_eval-9', 'expected', 'threshold', 'best', 'worst'}
        How to break ties between equal scores. ``'trec_eval'``: documents in descending order of
        their bytes, as in trec_eval 10. ``'trec_eval-9'``: the same, but scores are compared in
        single precision, as in trec_eval 9, pytrec_eval and ir_measures; all others compare in
        double precision. ``'expected'``: the mean over all orders of ties. ``'threshold'``:
        relevant documents count at the last rank of their tie, as in scikit-learn. ``'best'`` and
        ``'worst'``: relevant documents first, or last.
    relevance_level : int
        The least relevance at which a document is relevant.
    missing : {'error', 'zero', 'skip'}
        How to treat topics that the run lacks: raise an error, score them as if nothing were
        returned, or leave them out.
    unknown : {'error', 'drop'}
        How to treat topics of the run that the qrels lack: raise an error, or leave them out.
    measures : str or iterable of str
        Measures of ir_measures to add, separated by spaces or commas, such as ``'nDCG@10 P@5 RR'``.
        They use graded relevance, and `ties`, which may not be ``'expected'`` or ``'threshold'``. A
        measure that needs documents judged not relevant, such as Bpref, is refused if the qrels
        have none. Those of a sample are ``xinfNDCG`` and ``infP@k`` (inferred precision).
    unjudged : {'nonrelevant', 'skip'}
        As for `AveragePrecision`. A document is unjudged if the qrels lack it for the topic, or
        give it a negative relevance.
    ignore : int or iterable of int
        Documents with one of these relevances leave the ranking before ranks are counted, and are
        not relevant, whatever `relevance_level`.
    repeated : {'error', 'first'}
        How to treat a document that the run lists again for a topic: raise an error, or keep the
        row with the higher score.
    part : str, optional
        The subset or split to score if a run of MTEB has several: ``'en/test'``, or ``'en'`` or
        ``'test'`` if only one part has this name.

    Returns
    -------
    Evaluation
        Average precision of each topic of the qrels, in their order.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, a relevance is not an integer, a topic has a document twice, or
        measures need rows that the qrels lack.
    ParameterError, MissingExtraError
        When ties have no order, and there are measures; when ties are ``'expected'``, ``'best'`` or
        ``'worst'``, and the definition divides by hits; when the extra ``trec`` is not installed;
        when xinfAP does not have a setting.
    UndefinedScoreError
        When no topic is left to score.

    Warns
    -----
    DataWarning, NoOverlapWarning, WithoutRelevantWarning
        As `AveragePrecision.evaluate`; when topics are missing or unknown, or documents repeated,
        and this is no error; when scores say little, or no row has a relevance of `ignore`; when
        infAP is measured on qrels with a relevance of -1.

    Notes
    -----
    Takes O(n log n) time for n rows; of a sample, also time for each row and stratum.

    Examples
    --------
    >>> qrels = [('7', 'd1', 1), ('7', 'd2', 0), ('7', 'd3', 2)]
    >>> evaluate_trec(qrels, [('7', 'd2', 0.9), ('7', 'd1', 0.5)], 10).map.tolist()
    [0.25]
    >>> evaluate_trec({'7': {'d1': 1, 'd2': 0}}, {'7': {'d2': 0.9, 'd1': 0.5}}, 10).map.tolist()
    [0.5]
    """
    chosen = definition
    definition = definitions.get('trec' if definition is None else definition)
    cutoffs = check_cutoffs(definitions.CUTOFFS if K is None else K, definition)
    ties = check_policy('ties', ties, choices.TREC_TIES)
    if ties in ('expected', 'best', 'worst') and 'H' in definition.denominator:
        raise ParameterError(
            f'found {ties}, which {definition} is not defined for, as it divides by hits', 'ties'
        )
    policy = IdPolicy(missing, unknown, 'topic', 'a topic of the qrels')
    run_name = check_name(name)
    skip_or_count = check_without_relevant(queries_without_relevant)
    level = _check_level('relevance_level', relevance_level)
    unjudged = check_policy('unjudged', unjudged, choices.UNJUDGED)
    repeated = check_policy('repeated', repeated, choices.REPEATED)
    ignored = _check_ignored(ignore)
    parsed = _check_measures(measures, cutoffs, ties, level)
    criteria = _TrecCriteria(
        definition, cutoffs, ties, level, policy, skip_or_count, unjudged, ignored, repeated, parsed
    )
    run_input = TableInput.of(file_in(run), 'run')
    judged, returned = _read_files(TableInput.of(qrels), run_input, part)
    if n_rising := _n_rising(returned.topic.codes, returned.number):
        n_rising *= _n_rising(returned.topic.codes, first_ranks(run_input)) > 0
    if judged.stratum is not None:
        if K is None:
            cutoffs = [sampled.DEPTH]
        sampled.check_settings(chosen, cutoffs, parsed, criteria.parameters)
        criteria = criteria._replace(cutoffs=cutoffs, measures=[])
    else:
        sampled.refuse_estimates(parsed)
    evaluation = _score_entries(criteria, judged, returned, run_name, n_rising)
    if judged.stratum is not None:
        evaluation = sampled.with_estimates(evaluation, judged, returned, parsed)
    warn_caller(evaluation.warnings)
    return evaluation


class _TrecCriteria(NamedTuple):
    definition: Definition
    cutoffs: list[Cutoff]
    ties: TrecTies
    level: int
    policy: IdPolicy
    skip_or_count: WithoutRelevant
    unjudged: Unjudged
    ignored: list[int]  # levels of relevance, ascending
    repeated: Repeated
    measures: list[Any]  # of ir_measures

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            'ties': self.ties,
            'relevance_level': self.level,
            'missing': self.policy.missing,
            'unknown': self.policy.unknown,
            **parameter_of_skipped(self.skip_or_count),
            **({'unjudged': self.unjudged} if self.unjudged == 'skip' else {}),
            **({'ignore': ','.join(map(str, self.ignored))} if self.ignored else {}),
            **({'repeated': self.repeated} if self.repeated == 'first' else {}),
        }


def _score_entries(
    criteria: _TrecCriteria, judged: Entries, returned: Entries, run_name: str, n_rising: int
) -> Evaluation:
    returned, warnings = _each_document_once(returned, criteria.repeated)
    is_ignored = np.isin(judged.number, criteria.ignored)
    if len(lacking := np.setdiff1d(criteria.ignored, judged.number)):
        levels = ', '.join(f'{level:g}' for level in np.unique(judged.number)[:9])
        finding = f'no row of {lacking[0]:g} to ignore, only of {levels}'
        warnings.append(DataWarning('nothing-ignored', printable(judged.source.name), finding))
    counted = judged.select(~is_ignored) if criteria.ignored else judged
    if criteria.measures:
        from mediaeval_ap.trec.measures import check_judged, measures_of_files

        warnings += check_judged(criteria.measures, counted)
    topics = judged.topic.values
    judged_name = judged.source.name
    is_relevant = counted.number >= criteria.level
    n_relevant = np.bincount(counted.topic.codes[is_relevant], minlength=len(topics))
    rows = _matched_rows(counted, returned, is_relevant)
    skips = criteria.skip_or_count == 'skip'
    is_scored = n_relevant > 0 if skips else np.ones(len(topics), dtype=np.bool_)
    n_skipped = int(np.count_nonzero(~is_scored))
    # Where nothing is relevant this raises, before any error about the run.
    about_skipped = skipped_queries(
        judged_name, judged_name, n_skipped, len(topics), NO_RELEVANT_DOCUMENT
    )
    is_missing = (rows.n_by_topic == 0) & is_scored
    about_topics = _warnings_about_topics(judged, returned, rows.topic, is_missing, criteria.policy)
    has_hits = bool(rows.is_hit.any())
    run, truth = returned.source.name, printable(judged_name)
    ids_of_topics = returned.topic.values, truth, topics
    warnings += overlap(run, 'topics', *ids_of_topics, shares_an_id=has_hits)
    if rows.n_by_topic.any():
        documents = returned.document, truth, judged.document
        warnings += overlap(run, 'returned documents', *documents, shares_an_id=has_hits)
    warnings += about_topics
    ranked = rows
    if criteria.ignored:
        ranked = rows.select(returned.rows_of(judged, np.flatnonzero(is_ignored)), keep=False)
    n_ignored = len(returned) - len(ranked.entries)
    if criteria.unjudged == 'skip':
        ranked = _judged_rows(counted, ranked, criteria.level)
    warnings += _about_scores(ranked, judged, criteria.ties, n_rising)
    ap = average_precision_of_terms(
        precision_terms(ranked, criteria.ties, criteria.definition.precision),
        n_relevant,
        ranked.n_by_topic,
        K=depths(criteria.cutoffs),
        definition=criteria.definition,
    )
    scored = np.flatnonzero(is_scored & ~(is_missing & (criteria.policy.missing == 'skip')))
    if not len(scored):
        raise _nothing_to_score(judged, returned, n_skipped)
    n_relevant = n_relevant[scored]
    warnings += without_relevant(printable(judged_name), n_relevant, criteria.definition)
    warnings += about_skipped
    values_by_measure = {}
    if criteria.measures:
        values_by_measure = measures_of_files(
            criteria.measures, counted, ranked.entries, ranked.topic, scored, criteria.ties
        )
    return Evaluation(
        [topics[code] for code in scored.tolist()],
        criteria.cutoffs,
        ap=ap[scored],
        n_relevant=n_relevant,
        definition=criteria.definition,
        inputs={'reference': judged.source, 'hypothesis': returned.source},
        counts={
            'queries': len(scored),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            'judgements': len(judged),
            'hypotheses': len(returned),
            'missing': int(np.count_nonzero(is_missing)),
            'unknown': len(returned.topic.values) - int(np.count_nonzero(rows.n_by_topic)),
            'relevant': int(n_relevant.sum()),
            'relevant_returned': int(np.count_nonzero(ranked.is_hit)),
            **count_of_skipped(criteria.skip_or_count, n_skipped),
            **({'ignored': n_ignored} if criteria.ignored else {}),
        },
        measures=values_by_measure,
        parameters=criteria.parameters,
        warnings=tuple(warnings),
        run=run_name,
    )


class MatchedRows(NamedTuple):
    """Rows of a run beside the qrels."""

    entries: Entries
    topic: NDArray[np.int32]  # among the judged topics, of each row; -1 if it is not judged
    is_hit: NDArray[np.bool_]  # of each row
    n_by_topic: NDArray[np.int64]  # rows of each judged topic

    def select(self, rows: NDArray[np.int64], *, keep: bool) -> MatchedRows:
        is_kept = np.full(len(self.topic), not keep)
        is_kept[rows] = keep
        topic = self.topic[is_kept]
        n_by_topic = np.bincount(topic + 1, minlength=len(self.n_by_topic) + 1)[1:]
        return MatchedRows(self.entries.select(is_kept), topic, self.is_hit[is_kept], n_by_topic)


def _each_document_once(returned: Entries, repeated: Repeated) -> tuple[Entries, list[DataWarning]]:
    if repeated == 'error':
        returned.refuse_repeated(choices.REPEATED_REMEDY)
        return returned, []
    distinct = returned.without_repeated()
    n_dropped = len(returned) - len(distinct)
    finding = 'list a document again for its topic, and are dropped: the higher score stays'
    note = Note(finding, n_dropped, len(returned), 'rows')
    warning = DataWarning('repeated-rows', printable(returned.source.name), note)
    return distinct, [warning] * bool(n_dropped)


def _matched_rows(
    judged: Entries, returned: Entries, is_relevant: NDArray[np.bool_]
) -> MatchedRows:
    n_topics = len(judged.topic.values)
    topic = judged.topic.find(returned.topic).astype(np.int32)
    is_hit = np.zeros(len(returned), dtype=np.bool_)
    is_hit[returned.rows_of(judged, np.flatnonzero(is_relevant))] = True
    n_by_topic = np.bincount(topic + 1, minlength=n_topics + 1)[1:]
    return MatchedRows(returned, topic, is_hit, n_by_topic)


def _judged_rows(judged: Entries, rows: MatchedRows, level: int) -> MatchedRows:
    """Keep the rows whose document is judged: as in trec_eval, with a relevance from 0."""
    judged.expect_nonrelevant(level, 'to leave out those that are not judged')
    judged_rows = np.flatnonzero(judged.number >= min(level, 0))
    return rows.select(rows.entries.rows_of(judged, judged_rows), keep=True)


def _nothing_to_score(judged: Entries, returned: Entries, n_skipped: int) -> UndefinedScoreError:
    cause = likely_cause(returned.topic.values, judged.topic.values)
    condition = ' and has a relevant document' if n_skipped else ''
    finding = f'{printable(returned.source.name)}: no topic of this run is judged{condition}'
    return UndefinedScoreError(f'{finding}; {cause}' if cause else finding)


def _check_level(name: str, level: Any) -> int:
    is_integer = isinstance(level, Integral) and not isinstance(level, bool)
    if is_integer and -choices.LARGEST_TREC_LEVEL <= level <= choices.LARGEST_TREC_LEVEL:
        return int(level)
    expected = 'an integer from -2**53 to 2**53'
    raise ParameterError(f'{name}: found {shown(level)}, expected {expected}')


def _check_ignored(ignore: Any) -> list[int]:
    is_one = isinstance(ignore, str) or not isinstance(ignore, Iterable)
    return sorted({_check_level('ignore', level) for level in ([ignore] if is_one else ignore)})


def _check_measures(
    measures: str | Iterable[str], K: Sequence[Cutoff], ties: TrecTies, level: int
) -> list[Any]:
    if not measures:
        return []
    if ties in UNORDERED:
        raise ParameterError(
            f'measures: use another order of ties; with ties={ties!r}, measures of ir_measures '
            'have no values'
        )
    from mediaeval_ap.trec.measures import check_columns, check_levels, parse_measures

    parsed = parse_measures(measures)
    check_columns(parsed, K)
    check_levels([measure for measure in parsed if not sampled.is_estimate(measure)], level)
    return parsed


def _read_files(qrels: TableInput, run: TableInput, part: str | None) -> tuple[Entries, Entries]:
    """Read qrels and run; raise FormatError if their ids or numbers are not fit to be scored."""
    judged = read_entries(qrels, QRELS, in_blocks=is_large(run))
    fraction_rows = np.flatnonzero(judged.number != np.trunc(judged.number))
    if len(fraction_rows):
        fraction = str(judged.number[fraction_rows[0]])
        raise judged.error(fraction_rows[:1], str(QRELS.number), fraction, 'an integer')
    returned = read_entries(run, RUN, in_blocks=is_large(qrels), part=part)
    consistent(judged, returned)
    judged.refuse_repeated()
    return judged, returned


def _n_rising(topic: NDArray[np.int32], number: NDArray[np.float64]) -> int:
    """Count the topics whose first numbers rise row by row; return 0 if they fall in any topic."""
    topic, number = topic[: len(number)], number[: len(topic)]
    is_same = topic[1:] == topic[:-1]
    if (is_same & (number[1:] < number[:-1])).any():
        return 0
    return len(np.unique(topic[1:][is_same & (number[1:] > number[:-1])]))


def _about_scores(
    rows: MatchedRows, judged: Entries, ties: TrecTies, n_rising: int
) -> Iterator[DataWarning]:
    """Warn if most topics have scores that say little, but not of one short topic."""
    returned, topic, is_hit, n_by_topic = rows
    score = comparable_scores(returned.number, ties)
    starts = np.flatnonzero(np.diff(topic, prepend=-2))
    best = np.full(len(n_by_topic) + 1, -np.inf, score.dtype)  # the last one of unjudged topics, -1
    np.maximum.at(best, topic[starts], np.maximum.reduceat(score, starts))
    first = np.flatnonzero((score == best[topic]) & (topic >= 0))
    n_first = np.bincount(topic[first], minlength=len(n_by_topic))
    is_tied = (n_first == n_by_topic) & (n_by_topic > 1) & (ties in ('trec_eval', 'trec_eval-9'))
    first = first[(n_first[topic[first]] == 1) & ~is_hit[first]]
    documents = zip(topic[first].tolist(), returned.documents(first), strict=True)
    own = first[[judged.topic.values[code] == document for code, document in documents]]
    levels = judged.number[judged.rows_of(returned, own)] if len(own) else own
    is_theirs = len(own) > 0 and np.isin(judged.number, levels[:1]).sum() == len(own)
    drop = 'drop these rows' + (f', or use --ignore {levels[0]:g}' if is_theirs else '')
    expected = "take the mean over all orders by --ties expected, in Python ties='expected'"
    for finding, n, n_topics, remedy in (
        ('have scores that rise with the rank', n_rising, n_rising, 'negate them if distances'),
        ('have one score for all documents', is_tied.sum(), (n_by_topic > 1).sum(), expected),
        ('return themselves first', len(own), (n_by_topic > 0).sum(), drop),
    ):
        if 2 * n > n_topics and (n > 1 or len(returned) >= FEW_ROWS):
            note = Note(finding, int(n), int(n_topics), 'topics')
            run = printable(returned.source.name)
            yield DataWarning('doubtful-scores', run, note, f'; {remedy}')


def _warnings_about_topics(
    judged: Entries,
    returned: Entries,
    topic: NDArray[np.int32],
    is_missing: NDArray[np.bool_],
    policy: IdPolicy,
) -> list[DataWarning]:
    """Raise for a topic that is in one file alone, or warn of it, as the policy says."""
    run = printable(returned.source.name)
    truth = printable(judged.source.name)
    warnings: list[DataWarning] = []
    unknown = np.flatnonzero(topic < 0)
    missing = np.flatnonzero(is_missing)
    if len(unknown):
        cause = ''
        if len(unknown) == len(topic) and policy.unknown == 'error':
            cause = likely_cause(returned.topic.values, judged.topic.values)
        first = returned.topic.text(unknown[0])
        policy.refuse_unknown(returned, unknown, TOPIC, first, truth, cause)
    if len(missing):
        first = judged.topic.values[missing[0]]
        policy.refuse_missing(returned.source.name, TOPIC, first, len(missing), truth)
        treatment = 'scored as if nothing were returned' if policy.missing == 'zero' else 'left out'
        n_topics = len(judged.topic.values)
        note = Note(f'are missing, and {treatment}', len(missing), n_topics, f'topics of {truth}')
        warnings.append(DataWarning('missing-ids', run, note))
    if len(unknown):
        n_unknown = len(np.unique(returned.topic.codes[unknown]))
        n_topics = len(returned.topic.values)
        note = Note(f'are not in {truth}, and left out', n_unknown, n_topics, 'topics')
        warnings.append(DataWarning('unknown-ids', run, note))
    return warnings


def precision_terms(rows: MatchedRows, ties: TrecTies, precision: Precision) -> PrecisionTerms:
    """Return the addend of each hit, by topic and rank; with expected ties, its mean."""
    returned, topic, is_hit, n_by_topic = rows
    score = comparable_scores(returned.number, ties)
    order = None
    is_later = topic[1:] > topic[:-1]
    is_same = topic[1:] == topic[:-1]
    if not (is_later | (is_same & (score[1:] <= score[:-1]))).all():  # most runs are sorted
        order = np.lexsort((-score, topic))
        topic = topic[order]
        score = score[order]
        is_hit = is_hit[order]
    ties_with_last = np.zeros(len(topic), dtype=np.bool_)
    ties_with_last[1:] = (topic[1:] == topic[:-1]) & (score[1:] == score[:-1])
    # Rows of unjudged topics, -1, come first.
    topic_starts = len(topic) - n_by_topic[::-1].cumsum()[::-1]
    if ties in UNORDERED:
        return terms_of_blocks(topic, is_hit, ties_with_last, topic_starts, ties, precision)
    is_tied = ties_with_last.copy()
    is_tied[:-1] |= ties_with_last[1:]
    tied = is_tied.nonzero()[0]
    block = (~ties_with_last[tied]).cumsum()
    if ties in ('best', 'worst'):
        key = is_hit[tied] != (ties == 'best')
    else:
        key = descending_keys(returned.document[tied if order is None else order[tied]])
    is_hit_at_rank = is_hit.copy()
    is_hit_at_rank[tied] = is_hit[tied[np.lexsort((key, block))]]
    hits = is_hit_at_rank.nonzero()[0]
    topic = topic[hits]
    ranks = hits - topic_starts[topic] + 1
    return PrecisionTerms(topic, ranks, precision_at_hits(ranks, topic, precision))


def terms_of_blocks(
    topic: NDArray[np.int32],
    is_hit: NDArray[np.bool_],
    ties_with_last: NDArray[np.bool_],
    topic_starts: NDArray[np.int64],
    ties: TrecTies,
    precision: Precision,
) -> PrecisionTerms:
    """Return the addends of the tie blocks that hold a hit.

    With ``'expected'`` ties, each rank of a block has the mean of its addend over all orders. With
    ``'threshold'`` ties, each hit counts at the last rank of its block.

    Rows are sorted by topic and descending score; `ties_with_last` marks a row with the topic and
    score of the row before it. `topic_starts` has the first row of each topic.

    One topic whose first two documents tie, one of them a hit. It is first or second, with
    precision 1 or 1/2, each in one of the two orders:

    >>> topic, starts = np.zeros(3, dtype=np.int32), np.array([0])
    >>> columns = topic, np.array([True, False, False]), np.array([False, True, False]), starts
    >>> [column.tolist() for column in terms_of_blocks(*columns, 'expected', 'at')[1:]]
    [[1, 2], [0.5, 0.25]]
    >>> [column.tolist() for column in terms_of_blocks(*columns, 'threshold', 'at')[1:]]
    [[2], [0.5]]
    """
    starts = (~ties_with_last).nonzero()[0]
    size = np.diff(starts, append=len(is_hit))
    n_hits = np.add.reduceat(is_hit, starts, dtype=np.int64)
    has_hit = n_hits > 0
    starts = starts[has_hit]
    size = size[has_hit]
    n_hits = n_hits[has_hit]
    topic = topic[starts]
    by_topic = np.bincount(topic, weights=n_hits, minlength=len(topic_starts)).astype(np.int64)
    hits_above = (n_hits.cumsum() - n_hits) - (by_topic.cumsum() - by_topic)[topic]
    above = starts - topic_starts[topic]
    blocks = TieBlocks(size, n_hits, above, hits_above)
    if ties == 'threshold':
        values = threshold_precisions(blocks, precision)
        return PrecisionTerms(topic.repeat(n_hits), (above + size).repeat(n_hits), values)
    values = expected_precisions(blocks, precision=precision)
    return PrecisionTerms(topic.repeat(size), ranges(above + 1, size), values)

"""Plain TREC files, scored by any definition of average precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices
from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import Cutoff, Definition, Precision, depths
from mediaeval_ap.errors import ParameterError, printable, warn_caller
from mediaeval_ap.evaluation.data_warnings import without_relevant
from mediaeval_ap.metrics.ap_of_hits import PrecisionTerms, average_precision_of_terms
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.table import Names, Rows, consistent
from mediaeval_ap.trec import sampled
from mediaeval_ap.trec.entries import comparable_scores, descending_keys, is_large
from mediaeval_ap.trec.matched_run import (
    JudgedTopics,
    MatchedRows,
    MatchedRun,
    TrecSettings,
    read_qrels,
)
from mediaeval_ap.trec.matrix_scores import Matrices, evaluate_matrices, is_matrix, refuse_measures
from mediaeval_ap.trec.other_tools import file_in, refuse_part
from mediaeval_ap.trec.sorted_terms import UNORDERED, SortedRows, terms_of_sorted


def evaluate_trec(
    qrels: Rows | Mapping[str, Mapping[str, float]] | NDArray[Any] | None,
    run: Rows | Mapping[str, Mapping[str, float]] | NDArray[Any],
    K: Cutoff | Iterable[Cutoff] | None = None,
    *,
    definition: str | Definition | None = None,
    ties: choices.TrecTies = 'trec_eval',
    relevance_level: float = 1,
    missing: choices.Missing = 'error',
    unknown: choices.Unknown = 'error',
    measures: str | Iterable[str] = (),
    queries_without_relevant: choices.WithoutRelevant = 'count',
    unjudged: choices.Unjudged = 'nonrelevant',
    ignore: int | Iterable[int] = (),
    repeated: choices.Repeated = 'error',
    exclude_self: bool = False,
    query_labels: Sequence[Any] | NDArray[Any] | None = None,
    document_labels: Sequence[Any] | NDArray[Any] | None = None,
    name: str | None = None,
    part: str | None = None,
    queries: Names | None = None,
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
        documents that are pooled, but not judged. Or a matrix of shape (n_queries, n_documents),
        also sparse, of torch, or a .npy file; ids are the numbers of its rows and columns.
    run : like qrels
        The run: a file of ``qid Q0 docno rank score tag``; a table with the columns ``qid``,
        ``docno`` and ``score``, or tuples of these three; a dictionary ``{qid: {docno: score}}``;
        `ScoredDoc` of ir_measures; `Run` of ranx. A table may have names as in qrels. A file may
        also come from ranx (JSON) or sentence-transformers (`write_predictions`), or hold the
        predictions of MTEB; of these, the folder will do if it has one such file. Beside a matrix,
        scores of its shape; ``-inf`` is a document that is not returned.
    K : int, 'all' or iterable of these, optional
        The cutoffs, each once, by default 1, 10, 100 and 1000; ``'all'`` is no cutoff, as `map` of
        trec_eval. For a sample the depth of the rankings, by default 1000.
    definition : str or Definition, optional
        As for `AveragePrecision`, by default ``'trec'``; a sample takes none.
    queries_without_relevant, name
        As for `AveragePrecision` and its method `evaluate`.
    ties : {'trec_eval', 'trec_eval-9', 'expected', 'threshold', 'stable', 'best', 'worst'}
        How to break ties between equal scores. ``'trec_eval'``: documents in descending order of
        their bytes, as in trec_eval 10. ``'trec_eval-9'``: the same, but scores are compared in
        single precision, as in trec_eval 9, pytrec_eval and ir_measures; all others compare in
        double precision. ``'expected'``: the mean over all orders of ties. ``'threshold'``:
        relevant documents count at the last rank of their tie, as in scikit-learn. ``'stable'``: in
        the order of the run. ``'best'`` and ``'worst'``: relevant documents first, or last.
    relevance_level : int or float
        The least relevance at which a document is relevant. A float, such as 0.5 or 1.0, allows
        decimals in the qrels; with an int they are an error.
    missing : {'error', 'zero', 'skip'}
        Topics that the run lacks: an error, scored as if nothing were returned, or left out.
    unknown : {'error', 'drop'}
        Topics of the run that the qrels lack: an error, or left out.
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
        Documents that the run lists again for a topic: an error, or the higher score stays.
    exclude_self : bool
        Leave out documents whose id is the topic's: they leave the ranking, and are not relevant.
    query_labels, document_labels : ndarray or list, optional
        Labels, integers or text, of the rows and the columns of a matrix of scores, in place of
        qrels, which are None: a document with the label of the query is relevant. Without
        `document_labels`, the documents are the queries.
    part : str, optional
        The subset or split to score if a run of MTEB has several: ``'en/test'``, or ``'en'`` or
        ``'test'`` if only one part has this name.
    queries : str, path-like, file object, DataFrame or iterable of str, optional
        All topics. Those that the qrels lack have no relevant document; the run may lack them.

    Returns
    -------
    Evaluation
        Average precision of each topic of the qrels, or of `queries`, in their order.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, a relevance has decimals, but not the level, a topic has
        a document twice, or measures need rows that the qrels lack.
    ParameterError, MissingExtraError
        When ties are ``'expected'``, ``'best'`` or ``'worst'``, and the definition divides by hits;
        when measures or xinfAP do not have a setting; when the extra ``trec`` is not installed.
    UndefinedScoreError
        When no topic is left to score.

    Warns
    -----
    DataWarning, NoOverlapWarning, WithoutRelevantWarning
        As `AveragePrecision.evaluate`; when topics are missing or unknown, or documents repeated,
        and this is no error; when scores say little, or no row has a relevance of `ignore`; when
        infAP is measured on qrels with a relevance of -1.

    Examples
    --------
    >>> qrels = [('7', 'd1', 1), ('7', 'd2', 0), ('7', 'd3', 2)]
    >>> evaluate_trec(qrels, [('7', 'd2', 0.9), ('7', 'd1', 0.5)], 10).map.tolist()
    [0.25]
    >>> evaluate_trec({'7': {'d1': 1, 'd2': 0}}, {'7': {'d2': 0.9, 'd1': 0.5}}, 10).map.tolist()
    [0.5]
    >>> scores = np.array([[0.9, 0.1, 0.3], [0.2, 0.8, 0.1]])
    >>> evaluate_trec(np.array([[1, 0, 1], [0, 0, 1]]), scores, 10).ap.ravel().round(3).tolist()
    [1.0, 0.333]
    >>> labels = {'query_labels': ['a', 'b'], 'document_labels': ['a', 'b', 'a']}
    >>> evaluate_trec(None, scores, 10, **labels).map.tolist()
    [1.0]
    """
    policies = {
        'ties': ties,
        'relevance_level': relevance_level,
        'missing': missing,
        'unknown': unknown,
        'queries_without_relevant': queries_without_relevant,
        'unjudged': unjudged,
        'ignore': ignore,
        'repeated': repeated,
        'exclude_self': exclude_self,
    }
    settings = TrecSettings.checked(K, definition, policies)
    run_name = check_name(name)
    checked_measures = _check_measures(measures, settings)
    qrels_input = TableInput.of(qrels, 'qrels')
    run_input = TableInput.of(file_in(run), 'run')
    has_labels = query_labels is not None or document_labels is not None
    if has_labels or is_matrix(qrels_input) or is_matrix(run_input):
        refuse_part(part)
        refuse_measures(checked_measures)
        if queries is not None:
            raise ParameterError('found topics beside a matrix, expected none', 'queries')
        matrices = Matrices.of(qrels_input, run_input, query_labels, document_labels)
        evaluation = evaluate_matrices(matrices, settings, run_name)
        warn_caller(evaluation.warnings)
        return evaluation
    judged = read_qrels(qrels_input, relevance_level=settings.level, in_blocks=is_large(run_input))
    if judged.stratum is not None:
        if K is None:
            settings = settings._replace(cutoffs=[sampled.DEPTH])
        sampled.check_settings(definition, settings.cutoffs, checked_measures, settings.parameters)
    inputs = {}
    if queries is not None:
        from mediaeval_ap.evaluation.criteria import read_queries  # loads all that ranks names

        table = consistent(read_queries(queries), judged)
        judged, inputs['queries'] = judged.with_topics(table), table.source
    topics = JudgedTopics(settings, judged)
    topics.about_skipped()  # raises where nothing is relevant, before any error about the run
    about_measures = []
    if checked_measures:
        from mediaeval_ap.trec.measures import check_judged

        about_measures = check_judged(checked_measures, topics.counted)
    matched = MatchedRun.read(topics, run_input, part, in_blocks=is_large(qrels_input))
    matched.warnings[:0] = about_measures
    evaluation = score_matched(matched, checked_measures, run_name)
    evaluation = replace(evaluation, inputs={**evaluation.inputs, **inputs})
    warn_caller(evaluation.warnings)
    return evaluation


def score_matched(matched: MatchedRun, measures: Sequence[Any], name: str) -> Evaluation:
    topics, rows = matched.topics, matched.rows
    settings = topics.settings
    definition = settings.definition
    ap = average_precision_of_terms(
        precision_terms(rows, settings.ties, definition.precision),
        topics.n_relevant,
        rows.n_by_topic,
        K=depths(settings.cutoffs),
        definition=definition,
    )
    scored = matched.scored
    n_relevant = topics.n_relevant[scored]
    reference = printable(topics.judged.source.name)
    is_sample = topics.judged.stratum is not None
    values_by_measure = {}
    if measures and not is_sample:
        from mediaeval_ap.trec.measures import measures_of_files

        values_by_measure = measures_of_files(measures, matched)
    evaluation = Evaluation(
        [topics.judged.topic.values[code] for code in scored.tolist()],
        settings.cutoffs,
        ap=ap[scored],
        n_relevant=n_relevant,
        definition=definition,
        inputs={'reference': topics.judged.source, 'hypothesis': matched.returned.source},
        counts=matched.counts,
        measures=values_by_measure,
        parameters=settings.parameters,
        warnings=(
            *matched.warnings,
            *without_relevant(reference, n_relevant, definition),
            *topics.about_skipped(),
        ),
        run=name,
    )
    return sampled.with_estimates(evaluation, matched, measures) if is_sample else evaluation


def _check_measures(measures: str | Iterable[str], settings: TrecSettings) -> list[Any]:
    if not measures:
        return []
    if settings.ties in UNORDERED:
        raise ParameterError(
            f'measures: use another order of ties; with ties={settings.ties!r}, measures of '
            'ir_measures have no values'
        )
    from mediaeval_ap.trec.measures import check_columns, check_levels, parse_measures

    parsed = parse_measures(measures)
    check_columns(parsed, settings.cutoffs)
    check_levels([each for each in parsed if not sampled.is_estimate(each)], settings.level)
    return parsed


def precision_terms(
    rows: MatchedRows, ties: choices.TrecTies, precision: Precision
) -> PrecisionTerms:
    """Return the addend of each hit, by topic and rank; with expected ties, its mean."""
    returned, topic, is_hit, n_by_topic = rows
    starts = run_starts([topic])
    topics = topic[starts]
    if (topics[1:] < topics[:-1]).any() and len(np.unique(topics)) == len(topics):
        # In another order than in the qrels: fewer terms than rows are put in that order.
        sizes = np.diff(starts, append=len(topic))
        number = np.arange(len(sizes), dtype=np.int32).repeat(sizes)
        renumbered = MatchedRows(returned, number, is_hit, sizes)
        rankings, ranks, values = precision_terms(renumbered, ties, precision)
        rankings = topics[rankings]
        by_topic = rankings.argsort(kind='stable')
        return PrecisionTerms(rankings[by_topic], ranks[by_topic], values[by_topic])
    score = comparable_scores(returned.number, ties)
    order = None
    is_later = topic[1:] > topic[:-1]
    is_same = topic[1:] == topic[:-1]
    if not (is_later | (is_same & (score[1:] <= score[:-1]))).all():  # most runs are sorted
        order = (-score).argsort()
        # Integers of 16 bits, which are enough for most qrels, are sorted in linear time.
        number = (topic[order] + 1).astype(np.min_scalar_type(len(n_by_topic)))
        order = order[number.argsort(kind='stable')]
        topic = topic[order]
        score = score[order]
        is_hit = is_hit[order]

    def tie_keys(tied: NDArray[np.int64]) -> NDArray[np.int64]:
        tied_rows = tied if order is None else order[tied]
        return tied_rows if ties == 'stable' else descending_keys(returned.document[tied_rows])

    ranked = SortedRows(topic, score, is_hit, n_by_topic)
    return terms_of_sorted(ranked, ties, precision, tie_keys)

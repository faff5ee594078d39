"""Measures of ir_measures for the topics of a campaign's run, and for files of TREC."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import Floats
from mediaeval_ap.choices import LARGEST_TREC_DEPTH, TREC_DEPTH, plain_text
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import DataWarning, ParameterError, printable, require, shown
from mediaeval_ap.evaluation.prepared_run import PreparedRun
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.trec.entries import Entries, comparable_scores, descending_keys
from mediaeval_ap.trec.matched_run import MatchedRun
from mediaeval_ap.trec.sampled import is_estimate, refuse_estimates
from mediaeval_ap.trec.topics import as_word
from mediaeval_ap.trec.topics import topics as ranked_topics

if TYPE_CHECKING:
    import ir_measures

Measure: TypeAlias = 'ir_measures.measures.Measure'
# trec_eval's time grows with the square of the largest relevance; far beyond, it ends the process,
# or mistakes one relevance for another.
LARGEST_MEASURED_RELEVANCE = 1000

# White space or commas, but not between parentheses.
_split_names = re.compile(r'[\s,]+(?![^()]*\))').split


def parse_measures(measures: str | Iterable[str]) -> list[Measure]:
    """Return measures of ir_measures by their names, such as ``'nDCG@10 P@5,RR'``.

    Those of a sample stay names.
    """
    if isinstance(measures, str):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise ParameterError(f'found {shown(measures)}, expected names such as nDCG@10', 'measures')
    names: list[str | Measure] = []
    for name_or_measure in measures:
        text = plain_text(name_or_measure)
        names += [name_or_measure] if text is None else filter(None, _split_names(text))
    if not names:
        raise ParameterError("found none, expected names such as 'nDCG@10 P@5 RR'", 'measures')
    return list(dict.fromkeys(map(_checked_measure, names)))


def check_columns(measures: Sequence[Measure], K: Sequence[Cutoff]) -> None:
    """Refuse a measure that has the name of a column of average precision."""
    columns = set(map(ap_column, K))
    if clashing := [str(measure) for measure in measures if str(measure) in columns]:
        raise ParameterError(
            f'found {clashing[0]}, which is already a column of the definition; AP of '
            'ir_measures is the definition trec',
            'measures',
        )


def _checked_measure(name: str | Measure) -> Measure:
    """Parse a measure; raise ParameterError if tools behind ir_measures could not compute it."""
    if is_estimate(name):
        return str(name)
    require('ir_measures', 'trec', 'measures')

    def wrong(expected: str) -> ParameterError:
        return ParameterError(f'found {shown(name)}, expected {expected}', 'measures')

    try:
        measure = _parse_measure(name)
    except MemoryError:
        raise
    except Exception as error:  # ir_measures raises any type for a mistyped name
        raise wrong(f'a measure of ir_measures, such as {_similar_measure(str(name))}') from error
    if measure.params.keys() - measure.SUPPORTED_PARAMS.keys():
        raise wrong(f'only these parameters: {", ".join(measure.SUPPORTED_PARAMS) or "none"}')
    for parameter, info in measure.SUPPORTED_PARAMS.items():
        if info.required and parameter not in measure.params:
            raise wrong(f'its {parameter} as well')
    cutoff = measure.params.get('cutoff', 1)
    # A lower one would end the process, and the tools mistake one beyond 2**31 for another.
    is_integer = isinstance(cutoff, int) and not isinstance(cutoff, bool)
    if not is_integer or not 0 < cutoff <= LARGEST_TREC_DEPTH:
        raise wrong(f'a cutoff from 1 to {LARGEST_TREC_DEPTH}')
    rel = measure.params.get('rel', 1)
    if not isinstance(rel, int) or abs(rel) > LARGEST_MEASURED_RELEVANCE:
        raise wrong(f'an integer of at most {LARGEST_MEASURED_RELEVANCE} as its rel')
    return measure


def _similar_measure(name: str) -> str:
    """Suggest a measure for a name in other letters, or of trec_eval."""
    import ir_measures

    family, separator, cutoff = name.partition('@')
    registry = ir_measures.measures.registry
    names = {alias.casefold(): measure.NAME for alias, measure in registry.items()}
    names |= {'map': 'AP', 'mrr': 'RR', 'recip_rank': 'RR', 'recall': 'R', 'precision': 'P'}
    similar = names.get(family.casefold())
    return f'{similar}{separator}{cutoff}' if similar not in (None, family) else 'nDCG@10'


def _parse_measure(name: str | Measure) -> Measure:
    """Return the measure of a name such as ``AP(rel=2)@10``; a measure stays the same."""
    # parse_measure of ir_measures does this, but needs node types that Python 3.14 no longer has.
    import ir_measures

    if isinstance(name, ir_measures.Measure):
        return name
    node = ast.parse(name, mode='eval').body
    parameters: dict[Any, Any] = {}
    cutoff = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff = node.right
        node = node.left
    if isinstance(node, ast.Call):
        if node.args:
            raise TypeError('expected parameters with their names')
        parameters = {keyword.arg: _constant(keyword.value) for keyword in node.keywords}
        node = node.func
    measure = ir_measures.measures.registry[ast.unparse(node)]
    if cutoff is not None:
        parameters[measure.AT_PARAM] = _constant(cutoff)
    return measure(**parameters)


def _constant(node: ast.expr | None) -> Any:
    """Return a constant, or a dictionary of constants."""
    if isinstance(node, ast.Dict):
        return dict(zip(map(_constant, node.keys), map(_constant, node.values), strict=True))
    if not isinstance(node, ast.Constant):
        raise TypeError('expected a constant')
    return node.value


def check_levels(measures: Sequence[Measure], relevance_level: float) -> None:
    """Refuse a measure that uses its default level of relevance, 1, beside another level."""
    for measure in measures:
        rel = measure.SUPPORTED_PARAMS.get('rel')
        is_default = rel is not None and rel.default == 1 and 'rel' not in measure.params
        if is_default and relevance_level != 1:
            raise ParameterError(
                f'found {measure}, which has the level 1, beside relevance_level '
                f'{relevance_level}, expected its rel as well, such as P(rel=2)@5',
                'measures',
            )


def needs_nonrelevant(measure: Measure) -> bool:
    """Return True if a measure changes when unjudged documents are judged not relevant."""
    uses_judged = measure.NAME in {'Bpref', 'Judged', 'infAP'}
    return uses_judged or measure.params.get('judged_only') is True or counts_nonrelevant(measure)


def counts_nonrelevant(measure: Measure) -> bool:
    """Return True if documents that are judged not relevant count as relevant ones do."""
    parameters = measure.params
    gains = measure.params.get('gains') or {}
    return (
        parameters.get('rel', 1) <= 0
        or parameters.get('min_rel', 0) < 0
        or any(gain and level <= 0 for level, gain in gains.items())
    )


def refuse_nonrelevant(measures: Sequence[Measure]) -> None:
    """Refuse measures that need documents judged not relevant; a reference of names has none."""
    for measure in filter(needs_nonrelevant, measures):
        raise ParameterError(
            f'found {measure}, which needs documents that are judged not relevant, but a '
            'reference has only relevant shots; give the judged ones by --judged FILE, in Python '
            'judged=…, or choose another measure',
            'measures',
        )


def check_judged(measures: Sequence[Measure], judged: Entries) -> list[DataWarning]:
    """Refuse measures that need other judgements than the qrels have, or warn of them."""
    if judged.stratum is not None:
        return []
    refuse_estimates(measures)
    for measure in filter(needs_nonrelevant, measures):
        level = max(1, measure.params.get('rel', 1))
        judged.expect_nonrelevant(level, f'for {measure}; or leave it out')
    if not (judged.number == -1).any() or all(measure.NAME != 'infAP' for measure in measures):
        return []
    finding = 'infAP takes the judged documents as one uniform sample of the pool'
    remedy = '; if they are a sample by strata, give the qrels with five fields for xinfAP'
    return [DataWarning('one-sample', printable(judged.source.name), finding, remedy)]


def with_measures(evaluation: Evaluation, run: PreparedRun, names: Sequence[str]) -> Evaluation:
    """Add measures to the evaluation of a run; a topic without judgements has NaN."""
    import ir_measures

    measures = parse_measures(names)
    # Some measures look below their own cutoff.
    depth = max(TREC_DEPTH, *(int(measure.params.get('cutoff', 0)) for measure in measures))
    with_all_judged = any(map(counts_nonrelevant, measures))
    topics = ranked_topics(run, evaluation.queries, depth, with_all_judged=with_all_judged)
    # A topic's id is its number, as every tool behind ir_measures takes numbers.
    qrels = [
        ir_measures.Qrel(str(row), document, relevance)
        for row, topic in enumerate(topics)
        for relevance, documents in ((1, topic.relevant), (0, topic.nonrelevant))
        for document in documents
    ]
    returned = [
        ir_measures.ScoredDoc(str(row), document, float(len(topic.returned) - rank))
        for row, topic in enumerate(topics)
        for rank, document in enumerate(topic.returned)
    ]
    defaults = np.zeros(len(topics))  # ir_measures leaves out some values, which are 0
    defaults[[not (topic.relevant or topic.nonrelevant) for topic in topics]] = np.nan
    values_by_measure = _values_by_measure(measures, qrels, returned, defaults)
    row_by_query = {topic.query: row for row, topic in enumerate(topics)}
    rows = [row_by_query[query] for query in evaluation.queries]
    selected = {name: values[rows] for name, values in values_by_measure.items()}
    return replace(evaluation, measures=selected)


def measures_of_files(measures: Sequence[Measure], matched: MatchedRun) -> dict[str, Floats]:
    """Compute measures for the scored topics."""
    import ir_measures

    judged, ties = matched.topics.counted, matched.topics.settings.ties
    returned, topic, *_ = matched.rows
    scored = matched.scored
    rows = np.flatnonzero(np.isin(judged.topic.codes, scored))
    _refuse_relevance(judged, rows)
    judgements = zip(judged.topic.codes[rows].tolist(), judged.documents(rows), strict=True)
    relevance = dict(zip(judgements, judged.number[rows].astype(int).tolist(), strict=True))
    qrels = [
        ir_measures.Qrel(str(code), as_word(document), number)
        for (code, document), number in relevance.items()
    ]
    rows = np.flatnonzero(np.isin(topic, scored))
    topic_by_row = topic[rows]
    returned_documents = returned.documents(rows)
    unjudged_grade = -LARGEST_MEASURED_RELEVANCE - 1
    pairs = zip(topic_by_row.tolist(), returned_documents, strict=True)
    grades = np.array([relevance.get(pair, unjudged_grade) for pair in pairs], dtype=np.int64)
    # Among equal scores, the documents of equal relevance are in descending order.
    sign = {'best': -1, 'worst': 1}.get(ties, 0)
    document_keys = rows if ties == 'stable' else descending_keys(returned.document[rows])
    score = comparable_scores(returned.number[rows], ties)
    order = np.lexsort((document_keys, sign * grades, -score, topic_by_row))
    run = []
    for code, group in groupby(order.tolist(), topic_by_row.tolist().__getitem__):
        ranked_rows = list(group)
        if len(ranked_rows) > LARGEST_TREC_DEPTH:
            topic_id = shown(judged.topic.values[code])
            raise ParameterError(
                f'found {len(ranked_rows)} documents for topic {topic_id}, expected at most '
                f'{LARGEST_TREC_DEPTH}',
                'measures',
            )
        run += [
            ir_measures.ScoredDoc(str(code), as_word(returned_documents[row]), float(score))
            for score, row in zip(range(len(ranked_rows), 0, -1), ranked_rows, strict=True)
        ]
    defaults = np.zeros(len(judged.topic.values))
    values_by_measure = _values_by_measure(measures, qrels, run, defaults)
    return {name: values[scored] for name, values in values_by_measure.items()}


def _refuse_relevance(judged: Entries, rows: NDArray[np.int64]) -> None:
    """Refuse relevance that tools behind ir_measures could not take."""
    largest = np.full(len(judged.topic.values), -np.inf)
    np.maximum.at(largest, judged.topic.codes[rows], judged.number[rows])
    # pytrec_eval counts in an array as long as the largest. Below 0 it writes outside of it, which
    # may end the process.
    below = rows[largest[judged.topic.codes[rows]] < 0]
    if len(below):
        actual = f'none from 0 for topic {shown(judged.topic.text(below[0]))}'
        expected = 'at least one, for measures of ir_measures'
        raise judged.error(below[:1], 'relevance', actual, expected)
    fractions = rows[judged.number[rows] != np.trunc(judged.number[rows])]
    if len(fractions):
        actual = f'{judged.number[fractions[0]]}'
        expected = 'integers: measures of ir_measures take no decimals'
        raise judged.error(fractions, 'relevance', actual, expected)
    large = rows[np.abs(judged.number[rows]) > LARGEST_MEASURED_RELEVANCE]
    if len(large):
        actual = str(int(judged.number[large[0]]))
        limit = LARGEST_MEASURED_RELEVANCE
        expected = f'-{limit} to {limit} for measures of ir_measures'
        raise judged.error(large, 'relevance', actual, expected)


def _values_by_measure(
    measures: Sequence[Measure], qrels: Sequence[object], run: Sequence[object], defaults: Floats
) -> dict[str, Floats]:
    """Compute measures by ir_measures; a topic's id is its number among the defaults."""
    import ir_measures

    values_by_measure = {str(measure): defaults.copy() for measure in measures}
    try:
        for value in ir_measures.iter_calc(measures, qrels, run):
            values_by_measure[str(value.measure)][int(value.query_id)] = value.value
    except MemoryError:
        raise
    except Exception as error:  # each tool behind it raises its own
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ParameterError(f'ir_measures cannot compute this: {reason}', 'measures') from error
    return values_by_measure

"""Measures of ir_measures for a run of a campaign as TREC sees it, and for files of TREC."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import LARGEST_TREC_DEPTH, TREC_DEPTH, TrecTies, plain_text
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import ParameterError, require, shown
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.trec.entries import Entries, compared, descending
from mediaeval_ap.trec.topics import Topic, as_word

# trec_eval's time grows with the square of the largest relevance; far beyond, it ends the process,
# or takes one for another.
LARGEST_MEASURED_RELEVANCE = 1000

# White space or commas, unless parentheses are around them.
_split = re.compile(r'[\s,]+(?![^()]*\))').split


def parse_measures(measures: str | Iterable[str]) -> list[Any]:
    """Return measures of ir_measures by their names, such as ``'nDCG@10 P@5,RR'``."""
    require('ir_measures', 'trec', 'measures')
    given = [measures] if isinstance(measures, str) else measures
    if not isinstance(given, Iterable):
        raise ParameterError(f'measures: found {shown(measures)}, expected names as nDCG@10')
    names: list[Any] = []
    for each in given:
        text = plain_text(each)
        names += [each] if text is None else filter(None, _split(text))
    if not names:
        raise ParameterError("measures: found none, expected names as 'nDCG@10 P@5 RR'")
    return list(dict.fromkeys(map(_parsed, names)))


def check_columns(measures: Sequence[Any], K: Sequence[Cutoff]) -> None:
    """Refuse a measure that is named as a column of average precision beside it."""
    taken = set(map(ap_column, K))
    if clashing := [str(each) for each in measures if str(each) in taken]:
        raise ParameterError(
            f'measures: found {clashing[0]}, which is a column of the definition already; it is '
            'the definition trec'
        )


def depth_of(measures: Sequence[Any]) -> int:
    """Return how many documents measures need: some look below their own cutoff."""
    return max(TREC_DEPTH, *(int(each.params.get('cutoff', 0)) for each in measures))


def _parsed(name: Any) -> Any:
    def wrong(expected: str) -> ParameterError:
        return ParameterError(f'measures: found {shown(name)}, expected {expected}')

    try:
        parsed = _read_measure(name)
    except MemoryError:
        raise
    except Exception as error:  # whatever the other library makes of what somebody typed
        raise wrong('a measure of ir_measures, as nDCG@10') from error
    if parsed.params.keys() - parsed.SUPPORTED_PARAMS.keys():
        raise wrong(f'none but these parameters: {", ".join(parsed.SUPPORTED_PARAMS) or "none"}')
    for parameter, info in parsed.SUPPORTED_PARAMS.items():
        if info.required and parameter not in parsed.params:
            raise wrong(f'its {parameter} as well')
    cutoff = parsed.params.get('cutoff', 1)
    # One below would end the process, and tools behind it take one beyond 2**31 for another.
    is_integer = isinstance(cutoff, int) and not isinstance(cutoff, bool)
    if not is_integer or not 0 < cutoff <= LARGEST_TREC_DEPTH:
        raise wrong(f'a cutoff from 1 to {LARGEST_TREC_DEPTH}')
    rel = parsed.params.get('rel', 1)
    if not isinstance(rel, int) or abs(rel) > LARGEST_MEASURED_RELEVANCE:
        raise wrong(f'an integer of at most {LARGEST_MEASURED_RELEVANCE} as its rel')
    return parsed


def _read_measure(name: Any) -> Any:
    """Return a measure by a name as ``AP(rel=2)@10``, or as it is."""
    # parse_measure of ir_measures does this, but needs node types that Python 3.14 no longer has.
    import ir_measures

    if isinstance(name, ir_measures.Measure):
        return name
    node = ast.parse(name, mode='eval').body
    parameters: dict[Any, Any] = {}
    at = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        at = node.right
        node = node.left
    if isinstance(node, ast.Call):
        if node.args:
            raise TypeError('expected parameters with their names')
        parameters = {each.arg: _value(each.value) for each in node.keywords}
        node = node.func
    measure = ir_measures.measures.registry[ast.unparse(node)]
    if at is not None:
        parameters[measure.AT_PARAM] = _value(at)
    return measure(**parameters)


def _value(node: ast.expr | None) -> Any:
    """Return a constant, or a dictionary of constants."""
    if isinstance(node, ast.Dict):
        return dict(zip(map(_value, node.keys), map(_value, node.values), strict=True))
    if not isinstance(node, ast.Constant):
        raise TypeError('expected a constant')
    return node.value


def check_levels(measures: Sequence[Any], relevance_level: int) -> None:
    """Refuse a measure whose level of relevance is 1 by default where another one is asked for."""
    for each in measures if relevance_level != 1 else ():
        rel = each.SUPPORTED_PARAMS.get('rel')
        if rel is not None and rel.default == 1 and 'rel' not in each.params:
            raise ParameterError(
                f'measures: found {each}, which has the level 1, beside relevance_level '
                f'{relevance_level}, expected its rel as well, such as P(rel=2)@5'
            )


def needs_nonrelevant(measure: Any) -> bool:
    """Return whether a measure changes if unjudged documents are judged not relevant."""
    is_of_judged = measure.NAME in {'Bpref', 'Judged', 'infAP'}
    return is_of_judged or measure.params.get('judged_only') is True or counts_nonrelevant(measure)


def counts_nonrelevant(measure: Any) -> bool:
    """Return whether documents that are judged not relevant count as others do that are."""
    parameters = measure.params
    gains = measure.params.get('gains') or {}
    return (
        parameters.get('rel', 1) <= 0
        or parameters.get('min_rel', 0) < 0
        or any(gain and level <= 0 for level, gain in gains.items())
    )


def refuse_nonrelevant(measures: Sequence[Any]) -> None:
    """Refuse measures that need judgements which a reference of names does not have."""
    for each in filter(needs_nonrelevant, measures):
        raise ParameterError(
            f'measures: found {each}, which needs documents that are judged not relevant, and a '
            'reference has relevant shots alone; expected what was judged, by --judged FILE, in '
            'Python judged=…, or another measure'
        )


def check_judged(measures: Sequence[Any], judged: Entries) -> None:
    """Refuse measures that need documents judged not relevant if the qrels have none."""
    for each in filter(needs_nonrelevant, measures):
        level = max(1, each.params.get('rel', 1))
        judged.expect_nonrelevant(level, f'for {each}; or leave it out')


def with_measures(
    evaluation: Evaluation, topics: Sequence[Topic], measures: Sequence[Any]
) -> Evaluation:
    """Return an evaluation with measures of its topics beside average precision.

    A value is not a number where nothing is relevant, and 0 where ir_measures gives none.
    """
    import ir_measures

    # Topics are their numbers here, which every tool behind ir_measures takes.
    qrels = [
        ir_measures.Qrel(str(row), document, relevance)
        for row, topic in enumerate(topics)
        for relevance, documents in ((1, topic.relevant), (0, topic.nonrelevant))
        for document in documents
    ]
    run = [
        ir_measures.ScoredDoc(str(row), document, float(len(topic.returned) - rank))
        for row, topic in enumerate(topics)
        for rank, document in enumerate(topic.returned)
    ]
    is_judged = [topic.relevant or topic.nonrelevant for topic in topics]
    nothing = np.array([0.0 if judged else np.nan for judged in is_judged])
    values = _values(measures, qrels, run, nothing)
    row_of = {topic.query: row for row, topic in enumerate(topics)}
    rows = [row_of[query] for query in evaluation.queries]
    return replace(evaluation, measures={name: each[rows] for name, each in values.items()})


def measures_of_files(
    measures: Sequence[Any],
    judged: Entries,
    returned: Entries,
    topic: NDArray[np.int32],
    kept: NDArray[np.int64],
    ties: TrecTies,
) -> dict[str, NDArray[np.float64]]:
    """Return measures of the judged topics that are kept; `topic` is that of each returned row."""
    import ir_measures

    rows = np.flatnonzero(np.isin(judged.topic.codes, kept))
    _refuse_relevance(judged, rows)
    judgements = zip(judged.topic.codes[rows].tolist(), judged.documents(rows), strict=True)
    relevance = dict(zip(judgements, judged.number[rows].astype(int).tolist(), strict=True))
    qrels = [
        ir_measures.Qrel(str(code), as_word(document), number)
        for (code, document), number in relevance.items()
    ]
    rows = np.flatnonzero(np.isin(topic, kept))
    of_row = topic[rows]
    returned_documents = returned.documents(rows)
    lowest = -LARGEST_MEASURED_RELEVANCE - 1  # of what is not judged
    pairs = zip(of_row.tolist(), returned_documents, strict=True)
    grades = np.array([relevance.get(pair, lowest) for pair in pairs], dtype=np.int64)
    # Among equal scores, the documents of equal relevance are in descending order.
    sign = {'best': -1, 'worst': 1}.get(ties, 0)
    within = descending(returned.document[rows])
    score = compared(returned.number[rows], ties)
    order = np.lexsort((within, sign * grades, -score, of_row))
    run = []
    for code, places in groupby(order.tolist(), of_row.tolist().__getitem__):
        ranking = list(places)
        if len(ranking) > LARGEST_TREC_DEPTH:
            found = f'{len(ranking)} documents for topic {shown(judged.topic.values[code])}'
            raise ParameterError(f'measures: found {found}, expected at most {LARGEST_TREC_DEPTH}')
        run += [
            ir_measures.ScoredDoc(str(code), as_word(returned_documents[place]), float(score))
            for score, place in zip(range(len(ranking), 0, -1), ranking, strict=True)
        ]
    values = _values(measures, qrels, run, np.zeros(len(judged.topic.values)))
    return {name: each[kept] for name, each in values.items()}


def _refuse_relevance(judged: Entries, rows: NDArray[np.int64]) -> None:
    """Refuse relevance that tools behind ir_measures could not take."""
    largest = np.full(len(judged.topic.values), -np.inf)
    np.maximum.at(largest, judged.topic.codes[rows], judged.number[rows])
    # pytrec_eval counts in an array of as many as the largest, which may end the process.
    below = rows[largest[judged.topic.codes[rows]] < 0]
    if len(below):
        found = f'none from 0 for topic {shown(judged.topic.text(below[0]))}'
        expected = 'at least one, for measures of ir_measures'
        raise judged.error(below[:1], 'relevance', found, expected)
    large = rows[np.abs(judged.number[rows]) > LARGEST_MEASURED_RELEVANCE]
    if len(large):
        found = str(int(judged.number[large[0]]))
        expected = f'at most {LARGEST_MEASURED_RELEVANCE} up or down, for measures of ir_measures'
        raise judged.error(large, 'relevance', found, expected)


def _values(
    measures: Sequence[Any], qrels: list[Any], run: list[Any], by_default: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return what ir_measures computes for topics that are numbers, by the names of measures."""
    import ir_measures

    values = {str(each): by_default.copy() for each in measures}
    try:
        for value in ir_measures.iter_calc(measures, qrels, run):
            values[str(value.measure)][int(value.query_id)] = value.value
    except MemoryError:
        raise
    except Exception as error:  # of any of the tools behind it
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise ParameterError(f'measures: ir_measures cannot compute this: {reason}') from error
    return values

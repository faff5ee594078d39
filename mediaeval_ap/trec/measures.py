"""Measures of ir_measures for a run of a campaign as TREC sees it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mediaeval_ap.choices import LARGEST_TREC_DEPTH, TREC_DEPTH
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import MissingExtraError, ParameterError, shown
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.trec.export import Topic


def parse_measures(measures: str | Iterable[str]) -> list[Any]:
    """Return measures of ir_measures by their names, as ``'nDCG@10 P@5 RR'``."""
    try:
        import ir_measures  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "measures: ir_measures is not installed; pip install 'mediaeval-ap[trec]'"
        ) from error
    text = plain_text(measures)
    names = measures if text is None else text.split()
    if not isinstance(names, Iterable):
        raise ParameterError(f'measures: found {shown(measures)}, expected names as nDCG@10')
    parsed = dict.fromkeys(map(_parsed, names))
    if not parsed:
        raise ParameterError("measures: found none, expected names as 'nDCG@10 P@5 RR'")
    return list(parsed)


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
        parsed = _read_measure(plain_text(name) or name)
    except MemoryError:
        raise
    except Exception as error:  # whatever the other library makes of what somebody typed
        raise wrong('a measure of ir_measures, as nDCG@10') from error
    for parameter, info in parsed.SUPPORTED_PARAMS.items():
        if info.required and parameter not in parsed.params:
            raise wrong(f'its {parameter} as well')
    cutoff = parsed.params.get('cutoff', 1)
    # One below would end the process, and tools behind it take one beyond 2**31 for another.
    is_integer = isinstance(cutoff, int) and not isinstance(cutoff, bool)
    if not is_integer or not 0 < cutoff <= LARGEST_TREC_DEPTH:
        raise wrong(f'a cutoff from 1 to {LARGEST_TREC_DEPTH}')
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


def with_measures(
    evaluation: Evaluation, topics: Sequence[Topic], measures: Sequence[Any]
) -> Evaluation:
    """Return an evaluation with measures of its topics beside average precision.

    A value is not a number where nothing is relevant, and 0 where ir_measures gives none.
    """
    import ir_measures

    # Topics are their numbers here, which every tool behind ir_measures takes.
    qrels = [
        ir_measures.Qrel(str(row), document, 1)
        for row, topic in enumerate(topics)
        for document in topic.relevant
    ]
    run = [
        ir_measures.ScoredDoc(str(row), document, float(len(topic.returned) - rank))
        for row, topic in enumerate(topics)
        for rank, document in enumerate(topic.returned)
    ]
    nothing = [0.0 if topic.relevant else np.nan for topic in topics]
    values = {str(each): np.array(nothing) for each in measures}
    try:
        for value in ir_measures.iter_calc(measures, qrels, run):
            values[str(value.measure)][int(value.query_id)] = value.value
    except MemoryError:
        raise
    except Exception as error:  # of any of the tools behind it
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ParameterError(f'measures: ir_measures cannot compute this: {reason}') from error
    row_of = {topic.query: row for row, topic in enumerate(topics)}
    rows = [row_of[query] for query in evaluation.queries]
    return replace(evaluation, measures={name: each[rows] for name, each in values.items()})

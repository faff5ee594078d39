"""Measures of ir_measures, on a run of a campaign as TREC sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.choices import LARGEST_TREC_DEPTH, TREC_DEPTH
from mediaeval_ap.definitions import Cutoff, ap_column
from mediaeval_ap.errors import MissingExtraError, ParameterError, shown
from mediaeval_ap.plain_text import plain_text
from mediaeval_ap.results import Evaluation
from mediaeval_ap.trec.export import Topic

__all__ = ['check_columns', 'depth_of', 'measure', 'parse_measures', 'with_measures']


def parse_measures(measures: str | Iterable[str]) -> list[Any]:
    """Measures by their names.

    Parameters
    ----------
    measures : str or iterable of str
        As ``'nDCG@10 P@5 RR'``; what stands in parentheses has no space.

    Returns
    -------
    list of ir_measures.Measure
        One for each name.

    Raises
    ------
    MissingExtraError
        When ir_measures is not installed: it comes with the extra ``trec``.
    ParameterError
        When there is no such measure, it lacks a parameter, its cutoff is not one from 1 to 2**24,
        or none is named.

    Examples
    --------
    >>> [str(measure) for measure in parse_measures('nDCG@10 P@5')]
    ['nDCG@10', 'P@5']
    """
    try:
        import ir_measures
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "measures: ir_measures is not installed; pip install 'mediaeval-ap[trec]'"
        ) from error
    text = plain_text(measures)
    names = measures if text is None else text.split()
    if not isinstance(names, Iterable):
        raise ParameterError(f'measures: found {shown(measures)}, expected names as nDCG@10')
    parsed = dict.fromkeys(_parsed(name, ir_measures.parse_measure) for name in names)
    if not parsed:
        raise ParameterError("measures: found none, expected names as 'nDCG@10 P@5 RR'")
    return list(parsed)


def check_columns(measures: Sequence[Any], K: Sequence[Cutoff]) -> None:
    """Refuse a measure that is called as one of the average precisions beside it.

    Parameters
    ----------
    measures : sequence of ir_measures.Measure
        What is asked for.
    K : sequence of int or 'all'
        The cutoffs of average precision.

    Raises
    ------
    ParameterError
        When there would be two columns of one name, and perhaps of two values.

    Examples
    --------
    >>> check_columns(parse_measures('AP@5'), [10])
    """
    taken = set(map(ap_column, K))
    if clashing := [str(each) for each in measures if str(each) in taken]:
        raise ParameterError(
            f'measures: found {clashing[0]}, which is a column of the definition already; it is '
            'the definition trec'
        )


def depth_of(measures: Sequence[Any]) -> int:
    """How long a ranking is that measures see: some look at what is below their cutoff, too.

    Parameters
    ----------
    measures : sequence of ir_measures.Measure
        What is asked for.

    Returns
    -------
    int
        `TREC_DEPTH`, or the largest cutoff that is larger.

    Examples
    --------
    >>> depth_of(parse_measures('P@20')), depth_of(parse_measures('RR P@3000'))
    (1000, 3000)
    """
    return max(TREC_DEPTH, *(int(each.params.get('cutoff', 0)) for each in measures))


def _parsed(name: str, parse: Callable[[str], Any]) -> Any:
    expected = 'a measure of ir_measures, as nDCG@10'
    try:
        parsed = parse(plain_text(name) or name)
    except MemoryError:
        raise
    except Exception as error:  # whatever the other library makes of what somebody typed
        raise ParameterError(f'measures: found {shown(name)}, expected {expected}') from error
    for parameter, info in parsed.SUPPORTED_PARAMS.items():
        if info.required and parameter not in parsed.params:
            raise ParameterError(f'measures: found {shown(name)}, expected its {parameter} as well')
    cutoff = parsed.params.get('cutoff', 1)
    # One below would end the process, and tools behind it take one beyond 2**31 for another.
    is_integer = isinstance(cutoff, int) and not isinstance(cutoff, bool)
    if not is_integer or not 0 < cutoff <= LARGEST_TREC_DEPTH:
        expected = f'a cutoff from 1 to {LARGEST_TREC_DEPTH}'
        raise ParameterError(f'measures: found {shown(name)}, expected {expected}')
    return parsed


def measure(topics: Sequence[Topic], measures: Sequence[Any]) -> dict[str, NDArray[np.float64]]:
    """Measure some topics.

    Parameters
    ----------
    topics : sequence of Topic
        Each once.
    measures : sequence of ir_measures.Measure
        What to measure.

    Returns
    -------
    dict of str to ndarray of float64, shape (n_topics,)
        By name of the measure, a value for each topic; not a number where nothing is relevant, and
        0 where something is that ir_measures says nothing of.

    Raises
    ------
    ParameterError
        When ir_measures cannot compute one, as without a tool that it needs for it.

    Examples
    --------
    >>> topics = [Topic('ann', ['x/v/1'], ['x/v/2', 'x/v/1']), Topic('bob', [], ['x/v/1'])]
    >>> measure(topics, parse_measures('RR'))
    {'RR': array([0.5, nan])}
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
    return values


def with_measures(
    evaluation: Evaluation, topics: Sequence[Topic], measures: Sequence[Any]
) -> Evaluation:
    """An evaluation with other measures beside average precision.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluation.
    topics : sequence of Topic
        Its queries, each once.
    measures : sequence of ir_measures.Measure
        What to measure.

    Returns
    -------
    Evaluation
        The same with the values of the measures.

    Raises
    ------
    ParameterError
        As of `measure`.

    Examples
    --------
    >>> from mediaeval_ap import AveragePrecision
    >>> average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[10])
    >>> evaluation = average_precision.evaluate([('x', 'v', '1', 'ann', 0.5)])
    >>> topics = [Topic('ann', ['x/v/1'], ['x/v/1'])]
    >>> with_measures(evaluation, topics, parse_measures('P@2')).measures
    {'P@2': array([0.5])}
    """
    values = measure(topics, measures)
    row_of = {topic.query: row for row, topic in enumerate(topics)}
    rows = [row_of[query] for query in evaluation.queries]
    return replace(evaluation, measures={name: each[rows] for name, each in values.items()})

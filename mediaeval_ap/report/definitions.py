"""The definitions of average precision as text."""

from __future__ import annotations

from collections.abc import Callable

from mediaeval_ap import definitions
from mediaeval_ap.report.grids import json_document, renderer

__all__ = ['DEFINITION_FORMATS', 'render_definitions']

LEGEND = """\
R  relevant shots          P(i)  precision at rank i
k  the cutoff              h(i)  1 where rank i is relevant, 0 elsewhere
N  returned hypotheses     S(k)  sum of P(i)·h(i) for i = 1 … min(k, N)
H  hits in the top k

Nothing returned and R > 0: 0, everywhere.
"""


def render_definitions(format: str = 'text') -> str:
    r"""The registered definitions as text.

    Parameters
    ----------
    format : {'text', 'json'}
        For eyes, or for programs.

    Returns
    -------
    str
        Lines, each with its end.

    Raises
    ------
    ParameterError
        When there is no such format.

    Examples
    --------
    >>> print(render_definitions().split('\n\n')[-1])
    hits
        AP@k            S(k) / H
        R = 0           0
        repeated shots  not relevant, keeps its rank
        source          torchmetrics retrieval_average_precision, top_k
    <BLANKLINE>
    """
    return renderer(_RENDERERS, format)()


def _text() -> str:
    blocks = [
        f'{definition}{" (default)" if definition.name == definitions.DEFAULT else ""}\n'
        f'    AP@k            {definition.formula}\n'
        f'    R = 0           {definition.without_relevant:g}\n'
        f'    repeated shots  {definition.repeats.value}\n'
        f'    source          {definition.source}\n'
        for definition in definitions.registered()
    ]
    return '\n'.join([LEGEND, *blocks])


def _json() -> str:
    return json_document([definition.to_dict() for definition in definitions.registered()])


_RENDERERS: dict[str, Callable[[], str]] = {'text': _text, 'json': _json}
DEFINITION_FORMATS = tuple(_RENDERERS)

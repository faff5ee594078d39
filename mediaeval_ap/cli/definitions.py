"""The command ``definitions``, which prints every definition of average precision."""

from __future__ import annotations

from collections.abc import Iterator

from mediaeval_ap import definitions
from mediaeval_ap.cli import options
from mediaeval_ap.cli.errors import main
from mediaeval_ap.cli.output import STANDARD_STREAM, write_document
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import TEXT_FORMATS

LEGEND = """\
R  relevant shots          P(i)  precision at rank i
k  the cutoff              h(i)  1 where rank i is relevant, 0 elsewhere
N  returned hypotheses     S(k)  sum of P(i)·h(i) for i = 1 … min(k, N)
H  hits in the top k

Nothing returned and R > 0: 0, everywhere.
"""


def _blocks() -> Iterator[str]:
    yield LEGEND
    for definition in definitions.registered():
        default = ' (default)' if definition.name == definitions.DEFAULT else ''
        yield (
            f'{definition}{default}\n'
            f'    AP@k            {definition.formula}\n'
            f'    R = 0           {definition.without_relevant:g}\n'
            f'    repeated shots  {definition.repeats.value}\n'
            f'    source          {definition.source}\n'
        )


@main.command(
    'definitions', examples=['mediaeval-ap definitions', 'mediaeval-ap definitions --format json']
)
@options.file_format(TEXT_FORMATS, 'table')
def print_definitions(format: str) -> None:
    """Print every definition of average precision."""
    described = [definition.to_dict() for definition in definitions.registered()]
    write_document(Document(_blocks, lambda: described), format, STANDARD_STREAM)

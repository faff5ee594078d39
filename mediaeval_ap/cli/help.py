"""The command ``help``: explains all commands, one command, or a topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import fill, indent

import click

from mediaeval_ap import definitions
from mediaeval_ap.cli import option_kinds
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import STANDARD_STREAM, write_document
from mediaeval_ap.errors import KINDS
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import TEXT_FORMATS

LEGEND = """\
R  relevant shots          P(i)  precision at rank i
k  the cutoff              h(i)  1 where rank i is relevant, 0 elsewhere
N  returned hypotheses     S(k)  sum of P(i)·h(i) for i = 1 … min(k, N)
H  hits in the top k       T(k)  the same with (P(i-1) + P(i)) / 2 for P(i), P(0) = 1

If R > 0 and nothing is returned, AP@k is 0 by every definition.
"""

WARNINGS = """\
Data with a warning are scored; --quiet hides it, --strict makes no-overlap, lost-zeros and
empty-run errors. In Python, a warning is a DataWarning of mediaeval_ap.errors with its kind.
"""


def _definitions_document() -> Document:
    def blocks() -> Iterator[str]:
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

    return Document(
        blocks, lambda: [definition.to_dict() for definition in definitions.registered()]
    )


def _warnings_document() -> Document:
    texts = [f'{kind}\n{indent(fill(text), "    ")}\n' for kind, text in KINDS.items()]
    return Document(lambda: [WARNINGS, *texts], lambda: KINDS)


TOPICS: dict[str, Callable[[], Document]] = {
    'definitions': _definitions_document,
    'warnings': _warnings_document,
}


def _complete(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    return [word for word in [*main.commands, *TOPICS] if word.startswith(start)]


@main.command(
    'help',
    help=f'Explain a command, or a topic: {", ".join(TOPICS)}.',
    examples=['mediaeval-ap help evaluate', 'mediaeval-ap help definitions'],
)
@click.argument('topic', required=False, shell_complete=_complete)
@option_kinds.file_format(TEXT_FORMATS, 'table')
@click.pass_context
def help_command(ctx: click.Context, topic: str | None, format: str) -> None:
    assert ctx.parent is not None
    if topic in TOPICS:
        document = TOPICS[topic]()
    elif topic is None or topic in main.commands:
        context = ctx.parent
        if topic is not None:
            context = click.Context(main.commands[topic], ctx.parent, topic)
        text = f'{context.get_help()}\n'
        document = Document(lambda: [text], lambda: text)
    else:
        from difflib import get_close_matches

        similar = ' or '.join(get_close_matches(topic, [*main.commands, *TOPICS]))
        message = f'TOPIC: found {topic!r}, expected a command, or one of {", ".join(TOPICS)}'
        raise click.UsageError(f'{message}; did you mean {similar}?' if similar else message)
    write_document(document, format, STANDARD_STREAM)

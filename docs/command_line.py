"""Write the page of the command line from the help texts: `python docs/command_line.py`."""

from pathlib import Path

import click

from mediaeval_ap.cli import main
from mediaeval_ap.cli.commands import HEADINGS

PAGE = Path(__file__).parent / 'reference/cli.md'
INTRODUCTION = """\
# Command line

This page is written from the help texts by `python docs/command_line.py`. The meaning of each exit
status is in [Input](../input.md#exit-status).
"""


def page():
    """Everything that `--help` prints, as Markdown."""
    root = main.make_context('mediaeval-ap', [], resilient_parsing=True)
    summaries = {name: each.help.splitlines()[0] for name, each in main.commands.items()}
    parts = [
        INTRODUCTION,
        *description(main),
        '\n'.join(f'- [{name}](#{name}): {text}' for name, text in summaries.items()) + '\n',
    ]
    for name, command in main.commands.items():
        context = command.make_context(name, [], parent=root, resilient_parsing=True)
        parts += [f'## {name}\n', *section(context)]
    return '\n'.join(parts)


def description(command):
    """The paragraphs of a help text."""
    for paragraph in command.help.split('\n\n'):
        yield escaped(paragraph) + '\n'


def escaped(text):
    """A text on one line, in which nothing is markup."""
    return ''.join(f'\\{each}' if each in '*_<>[]`' else each for each in ' '.join(text.split()))


def section(context):
    command = context.command
    pieces = ' '.join(command.collect_usage_pieces(context))
    yield f'```text\n{context.command_path} {pieces}\n```\n'
    yield from description(command)
    for heading in HEADINGS:
        options = [
            each.get_help_record(context)
            for each in command.get_params(context)
            if isinstance(each, click.Option) and getattr(each, 'heading', 'Other') == heading
        ]
        if options:
            yield f'**{heading}**\n'
            yield '\n'.join(f'- `{names}`: {escaped(text)}' for names, text in options) + '\n'
    examples = '\n'.join(command.examples)
    yield f'**Examples**\n\n```sh\n{examples}\n```\n'
    yield f'**Exit status** {command.exit_status}.\n'


if __name__ == '__main__':
    PAGE.write_text(page())

"""Write the pages of the command line from the help texts: `python docs/command_line.py`."""

from pathlib import Path

import click

from mediaeval_ap.cli import main
from mediaeval_ap.cli.commands import HEADINGS

FOLDER = Path(__file__).parent / 'reference'
INTRODUCTION = """\
# Command line

These pages are written from the help texts: `mediaeval-ap COMMAND --help` prints the same. The
meaning of each exit status is in [Input](../input.md#exit-status). What the commands print as JSON
is described by [schemas](json-schemas.md).
"""


def pages():
    """Everything that `--help` prints, as Markdown: an overview, and a page for each command."""
    root = main.make_context('mediaeval-ap', [], resilient_parsing=True)
    written = {FOLDER / 'cli.md': overview()}
    for name, command in main.commands.items():
        context = command.make_context(name, [], parent=root, resilient_parsing=True)
        written[FOLDER / f'cli/{name}.md'] = '\n'.join([f'# {name}\n', *section(context)])
    return written


def overview():
    lines = [f'- [{name}](cli/{name}.md): {summary(each)}' for name, each in main.commands.items()]
    entries = [*(f'cli/{name}' for name in main.commands), 'json-schemas']
    toctree = '\n'.join(['```{toctree}', ':hidden:', *entries, '```'])
    return '\n'.join([INTRODUCTION, *description(main), *lines, '', f'{toctree}\n'])


def summary(command):
    return escaped(command.help.splitlines()[0])


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
            yield f'## {heading}\n'
            yield '\n'.join(f'- `{names}`: {escaped(text)}' for names, text in options) + '\n'
    examples = '\n'.join(command.examples)
    yield f'## Examples\n\n```sh\n{examples}\n```\n'
    yield f'**Exit status** {command.exit_status}.\n'


if __name__ == '__main__':
    (FOLDER / 'cli').mkdir(exist_ok=True)
    for each in (FOLDER / 'cli').glob('*.md'):  # of commands that are no more
        each.unlink()
    for path, text in pages().items():
        path.write_text(text)

"""Write the pages of the command line from the help texts: `python docs/command_line.py`."""

from pathlib import Path

from mediaeval_ap.cli import main
from mediaeval_ap.cli.commands import GROUPS

FOLDER = Path(__file__).parent / 'reference'
INTRODUCTION = """\
# Command line

`mediaeval-ap COMMAND --help` prints the same. [Input](../input.md#exit-status) explains each exit
status, and [schemas](json-schemas.md) describe the JSON.
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
    """What all files have in common, and the commands by task."""
    parts = [INTRODUCTION, *description(main)]
    for heading, names in GROUPS.items():
        commands = [main.commands[name] for name in names.split()]
        lines = (f'- [{each.name}](cli/{each.name}.md): {summary(each)}\n' for each in commands)
        parts += [f'## {heading}\n', ''.join(lines)]
    entries = '\n'.join([*(f'cli/{name}' for name in main.list_commands(None)), 'json-schemas'])
    return '\n'.join([*parts, f'```{{toctree}}\n:hidden:\n{entries}\n```\n'])


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
    for heading, options in command.sections(context):
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

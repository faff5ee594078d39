"""The base of all commands: headings in the help, errors and warnings in a line, exit status."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import click

from mediaeval_ap import __version__
from mediaeval_ap.cli.output import (
    as_usage_errors,
    check_paths,
    format_by_suffix,
    is_on_terminal,
    tell_waiting_warnings,
    tell_warning,
    write,
)
from mediaeval_ap.errors import (
    SHOWN_CHARACTERS,
    DataWarning,
    Error,
    NoOverlapWarning,
    ReadError,
    WriteError,
    shown,
)
from mediaeval_ap.progress import progress_shown
from mediaeval_ap.render.formats import N_DECIMALS

HEADINGS = {  # of options, in the order of the help; Advanced gets all others
    'Input': '--queries --subset --judged --names --against --shots --videos --evidence-reference '
    '--evidence --consensus --reference --columns --truth-columns',
    'Scoring': '--cutoffs --cutoff --definition --measures --rules --first-hit --label-weighted '
    '--ties --missing --unknown --baseline --by',
    'Gate': '--fail-if-worse --require-better',
    'Page': '--title --intro --link',
    'Output': '-n --per-query --per-class --sort --sort-queries --pairs --figure --query --depth '
    '--costliest --all --statistics --check --export --qrels --run --format --output',
    'Advanced': '',
}
GROUPS = {  # of commands, by task
    'Score': 'validate evaluate compare',
    'Understand': 'report explain rank pool judge-next',
    'Large runs': 'index stream',
    'Other challenges': 'evaluate-2015 evaluate-trec export-trec map gap lrap macro-ap',
    'Help': 'help',
}
NO_BREAK_HYPHEN = '\N{NON-BREAKING HYPHEN}'
_quoted = re.compile(f"'[^'\n]{{{SHOWN_CHARACTERS + 1},}}'").sub
QUIET = 'mediaeval_ap.quiet'  # key of click's metadata of the command
EXIT_STATUS = '0: success; 1: error in the data or files; 2: error in the command line'
INTERRUPTED = 130
OUT_OF_MEMORY_PHRASES = (  # in errors of libraries that could not load or start a thread
    'failed to map segment',
    'annot allocate memory',
    "can't start new thread",
    'Failed to launch worker thread',
)
OUT_OF_MEMORY = (
    'out of memory: give the command more, or less to do at once '
    '(fewer runs or queries, smaller cutoffs)'
)


def print_and_exit(text: Callable[[click.Context], str]) -> Callable[..., None]:
    """Return the callback of a flag that prints a text and exits."""

    def callback(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
        if is_set and not ctx.resilient_parsing:
            try:
                write(f'{text(ctx)}\n')
            except WriteError as error:
                raise click.ClickException(str(error)) from error
            ctx.exit()

    return callback


class _HelpFormatter(click.HelpFormatter):
    """Folds help between words only, so that names with hyphens can be copied."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace('-', NO_BREAK_HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], *sizes: Any, **named_sizes: Any) -> None:
        rows = [(term, text.replace('-', NO_BREAK_HYPHEN)) for term, text in rows]
        super().write_dl(rows, *sizes, **named_sizes)

    def getvalue(self) -> str:
        return super().getvalue().replace(NO_BREAK_HYPHEN, '-')


class _CommandWithHelp(click.Command):
    """A command whose help is written like all other output."""

    def get_help(self, ctx: click.Context) -> str:
        formatter = _HelpFormatter(width=ctx.terminal_width, max_width=ctx.max_content_width)
        self.format_help(ctx, formatter)
        return formatter.getvalue().rstrip()

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        if (option := super().get_help_option(ctx)) is not None:
            option.callback = print_and_exit(click.Context.get_help)
            option.help = 'Show this text.'
        return option


class Command(_CommandWithHelp):
    """A command with examples in its help; an output never overwrites an input or output."""

    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[str],
        exit_status: str = EXIT_STATUS,
        advanced: str = '',
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples
        self.exit_status = exit_status
        self.advanced = advanced.split()  # options to move under this heading

    def invoke(self, ctx: click.Context) -> Any:
        is_strict = ctx.params.pop('strict', False)
        ctx.meta[QUIET] = quiet = ctx.params.pop('quiet', False)
        precision = N_DECIMALS.set(ctx.params.pop('precision', N_DECIMALS.get()))
        ctx.call_on_close(partial(N_DECIMALS.reset, precision))
        if quiet:  # hides warnings, but not those that --strict raises
            warnings.simplefilter('ignore')
        if is_strict:
            warnings.simplefilter('error', NoOverlapWarning)
        if 'output' in ctx.params and ctx.params.get('format', '') is None:
            (choice,) = (option.type for option in self.params if option.name == 'format')
            assert isinstance(choice, click.Choice)
            ctx.params['format'] = format_by_suffix(ctx.params['output'], choice.choices)
        ctx.invoke(check_paths, ctx)
        with progress_shown(is_on_terminal() and not quiet), as_usage_errors(only_typed=True):
            return super().invoke(ctx)

    def sections(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield each heading with (syntax, help) of its options."""
        options = {
            max(option.opts, key=len): option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
        }
        for heading, names in HEADINGS.items():
            own_names = [name for name in names.split() if name not in self.advanced] or [*options]
            own_options = [options.pop(name) for name in own_names if name in options]
            records = [option.get_help_record(ctx) for option in own_options]
            if rows := [record for record in records if record is not None]:
                yield heading, rows

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, rows in self.sections(ctx):
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section('Examples'):
            for example in self.examples:
                formatter.write(f'{"":{formatter.current_indent}}{example}\n')
        with formatter.section('Exit status'):
            formatter.write_text(f'{self.exit_status}.')


def is_lack_of_memory(error: BaseException) -> bool:
    if isinstance(error, ReadError | ImportError | RuntimeError):
        return any(phrase in str(error) for phrase in OUT_OF_MEMORY_PHRASES)
    return isinstance(error, MemoryError)


class _Group(_CommandWithHelp, click.Group):
    """The group of all commands; it shows each error and warning on one line."""

    command_class = Command

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter('default', DataWarning)  # each text once
            warnings.showwarning = lambda message, *_, **__: tell_warning(message)
            try:
                try:
                    return super().invoke(ctx)
                except click.UsageError as error:  # click quotes values of any length
                    text = _quoted(lambda match: shown(match[0][1:-1]), error.message)
                    error.message = text  # type: ignore[misc]
                    raise
                finally:
                    tell_waiting_warnings()
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)
            except Exception as error:
                if is_lack_of_memory(error):
                    raise click.ClickException(OUT_OF_MEMORY) from None
                if isinstance(error, Error | DataWarning):
                    notes = getattr(error, '__notes__', ())  # a remedy, or further errors
                    raise click.ClickException('; '.join([str(error), *notes])) from error
                raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ' '.join(GROUPS.values()).split()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by task, with their whole summaries, which click would cut off."""
        width = max(map(len, self.commands))
        unlimited = 1 << 10
        for heading, names in GROUPS.items():
            rows = [
                (f'{name:{width}}', self.commands[name].get_short_help_str(unlimited))
                for name in names.split()
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.group(
    'mediaeval-ap',
    cls=_Group,
    context_settings={'help_option_names': ['-h', '--help'], 'max_content_width': 100},
)
@click.option(
    '--version',
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_and_exit(lambda _: f'mediaeval-ap, version {__version__}'),
    help='Show the version.',
)
def main() -> None:
    """Evaluate person discovery: rank shots for a name and report average precision at K.

    Each line of a file is a row of fields, separated by spaces or tabs. A REFERENCE has corpus_id
    video_id shot_id person_name; a RUN has these and a confidence. NAME=FILE gives a RUN its name
    in tables. The commands map, gap, lrap and macro-ap read CSV with a header. Files may be
    compressed (gzip, bzip2, xz, Zstandard) or Parquet; their names do not matter. - is standard
    input.
    """

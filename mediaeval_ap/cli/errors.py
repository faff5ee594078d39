"""The group of all commands, in which an exception becomes one line and an exit status."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from mediaeval_ap import __version__
from mediaeval_ap.cli.output import FILE, NEW_FILE, check_paths, is_on_terminal, paths_of, tell
from mediaeval_ap.errors import DataWarning, Error, ReadError
from mediaeval_ap.progress import shown

INTERRUPTED = 130
LACKS_OF_MEMORY = (  # as libraries word it that could not load or start something
    'failed to map segment',
    'annot allocate memory',
    "can't start new thread",
    'Failed to launch worker thread',
)
OUT_OF_MEMORY = (
    'out of memory: give the command more, or less to do at once '
    '(fewer runs or queries, smaller cutoffs)'
)
EXIT_STATUS = '0: success; 1: error in the data or files; 2: error in the command line'


class _Command(click.Command):
    """A command with examples in its help, that refuses options and files that are given twice."""

    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[str],
        exit_status: str = EXIT_STATUS,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples
        self.exit_status = exit_status

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # completion asks about a line that is not whole
            *_, order = self.make_parser(ctx).parse_args(given)
            for option, times in Counter(order).items():
                if times > 1 and isinstance(option, click.Option) and not option.multiple:
                    raise click.UsageError(f'{max(option.opts, key=len)} is given twice', ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        ctx.invoke(check_paths, paths_of(ctx, FILE), paths_of(ctx, NEW_FILE))
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section('Examples'):
            for example in self.examples:
                formatter.write(f'{"":{formatter.current_indent}}{example}\n')
        with formatter.section('Exit status'):
            formatter.write_text(f'{self.exit_status}.')


class _Group(click.Group):
    """The place where errors and warnings of the package become one line each."""

    command_class = _Command

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings(), shown(is_on_terminal()):
            warnings.simplefilter('default', DataWarning)  # the same text once
            warnings.showwarning = lambda message, *_, **__: tell(f'Warning: {message}')
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)
            except Exception as error:
                if _is_lack_of_memory(error):
                    raise click.ClickException(OUT_OF_MEMORY) from None
                if isinstance(error, Error | DataWarning):
                    raise click.ClickException(str(error)) from error
                raise


def _is_lack_of_memory(error: Exception) -> bool:
    if isinstance(error, ReadError | ImportError | RuntimeError):
        return any(reason in str(error) for reason in LACKS_OF_MEMORY)
    return isinstance(error, MemoryError)


@click.group('mediaeval-ap', cls=_Group, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(__version__, prog_name='mediaeval-ap')
def main() -> None:
    """Evaluate person discovery: rank shots for a name and report average precision at K.

    Each line of a file is a row of fields, separated by spaces or tabs. A REFERENCE has corpus_id
    video_id shot_id person_name; a HYPOTHESIS (a run) has these and a confidence. The
    commands map, gap and lrap read CSV with a header. Files may be compressed (.gz, .bz2, .xz,
    .zst) or Parquet; - is standard input.
    """

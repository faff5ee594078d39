"""The group of all commands, in which an exception becomes one line and an exit status."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from mediaeval_ap import __version__
from mediaeval_ap.cli.output import tell
from mediaeval_ap.errors import DataWarning, Error, ReadError

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
EXIT_STATUS = '0: done; 1: an input is wrong; 2: the command line is wrong'
ORDER = 'mediaeval_ap.options_in_their_order'


class _Command(click.Command):
    """A command that has examples in its help, and refuses an option that is given twice."""

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

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            parsed = parse(args)
            ctx.meta[ORDER] = parsed[2]
            return parsed

        parser.parse_args = parse_args  # type: ignore[method-assign]
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # completion asks about a line that is not whole
            for option, times in Counter(ctx.meta[ORDER]).items():
                if times > 1 and isinstance(option, click.Option) and not option.multiple:
                    raise click.UsageError(f'{max(option.opts, key=len)} is given twice', ctx)
        return rest

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
        with warnings.catch_warnings():
            warnings.simplefilter('default', DataWarning)  # the same text once
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except (Error, DataWarning, MemoryError, ImportError, RuntimeError) as error:
                if _is_lack_of_memory(error):
                    raise click.ClickException(OUT_OF_MEMORY) from None
                if not isinstance(error, Error | DataWarning):
                    raise
                raise click.ClickException(str(error)) from error
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)


def _is_lack_of_memory(error: Exception) -> bool:
    if isinstance(error, ReadError | ImportError | RuntimeError):
        return any(reason in str(error) for reason in LACKS_OF_MEMORY)
    return isinstance(error, MemoryError)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f'Warning: {message}')


@click.group('mediaeval-ap', cls=_Group, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(__version__, prog_name='mediaeval-ap')
def main() -> None:
    """Evaluate person discovery: rank shots for a name and report average precision at K.

    Files hold a row a line, fields separated by spaces or tabs. A REFERENCE has corpus_id
    video_id shot_id person_name; a HYPOTHESIS has these and a confidence. TRUTH, PREDICTIONS and
    SCORES, of other challenges, are CSV with a header. Files may be compressed (.gz, .bz2, .xz,
    .zst) or Parquet; - is standard input.
    """

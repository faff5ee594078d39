"""The group of all commands, in which an exception becomes one line and an exit status."""

from __future__ import annotations

import warnings
from typing import Any

import click

from mediaeval_ap import __version__
from mediaeval_ap.cli.commands import Command, Option, help_option, print_text
from mediaeval_ap.cli.output import tell
from mediaeval_ap.errors import DataWarning, Error, ReadError
from mediaeval_ap.store.damage import damage_told

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


class _Group(click.Group):
    """The place where errors and warnings of the package become one line each."""

    command_class = Command

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter('default', DataWarning)  # the same text once
            warnings.showwarning = lambda message, *_, **__: tell(f'Warning: {message}')
            try:
                with damage_told():
                    return super().invoke(ctx)
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)
            except Exception as error:
                if is_lack_of_memory(error):
                    raise click.ClickException(OUT_OF_MEMORY) from None
                if isinstance(error, Error | DataWarning):
                    raise click.ClickException(str(error)) from error
                raise

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        return help_option(super().get_help_option(ctx))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole summaries, which click cuts off."""
        whole = 1 << 10
        with formatter.section('Commands'):
            formatter.write_dl(
                [(name, each.get_short_help_str(whole)) for name, each in self.commands.items()]
            )


def is_lack_of_memory(error: BaseException) -> bool:
    """Return whether an error says, in whatever words, that there is not enough memory."""
    if isinstance(error, ReadError | ImportError | RuntimeError):
        return any(reason in str(error) for reason in LACKS_OF_MEMORY)
    return isinstance(error, MemoryError)


def _print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        print_text(ctx, f'mediaeval-ap, version {__version__}\n')


@click.group('mediaeval-ap', cls=_Group, context_settings={'help_option_names': ['-h', '--help']})
@click.option(
    '--version',
    cls=Option,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help='Show the version.',
)
def main() -> None:
    """Evaluate person discovery: rank shots for a name and report average precision at K.

    Each line of a file is a row of fields, separated by spaces or tabs. A REFERENCE has corpus_id
    video_id shot_id person_name; a RUN has these and a confidence. The commands map, gap and lrap
    read CSV with a header. Files may be compressed (gzip, bzip2, xz, Zstandard) or
    Parquet, whatever their names; - is standard input.
    """

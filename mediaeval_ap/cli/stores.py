"""The commands ``index`` and ``export``, about runs that are stored on disk."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import Output, write
from mediaeval_ap.errors import printable


@main.command(
    examples=[
        'mediaeval-ap index hypothesis.txt -o run.store',
        'mediaeval-ap index hypothesis.txt --keep 1000 -o pruned.store',
    ]
)
@options.RUNS
@options.option(
    '-o',
    '--output',
    'store',
    metavar='STORE',
    type=click.Path(),
    help='Folder to write; a store that is there is replaced as a whole at the end.',
)
@options.integer(
    '--keep',
    default=None,
    help='Largest cutoff that the store will be asked for; what it does not need is dropped. '
    'The default cutoffs of evaluate go to 1000.'
    '  [default: all is kept]',
)
@options.SUBSET
@options.flag(
    '--check', help='Compare all of each given store with what was written, and write nothing.'
)
@options.MAX_BYTES
@options.MESSAGES
def index(
    runs: tuple[str, ...],
    store: str | None,
    keep: int | None,
    subset: str | None,
    check: bool,
    max_bytes: int,
) -> None:
    """Store a run on disk, ranked, however large it is.

    Several RUN are parts of one run. Each is a file, a folder of files, or an address such as
    s3://bucket/key. After an interruption the same command goes on where it was.
    """
    from mediaeval_ap.store import indexing
    from mediaeval_ap.store.store import open_store

    if check:
        if store is not None or keep is not None or subset is not None:
            raise click.UsageError('--check takes stores alone, without -o, --keep and --subset')
        for each in runs:
            open_store(each).check()
            write(f'{printable(each)}: as it was written\n')
    elif store is None:
        raise click.UsageError('-o: found nothing, expected the folder of the store to write')
    else:
        run: Any = runs[0] if len(runs) == 1 else runs
        indexing.index(run, store, keep=keep, subset=subset, max_bytes=max_bytes)


@main.command(
    examples=[
        'mediaeval-ap export run.store -o run.parquet',
        'mediaeval-ap index hypothesis.txt -o new.store && '
        'mediaeval-ap export new.store -o new.parquet',
    ]
)
@options.argument('store')
@options.output('Parquet file to write (atomically).', required=True)
@options.MESSAGES
def export(store: str, output: Output) -> None:
    """Write the hypotheses of a STORE as Parquet, best first.

    A store that was made with --keep has no such file: as a run, it would have other scores.
    """
    from mediaeval_ap.store.store import open_store

    open_store(store).to_parquet(output)

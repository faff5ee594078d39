"""The command ``index``, about runs that are stored on disk."""

from __future__ import annotations

from typing import Any

import click

from mediaeval_ap.cli import options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import NEW_FILE, write
from mediaeval_ap.errors import printable


@main.command(
    examples=[
        'mediaeval-ap index hypothesis.txt -o run.store',
        'mediaeval-ap index hypothesis.txt -o new.store && '
        'mediaeval-ap index --export new.store -o new.parquet',
    ]
)
@options.RUNS
@options.option(
    '-o',
    '--output',
    'store',
    metavar='STORE',
    type=click.Path(),
    help='Folder to write, or replace as a whole; with --export a file.',
)
@options.SUBSET
@options.flag('--check', help='Compare all of each store RUN with what was written.')
@options.flag('--export', help='Write a store RUN as Parquet, best first.')
@options.MESSAGES
def index(
    runs: tuple[str, ...],
    store: str | None,
    subset: str | None,
    check: bool,
    export: bool,
) -> None:
    """Store a run on disk, ranked.

    Several RUN are parts of one run. Each is a file, a folder of files, or an address such as
    s3://bucket/key.
    """
    from mediaeval_ap.store import indexing
    from mediaeval_ap.store.store import open_store

    mode = '--check' if check else '--export'
    if (check or export) and subset is not None:
        raise click.UsageError(f'{mode} and --subset: a store is read as it is')
    if check:
        if export or store is not None:
            raise click.UsageError('--check takes stores alone, without -o and --export')
        for path in runs:
            open_store(path).check()
            write(f'{printable(path)}: as it was written\n')
    elif store is None:
        expected = 'the Parquet file' if export else 'the folder of the store'
        raise click.UsageError(f'-o: found nothing, expected {expected} to write')
    elif export:
        if len(runs) > 1:
            raise click.UsageError(f'--export: found {len(runs)} stores, expected one')
        output = NEW_FILE.convert(store, None, click.get_current_context())
        open_store(runs[0]).to_parquet(output)
    else:
        run: Any = runs[0] if len(runs) == 1 else runs
        indexing.index(run, store, subset=subset)

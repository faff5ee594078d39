"""Commands for large runs: ``index`` stores one, ``stream`` answers names as they arrive."""

from __future__ import annotations

import sys
from typing import Any

import click

from mediaeval_ap.cli import option_kinds, options
from mediaeval_ap.cli.commands import main
from mediaeval_ap.cli.output import NEW_FILE, STANDARD_STREAM, check_paths, tell, write
from mediaeval_ap.definitions import ap_column
from mediaeval_ap.errors import DataWarning, Error, FormatError, printable
from mediaeval_ap.render.formats import ANSWER_FORMATS


@main.command(
    'index',
    examples=[
        'mediaeval-ap index hypothesis.txt -o run.store',
        'mediaeval-ap index hypothesis.txt -o new.store && '
        'mediaeval-ap index --export new.store -o new.parquet',
    ],
)
@options.runs_argument
@option_kinds.option(
    '-o',
    '--output',
    'store',
    metavar='STORE',
    type=click.Path(),
    help='Folder to write or to replace whole; with --export a file.',
)
@options.subset_option
@option_kinds.flag('--check', help='Check that each store RUN holds all that was written.')
@option_kinds.flag('--export', help='Write a store RUN as Parquet, best first.')
@options.quiet_option
def index_command(
    runs: tuple[str, ...], store: str | None, subset: str | None, check: bool, export: bool
) -> None:
    """Store a run on disk, ranked.

    Several RUNs are parts of one run. Each is a file, a folder of files, or an address such as
    s3://bucket/key.
    """
    from mediaeval_ap.store import indexing
    from mediaeval_ap.store.store import open_store

    mode = '--check' if check else '--export'
    if (check or export) and subset is not None:
        raise click.UsageError(f'{mode} takes no --subset: it reads the whole store')
    if check:
        if export or store is not None:
            raise click.UsageError('--check takes no -o and no --export')
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


@main.command(
    'stream',
    examples=[
        'mediaeval-ap stream reference.txt hypothesis.txt < queries.txt',
        'echo alain_juppe | mediaeval-ap stream reference.txt hypothesis.txt --format jsonl',
    ],
)
@options.reference_argument
@options.run_argument
@options.criteria_options
@option_kinds.file_format(ANSWER_FORMATS, note='  [default: table on a terminal, else tsv]')
def stream_command(hypothesis: str, format: str | None, **criteria: Any) -> None:
    """Score names from standard input, each as it arrives.

    Each line of output has, in tsv, the name, its number of relevant shots, and AP at each cutoff.
    A line that is not a name (for example an empty one) is answered with an error.
    """
    check_paths(click.get_current_context(), [STANDARD_STREAM])
    from mediaeval_ap.tables import QUERIES, parse_line
    from mediaeval_ap.tables.reading import lines_of_standard_input

    if format is None:
        format = 'table' if sys.stdout is not None and sys.stdout.isatty() else 'tsv'
    answers = ANSWER_FORMATS[format]
    headers = ['query', 'n_relevant', *map(ap_column, criteria['cutoffs'])]
    average_precision = options.read_reference(**criteria)
    n_invalid = 0
    with average_precision(hypothesis) as session:
        if heading := answers.heading(headers):
            write(heading)
        for number, line in lines_of_standard_input():
            try:
                fields = parse_line(line, QUERIES, '<stdin>', number)
                if fields is None:
                    place = f'line {number}'
                    raise FormatError('<stdin>', place, '', 'an empty line', expected='a name')
                (query,) = fields
                ap, n_relevant = session.send(query)
                answer = answers.row(headers, [query, n_relevant, *ap])
            except (Error, DataWarning) as error:
                text = line.rstrip(b'\r\n').decode(errors='backslashreplace')
                answer = answers.error(text, str(error))
                n_invalid += 1
            write(answer)
    if n_invalid:
        tell(f'Error: <stdin>: {n_invalid} of {number} lines are not names')
        sys.exit(1)

"""The command ``mediaeval-ap``: arguments, progress and exit codes.

Whatever it does, a Python session can do with the same words. Data goes to standard output,
everything else to standard error. Exit codes: 0, all is well; 1, the data is wrong; 2, the usage
is; 130, interrupted.

Modules that cost time to import are imported by the command that needs them.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from mediaeval_ap import __version__, definitions
from mediaeval_ap.errors import DataWarning, Error, WriteError
from mediaeval_ap.policies import MISSING, TIES, UNKNOWN
from mediaeval_ap.report import (
    ANSWER_FORMATS,
    DEFINITION_FORMATS,
    FORMATS,
    render_answer,
    render_definitions,
    render_evaluations,
    render_ranking,
    render_score,
    write_whole,
)

if TYPE_CHECKING:
    from mediaeval_ap.evaluator import AveragePrecision

__all__ = ['main']

INTERRUPTED = 130
STANDARD_STREAM = '-'


class _Edge(click.Group):
    """Where errors and warnings of the library become one line each."""

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter('default', DataWarning)  # the same text once
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except Error as error:
                raise click.ClickException(str(error)) from error
            except KeyboardInterrupt:
                ctx.exit(INTERRUPTED)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f'Warning: {message}', err=True)


def _cutoffs(_: click.Context, __: click.Parameter, value: str) -> list[int]:
    """Positive integers between commas."""
    fields = value.split(',')
    if not all(re.fullmatch('[0-9]{1,19}', field) for field in fields) or not all(
        0 < int(field) <= definitions.LARGEST_CUTOFF for field in fields
    ):
        raise click.BadParameter(f'found {value!r}, expected positive integers between commas')
    return [int(field) for field in fields]


_FILE = click.Path(allow_dash=True)
_reference = click.argument('reference', type=_FILE)
_hypothesis = click.argument('hypothesis', type=_FILE)
_subset = click.option('--subset', type=_FILE, help='The videos that count: corpus_id video_id.')
_K = click.option(
    '-K',
    'cutoffs',
    callback=_cutoffs,
    default='1,10,100,1000',
    show_default=True,
    help='Cutoffs, between commas.',
)
_definition = click.option(
    '--definition',
    type=click.Choice(definitions.names()),
    default=definitions.DEFAULT,
    show_default=True,
    help='What average precision is.',
)
_format = click.option('--format', type=click.Choice(FORMATS), default='table', show_default=True)
_output = click.option(
    '-o',
    '--output',
    type=click.Path(dir_okay=False, allow_dash=True),
    default=STANDARD_STREAM,
    help='Write there, whole or not at all, instead of to standard output.',
)


_RANK = click.IntRange(1, definitions.LARGEST_CUTOFF)
_truth = click.argument('truth', type=_FILE)
_predictions = click.argument('predictions', type=_FILE)
_per_query = click.option('--per-query', is_flag=True, help='Show the queries.')
_missing = click.option(
    '--missing',
    type=click.Choice(MISSING),
    default='error',
    show_default=True,
    help='What an id of TRUTH is that the predictions lack.',
)
_unknown = click.option(
    '--unknown',
    type=click.Choice(UNKNOWN),
    default='error',
    show_default=True,
    help='What an id of the predictions is that TRUTH lacks.',
)


@click.group('mediaeval-ap', cls=_Edge, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(__version__, prog_name='mediaeval-ap')
def main() -> None:
    """Evaluate retrieval by name: who is in which shot, and how sure.

    Files hold a row a line, fields separated by spaces or tabs. A REFERENCE has corpus_id
    video_id shot_id person_name; a HYPOTHESIS has these and a confidence. TRUTH, PREDICTIONS and
    SCORES, of other challenges, are CSV with a header. Files may be compressed (.gz, .bz2, .xz,
    .zst) or Parquet; - is standard input.
    """


@main.command()
@_reference
@click.argument('hypotheses', type=_FILE, nargs=-1, required=True, metavar='HYPOTHESIS...')
@click.option('--queries', type=_FILE, help='The names to ask for.  [default: all in REFERENCE]')
@_subset
@_K
@_definition
@_format
@_output
@click.option('--mean-only', is_flag=True, help='Leave out the queries.')
def evaluate(
    reference: str,
    hypotheses: tuple[str, ...],
    queries: str | None,
    subset: str | None,
    cutoffs: list[int],
    definition: str,
    format: str,
    output: str,
    mean_only: bool,
) -> None:
    """Score runs: average precision at K of each query, and the means."""
    _read_standard_input_once([reference, *hypotheses, queries, subset])
    from mediaeval_ap.tables import QUERIES, read

    average_precision = _average_precision(reference, cutoffs, subset, definition)
    asked = None if queries is None else read(queries, QUERIES)
    evaluations = [
        average_precision.evaluate(hypothesis, asked, progress=_is_on_terminal())
        for hypothesis in hypotheses
    ]
    _write(render_evaluations(evaluations, format, mean_only=mean_only), output)


@main.command()
@_reference
@_hypothesis
@_subset
@_K
@_definition
@click.option('--format', type=click.Choice(ANSWER_FORMATS), default='tsv', show_default=True)
def stream(
    reference: str,
    hypothesis: str,
    subset: str | None,
    cutoffs: list[int],
    definition: str,
    format: str,
) -> None:
    """Answer names on standard input, a line each, as they arrive.

    A line of tsv holds the name, n_relevant, and AP at each cutoff. A line that is no name is
    reported on standard error; the session goes on, and exits with 1 at its end.
    """
    _read_standard_input_once([STANDARD_STREAM, reference, hypothesis, subset])
    from mediaeval_ap.tables import QUERIES, numbered, parse_line, standard_input

    average_precision = _average_precision(reference, cutoffs, subset, definition)
    n_wrong = 0
    with average_precision(hypothesis) as session:
        for number, line in numbered(standard_input(), '<stdin>'):
            try:
                fields = parse_line(line, QUERIES, '<stdin>', number)
            except Error as error:
                click.echo(f'Error: {error}', err=True)
                n_wrong += 1
                continue
            if fields is not None:
                ap, n_relevant = session.send(fields[0])
                _write(render_answer(fields[0], ap, n_relevant, cutoffs, format), STANDARD_STREAM)
    if n_wrong:
        sys.exit(1)


@main.command()
@_reference
@_hypothesis
@click.argument('query')
@click.option(
    '-k',
    type=_RANK,
    default=20,
    show_default=True,
    help='How many.',
)
@_subset
@_definition
@_format
@_output
def rank(
    reference: str,
    hypothesis: str,
    query: str,
    k: int,
    subset: str | None,
    definition: str,
    format: str,
    output: str,
) -> None:
    """Show the first hypotheses for QUERY, as they are scored."""
    _read_standard_input_once([reference, hypothesis, subset])
    average_precision = _average_precision(reference, [k], subset, definition)
    _write(render_ranking(average_precision.rank(hypothesis, query), format), output)


@main.command('map')
@_truth
@_predictions
@click.option('-k', type=_RANK, help='The cutoff.  [default: 12, or 5 with --first-hit]')
@click.option(
    '--definition',
    type=click.Choice(definitions.names()),
    help='What average precision is.  [default: kaggle]',
)
@click.option('--first-hit', is_flag=True, help='Files are Image,Id; the first hit counts only.')
@_per_query
@_missing
@_unknown
@_format
@_output
def score_lists(
    truth: str,
    predictions: str,
    k: int | None,
    definition: str | None,
    first_hit: bool,
    format: str,
    output: str,
    **options: Any,
) -> None:
    """Score lists of labels: mean average precision at k, or first-hit MAP.

    PREDICTIONS has customer_id,prediction, where the predicted labels stand between spaces, best
    first; TRUTH has the same, or customer_id,article_id with one label a row. With --first-hit
    both have Image,Id.
    """
    if first_hit and definition:
        raise click.UsageError('--first-hit has no --definition')
    from mediaeval_ap import challenges

    _read_standard_input_once([truth, predictions])
    options |= {'k': k} if k else {}
    options |= {'definition': definition} if definition else {}
    evaluate = challenges.evaluate_first_hit if first_hit else challenges.evaluate_map
    score = evaluate(truth, predictions, **options, progress=_is_on_terminal())
    _write(render_score(score, format), output)


@main.command('gap')
@_truth
@_predictions
@click.option(
    '--ties',
    type=click.Choice(TIES),
    default='expected',
    show_default=True,
    help='What stands first where confidences are equal.',
)
@_per_query
@_missing
@_unknown
@_format
@_output
def score_global_list(
    truth: str, predictions: str, format: str, output: str, **options: Any
) -> None:
    """Score labels with a confidence, all in one list: global average precision.

    TRUTH has id,landmark_id; PREDICTIONS has id,landmarks, with a label and its confidence between
    which is a space, or nothing.
    """
    from mediaeval_ap import challenges

    _read_standard_input_once([truth, predictions])
    score = challenges.evaluate_gap(truth, predictions, **options, progress=_is_on_terminal())
    _write(render_score(score, format), output)


@main.command('lrap')
@_truth
@click.argument('scores', type=_FILE)
@click.option('--label-weighted', is_flag=True, help='The mean over labels (lwlrap).')
@click.option('--per-class', is_flag=True, help='Show the classes.')
@_unknown
@_format
@_output
def score_labels(truth: str, scores: str, format: str, output: str, **options: Any) -> None:
    """Score numbers for every class: label ranking average precision.

    TRUTH has fname,labels with commas between the labels, in quotes; SCORES has fname and a column
    for each class.
    """
    from mediaeval_ap import challenges

    _read_standard_input_once([truth, scores])
    score = challenges.evaluate_lrap(truth, scores, **options, progress=_is_on_terminal())
    _write(render_score(score, format), output)


@main.command('definitions')
@click.option('--format', type=click.Choice(DEFINITION_FORMATS), default='text', show_default=True)
def print_definitions(format: str) -> None:
    """Print every definition of average precision."""
    _write(render_definitions(format), STANDARD_STREAM)


def _average_precision(
    reference: str, cutoffs: list[int], subset: str | None, definition: str
) -> AveragePrecision:
    from mediaeval_ap.evaluator import AveragePrecision

    return AveragePrecision(reference, cutoffs, subset=subset, definition=definition)


def _is_on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _read_standard_input_once(paths: Iterable[str | None]) -> None:
    if Counter(paths)[STANDARD_STREAM] > 1:
        raise click.UsageError('standard input (-) can be read once only')


def _write(text: str, output: str) -> None:
    """Write to a file whole, or to standard output as UTF-8 whatever the locale, flushed."""
    if output != STANDARD_STREAM:
        write_whole(output, text)
        return
    try:
        click.echo(text.encode(), nl=False)
    except BrokenPipeError:  # whoever read it has seen enough
        raise
    except OSError as error:
        raise WriteError('<stdout>', error.strerror or str(error)) from error

"""Results of an evaluation in blocks, put together."""

from __future__ import annotations

import os
from dataclasses import replace

from mediaeval_ap.errors import ParameterError, printable, shown, warn_caller
from mediaeval_ap.evaluation.whole_run import about_values
from mediaeval_ap.execute.block_folder import BlockFolder
from mediaeval_ap.results.evaluation import Evaluation

__all__ = ['collect']


def collect(path: str | os.PathLike[str]) -> list[Evaluation]:
    """Put the blocks of queries together that an evaluation has kept in a folder.

    Parameters
    ----------
    path : str or path-like
        The folder: `resume` of `AveragePrecision.evaluate` or `AveragePrecision.evaluate_part`, or
        ``--resume`` of the command ``evaluate``.

    Returns
    -------
    list of Evaluation
        A result for each run, equal bit for bit to that of all queries at once.

    Raises
    ------
    ReadError
        When the folder or a file of it cannot be read, or blocks are missing.
    FormatError
        When the folder is of another version, or has a file that was cut or edited, or that is of
        another evaluation.

    Warns
    -----
    WithoutRelevantWarning, ScoreAboveOneWarning
        As `AveragePrecision.evaluate`. Of the run and the queries, the parts have warned.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mediaeval_ap import AveragePrecision
    >>> folder = pathlib.Path(tempfile.mkdtemp(), 'blocks')
    >>> average_precision = AveragePrecision(
    ...     'samples/reference.txt', K=[10], definition='trec'
    ... )
    >>> run = 'samples/hypothesis.txt'
    >>> average_precision.evaluate_part(run, part=(1, 2), resume=folder)
    Part(computed=11, found=0)
    >>> average_precision.evaluate_part(run, part=(2, 2), resume=folder)
    Part(computed=10, found=0)
    >>> (evaluation,) = collect(folder)
    >>> evaluation.to_dict() == average_precision.evaluate(run).to_dict()
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f'collect: found {shown(path)}, expected the path of a folder')
    folder = BlockFolder.open(os.fsdecode(path))
    runs = range(len(folder.plan.runs))
    folder.check_complete(runs)
    evaluations = list(map(_with_warnings, map(folder.evaluation, runs)))
    for evaluation in evaluations:
        warn_caller(evaluation.warnings)
    return evaluations


def _with_warnings(evaluation: Evaluation) -> Evaluation:
    reference = printable(evaluation.inputs['reference'].name)
    found = about_values(evaluation, evaluation.definition, reference)
    return replace(evaluation, warnings=tuple(found))

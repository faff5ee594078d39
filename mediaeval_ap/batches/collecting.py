"""Results of an evaluation in blocks, put together."""

from __future__ import annotations

import os

from mediaeval_ap.batches.block_folder import BlockFolder
from mediaeval_ap.errors import ParameterError, shown
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
        A result for each run, equal bit for bit to that of all queries at once, without warnings.

    Raises
    ------
    ReadError
        When the folder or a file of it cannot be read, or blocks are missing.
    FormatError
        When the folder is of another version, or has a file that was cut or edited, or that is of
        another evaluation.

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
    return [folder.evaluation(run) for run in runs]

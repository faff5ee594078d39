"""A folder of one evaluation: its plan, and a file of results for each block of queries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import write_first, write_whole
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    ReadError,
    WriteError,
    printable,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.scoring import finish_evaluation
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables.digests import digest_of
from mediaeval_ap.tables.sources import opening, parsed_json

__all__ = ['collect']

PLAN = 'plan.json'
PLAN_SCHEMA = 'mediaeval-ap/plan/2'
BLOCK_QUERIES = 100  # at most: parts and workers need many blocks to share

is_block = re.compile('[0-9]{3,}-[0-9]{5,}-[0-9a-f]{16}[.]json').fullmatch


class BlockFolder:
    """A folder, and its plan: everything that the values of its evaluation depend on."""

    def __init__(self, path: str, plan: Mapping[str, Any]) -> None:
        self.path = path
        self.plan = plan
        self._key = digest_of({**plan, 'names': []})[:16]
        self.n_blocks = -(-plan['n_queries'] // plan['block_queries'])

    @classmethod
    def begin(cls, path: object, plan: Mapping[str, Any], size: Callable[[], int]) -> BlockFolder:
        """Make a folder, or continue one that has the same plan and keep the size of its blocks."""
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(f'resume: found {shown(path)}, expected the path of a folder')
        path = os.fsdecode(path)
        file = os.path.join(path, PLAN)
        try:
            os.makedirs(path, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = str(error)
            if isinstance(error, FileExistsError):
                reason = 'is a file, expected a folder'
            raise WriteError(path, reason) from error
        if not os.path.exists(file):
            block_queries = min(size(), BLOCK_QUERIES)
            write_first(file, _plan_text({**plan, 'block_queries': block_queries}))
        folder = cls.open(path)
        for field, value in plan.items():
            if field != 'names' and folder.plan.get(field) != value:
                advice = 'this folder holds another evaluation: choose another folder, or delete it'
                expected = f'{_format_value(value)}; {advice}'
                actual = _format_value(folder.plan.get(field))
                raise FormatError(file, '', field, actual, expected=expected)
        older_names = folder.plan['names']
        folder.plan = {**folder.plan, 'names': plan['names']}
        if any(plan['names']) and older_names != plan['names']:
            write_whole(file, _plan_text(folder.plan))
        return folder

    @classmethod
    def open(cls, path: str) -> BlockFolder:
        file = os.path.join(path, PLAN)
        if not os.path.exists(file):
            raise ReadError(path, f'is not a folder of evaluate --resume: it has no {PLAN}')
        with opening(file):
            plan = parsed_json(Path(file).read_bytes(), file)
        for field, expected in ('schema', PLAN_SCHEMA), ('version', __version__):
            actual = plan.get(field) if isinstance(plan, dict) else plan
            if actual != expected:
                advice = 'begin in another folder'
                raise FormatError(file, '', field, shown(actual), expected=f'{expected}; {advice}')
        if plan.pop('sha256', '') != digest_of(plan):
            expected = 'the plan that evaluate wrote; begin in another folder'
            raise FormatError(file, '', '', 'an edited plan', expected=expected)
        return cls(path, plan)

    def file(self, run: int, number: int) -> str:
        """Return the path of a block; its name has a hash of all that its values depend on."""
        return os.path.join(self.path, f'{run + 1:03}-{number:05}-{self._key}.json')

    def finished_blocks(self, run: int) -> list[int]:
        """Return the numbers, from 1, of the blocks of a run that are in the folder."""
        with opening(self.path):
            files = set(os.listdir(self.path))
        numbers = range(1, self.n_blocks + 1)
        return [n for n in numbers if os.path.basename(self.file(run, n)) in files]

    @property
    def state(self) -> str:
        """Return how many blocks of all runs are there, as text."""
        runs = range(len(self.plan['runs']))
        n_finished = sum(len(self.finished_blocks(run)) for run in runs)
        return f'{printable(self.path)} has {n_finished} of {self.n_blocks * len(runs)} blocks'

    def write(self, run: int, number: int, block: Evaluation) -> None:
        path = self.file(run, number)
        write_whole(path, block.called(_seal(path, block)).to_json(per_query=True) or '')

    def read(self, run: int, number: int) -> Evaluation:
        from mediaeval_ap.results.json_files import read_results

        path = self.file(run, number)
        try:
            block, *more_results = read_results(path)
        except FormatError as error:
            raise error.with_remedy(
                'it is damaged; delete the file, to compute it again'
            ) from error
        if more_results or not isinstance(block, Evaluation) or block.run != _seal(path, block):
            expected = 'what evaluate wrote there; delete the file, to compute it again'
            actual = 'a damaged block, or a copy of another'
            raise FormatError(path, '', '', actual, expected=expected)
        return replace(block, run='')  # the plan has the names of runs


def collect(path: str | os.PathLike[str]) -> list[Evaluation]:
    """Join the results of the blocks of queries in the folder of an evaluation.

    Parameters
    ----------
    path : str or path-like
        The folder: `resume` of `AveragePrecision.evaluate` or `AveragePrecision.evaluate_part`.

    Returns
    -------
    list of Evaluation
        A result for each run, bit for bit equal to a result of all queries at once.

    Raises
    ------
    ReadError, FormatError
        When a file cannot be read, blocks are missing, or another version wrote the folder.

    Warns
    -----
    WithoutRelevantWarning, DataWarning
        As `AveragePrecision.evaluate`, except those about runs and queries, which were issued when
        the parts were computed.

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
    runs = range(len(folder.plan['runs']))
    n_missing = sum(folder.n_blocks - len(folder.finished_blocks(run)) for run in runs)
    if n_missing:
        reason = f'{n_missing} of {folder.n_blocks * len(runs)} blocks are missing'
        remedy = f'compute them with evaluate … --resume {folder.path}'
        raise ReadError(folder.path, f'{reason}; {remedy}')
    names = run_names([run['name'] for run in folder.plan['runs']], folder.plan['names'])
    evaluations = []
    for run, name in zip(runs, names, strict=True):
        blocks = [folder.read(run, number) for number in range(1, folder.n_blocks + 1)]
        evaluation = finish_evaluation(Evaluation.concat(blocks), folder.plan['n_skipped'])
        evaluations.append(evaluation.called(name))
    warn_caller(warning for evaluation in evaluations for warning in evaluation.warnings)
    return evaluations


def _plan_text(plan: Mapping[str, Any]) -> str:
    return json.dumps({**plan, 'sha256': digest_of(plan)}, indent=2) + '\n'


def _seal(path: str, block: Evaluation) -> str:
    """Return a digest of a block and the name of its file, which stands in place of its run."""
    return digest_of({**block.to_dict(), 'run': os.path.basename(path)})


def _format_value(value: Any) -> str:
    """Format a value of a plan, a setting or an input, for a message."""
    if isinstance(value, list):
        return ', '.join(map(_format_value, value)) or 'none'
    if isinstance(value, dict) and 'name' in value:
        detail = value.get('formula')
        if digest := value.get('sha256'):
            detail = f'SHA-256 {digest[:16]}…'
        return f'{value["name"]} ({detail})' if detail else str(value['name'])
    return 'none' if value is None else str(value)

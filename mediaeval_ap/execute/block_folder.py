"""A folder that keeps an evaluation: its plan, and a file for each block of queries."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    ReadError,
    WriteError,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.scoring import completed
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables import Table
from mediaeval_ap.tables.sources import opening, parsed_json

__all__ = ['collect']

PLAN = 'plan.json'
SCHEMA = 'mediaeval-ap/plan/2'
BLOCK_QUERIES = 100  # a killed process loses seconds of work, and the files stay few

is_block = re.compile('[0-9]{3,}-[0-9]{5,}-[0-9a-f]{16}[.]json').fullmatch


class Folder:
    """A folder, and the plan of its one evaluation: all that values depend on, and ``names``."""

    def __init__(self, path: str, plan: Mapping[str, Any]) -> None:
        self.path = path
        self.plan = plan
        self._key = _digest({**plan, 'names': []})[:16]
        self.n_blocks = -(-plan['n_queries'] // plan['block_queries'])

    @classmethod
    def begin(cls, path: Any, plan: Mapping[str, Any]) -> Folder:
        """Make a folder, or go on with one that has the same plan."""
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(f'resume: found {shown(path)}, expected the path of a folder')
        folder = cls(os.fsdecode(path), plan)
        file = os.path.join(folder.path, PLAN)
        try:
            os.makedirs(folder.path, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = 'is a file, expected a folder' if isinstance(error, FileExistsError) else ''
            raise WriteError(folder.path, reason or str(error)) from error
        before = cls.open(folder.path).plan if os.path.exists(file) else {}
        for field, wanted in plan.items():
            if before and field != 'names' and before.get(field) != wanted:
                advice = 'this folder holds another evaluation: choose another folder, or delete it'
                expected = f'{_told(wanted)}; {advice}'
                raise FormatError(file, '', field, _told(before.get(field)), expected)
        if not before or (any(plan['names']) and before['names'] != plan['names']):
            content = json.dumps({**plan, 'sha256': _digest(plan)}, indent=2)
            write_whole(file, f'{content}\n')
        return folder

    @classmethod
    def open(cls, path: str) -> Folder:
        """Open a folder that an evaluation began."""
        file = os.path.join(path, PLAN)
        if not os.path.exists(file):
            raise ReadError(path, f'holds no {PLAN}, which evaluate with --resume begins')
        with opening(file):
            plan = parsed_json(Path(file).read_bytes(), file)
        for field, expected in ('schema', SCHEMA), ('version', __version__):
            if not isinstance(plan, dict) or plan.get(field) != expected:
                found = shown(plan.get(field) if isinstance(plan, dict) else plan)
                raise FormatError(file, '', field, found, f'{expected}; begin in another folder')
        if plan.pop('sha256', '') != _digest(plan):
            expected = 'what evaluate wrote; begin in another folder'
            raise FormatError(file, '', '', 'an edited plan', expected)
        return cls(path, plan)

    def file(self, run: int, number: int) -> str:
        """Return the path of a block, in whose name is all that its values depend on."""
        return os.path.join(self.path, f'{run + 1:03}-{number:05}-{self._key}.json')

    def done(self, run: int) -> list[int]:
        """Return the numbers of the blocks of a run that are there, from 1."""
        try:
            there = set(os.listdir(self.path))
        except OSError as error:
            raise ReadError(self.path, error.strerror or str(error)) from error
        numbers = range(1, self.n_blocks + 1)
        return [each for each in numbers if os.path.basename(self.file(run, each)) in there]

    def keep(self, run: int, number: int, block: Evaluation) -> None:
        """Write the result of a block; a signal may end the process after it."""
        write_whole(self.file(run, number), block.to_json(per_query=True) or '')

    def read(self, run: int, number: int) -> Evaluation:
        """Return the result of a block as it was written."""
        from mediaeval_ap.results.json_files import read_results

        path = self.file(run, number)
        try:
            (block,) = read_results(path)
        except FormatError as error:
            expected = f'{error.expected}; delete the file, to compute it again'
            raise FormatError(path, error.place, error.field, error.found, expected) from error
        assert isinstance(block, Evaluation)
        return replace(block, run='')  # whatever it was called when it was written


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
    ReadError, FormatError
        When the folder or a file of it cannot be read, blocks are missing, or it is of another
        version.

    Warns
    -----
    WithoutRelevantWarning, DataWarning
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
    folder = Folder.open(os.fsdecode(path))
    runs = range(len(folder.plan['runs']))
    missing = {run: folder.n_blocks - len(folder.done(run)) for run in runs}
    if any(missing.values()):
        told = f'{sum(missing.values())} of {folder.n_blocks * len(runs)} blocks are missing'
        remedy = f'compute them with evaluate … --resume {folder.path}'
        raise ReadError(folder.path, f'{told}; {remedy}')
    names = run_names([run['name'] for run in folder.plan['runs']], folder.plan['names'])
    evaluations = []
    for run, name in zip(runs, names, strict=True):
        blocks = [folder.read(run, number) for number in range(1, folder.n_blocks + 1)]
        whole = completed(Evaluation.concat(blocks), folder.plan['n_skipped'])
        evaluations.append(whole.called(name))
    warn_caller(warning for evaluation in evaluations for warning in evaluation.warnings)
    return evaluations


def digest_of_rows(table: Table) -> str:
    """Return SHA-256 of the rows of a table, however it numbers its texts.

    The digest of a file says nothing of rows that were selected, or never were in a file.
    """
    digest = hashlib.sha256(f'{len(table)} {" ".join(table.layout.fields)}\n'.encode())
    for field in table.layout.texts:
        column = table[field].sorted()
        digest.update(f'{json.dumps(column.values)}\n'.encode())
        digest.update(column.codes.astype('<i4').tobytes())
    if table.numbers is not None:
        digest.update(table.numbers.astype('<f8').tobytes())
    return digest.hexdigest()


def _digest(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def _told(value: Any) -> str:
    """Return a setting or an input as a message names it."""
    if isinstance(value, list):
        return ', '.join(map(_told, value)) or 'none'
    if isinstance(value, dict) and 'name' in value:
        digest = value.get('sha256')
        more = f'SHA-256 {digest[:16]}…' if digest else value.get('formula', '')
        return f'{value["name"]} ({more})' if more else str(value['name'])
    return 'none' if value is None else str(value)

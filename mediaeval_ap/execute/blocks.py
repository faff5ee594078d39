"""Blocks of queries: their results, a file each, in a folder with the plan of the evaluation."""

from __future__ import annotations

import hashlib
import io
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

from mediaeval_ap.atomic_files import why_not_writable, write_whole
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    ReadError,
    WriteError,
    shown,
    warn_caller,
)
from mediaeval_ap.evaluation.scoring import with_skipped, with_warnings
from mediaeval_ap.execute.plan import KEY_DIGITS, STRAY, Plan
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.result import SKIPPED
from mediaeval_ap.results.run_names import run_names
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.sources import content_of, opening

__all__ = ['collect']

PLAN = 'plan.json'
WHOLE: tuple[int, int] = (1, 1)  # the one part of one
# For files of other machines, whose locks are not seen here: a file is renamed to its own name a
# moment after it is begun, unless its process was killed.
TEMPORARY_SECONDS = 3600

_temporary = re.compile(r'\.[0-9a-f]{16}\.tmp').fullmatch
_digits = f'([0-9a-f]{{{KEY_DIGITS}}})'
_name = re.compile(rf'{_digits}-([0-9]{{5,}})-{_digits}\.json').fullmatch


@dataclass(frozen=True)
class Block:
    """Some queries of a run, and the folder that keeps their result, if any; it can be pickled."""

    number: int  # from 1
    names: tuple[str, ...]
    key: str = ''  # of the run
    folder: str = ''

    def keep(self, evaluation: Evaluation) -> Evaluation | None:
        """Write the result of the queries to the folder; return it if there is none."""
        if not self.folder:
            return evaluation
        text = evaluation.to_json(per_query=True)
        assert text is not None
        name = _name_of(self.key, self.number, text.encode())
        # Others follow: a signal must be able to end the process between two of them.
        write_whole(os.path.join(self.folder, name), text)
        return None


class BlockFile(NamedTuple):
    """A file that `Block.keep` has written."""

    path: str
    key: str
    number: int

    @classmethod
    def of(cls, path: str) -> BlockFile | None:
        """Return the file of that path, unless its name is no block's."""
        match = _name(os.path.basename(path))
        return None if match is None else cls(path, match[1], int(match[2]))

    def content(self) -> bytes:
        """Return the content, or refuse it if it is not that of the name."""
        content = content_of(self.path)
        if _name_of(self.key, self.number, content) != os.path.basename(self.path):
            expected = 'the one that its name is made of; delete the file, to compute it again'
            raise FormatError(self.path, '', '', 'content that was cut or edited', expected)
        return content

    def refuse(self, plan: Plan) -> NoReturn:
        """Say how the result differs from those of a plan that does not have it."""
        (result,) = parsed_json(self.content(), self.path)['results']
        plan.check_result(result, self.path)
        field, found, expected = 'key', self.key, 'one of the keys of the plan'
        if self.key in plan.keys:
            field, found, expected = 'number', str(self.number), f'1 to {plan.n_blocks}'
        raise FormatError(self.path, '', field, found, f'{expected}; {STRAY}')

    def read(self) -> Evaluation:
        """Return the result, as it was written."""
        from mediaeval_ap.results.json_files import read_results

        (evaluation,) = read_results(io.BytesIO(self.content()))
        assert isinstance(evaluation, Evaluation)
        return replace(evaluation, run='')  # whatever it was called when it was written


def _name_of(key: str, number: int, content: bytes) -> str:
    """Return the name of a block file, which shows whether it was edited or has moved."""
    stem = f'{key}-{number:05}'
    digest = hashlib.sha256(f'{stem}\n'.encode() + content).hexdigest()[:KEY_DIGITS]
    return f'{stem}-{digest}.json'


@dataclass(frozen=True)
class BlockFolder:
    """The folder of one evaluation in blocks."""

    path: str
    plan: Plan

    @classmethod
    def begin(cls, path: str, plan: Plan) -> BlockFolder:
        """Make a folder, or go on with one that has the same plan."""
        folder = cls(path, plan)
        if '\0' in path:
            raise WriteError(path, 'no path holds a NUL')
        try:
            os.mkdir(path)
        except OSError as error:
            if not os.path.isdir(path):
                is_there = isinstance(error, FileExistsError)
                reason = 'is a file, expected a folder' if is_there else error.strerror
                raise WriteError(path, reason or str(error)) from error
        if not os.path.exists(folder._file(PLAN)):
            folder._files()  # refuses those of another evaluation
            folder._check_writable()
            write_whole(folder._file(PLAN), plan.to_json())
        folder.done()
        if any(plan.names) and _read_plan(folder._file(PLAN)).given != plan.given:  # only renamed
            write_whole(folder._file(PLAN), plan.to_json())
        folder.remove_temporaries()
        return folder

    @classmethod
    def open(cls, path: str) -> BlockFolder:
        """Open a folder that an evaluation began."""
        if not os.path.isdir(path):
            raise ReadError(path, 'is no folder')
        plan = os.path.join(path, PLAN)
        if not os.path.exists(plan):
            raise ReadError(path, f'holds no {PLAN}, which evaluate with --resume begins')
        return cls(path, _read_plan(plan))

    def done(self) -> dict[tuple[str, int], BlockFile]:
        """Return the files of blocks by key and number, if the plan is still the same."""
        path = self._file(PLAN)
        _read_plan(path).check_same(self.plan, path)
        return self._files()

    def missing(
        self, run: int, names: Sequence[str], part: tuple[int, int] = WHOLE
    ) -> tuple[list[Block], int]:
        """Return the blocks of a run in a part that are not done, and how many of it are.

        A part i of n has every n-th block of all runs, from the i-th. What is done is checked.
        """
        i, n = part
        key, n_blocks, size = (
            self.plan.key(run),
            self.plan.n_blocks,
            self.plan.settings['block_queries'],
        )
        done, blocks, n_done = self.done(), [], 0
        for number in range(1, n_blocks + 1):
            if (run * n_blocks + number - i) % n:
                continue
            if file := done.get((key, number)):
                file.content()
                n_done += 1
            else:
                asked = tuple(names[(number - 1) * size : number * size])
                blocks.append(Block(number, asked, key, self.path))
        if blocks:
            self._check_writable()
        return blocks, n_done

    def evaluation(self, run: int) -> Evaluation:
        """Return the result of a run, whose blocks must all be done."""
        self.check_complete([run])
        done, key = self.done(), self.plan.key(run)
        numbers = tracked(range(1, self.plan.n_blocks + 1), 'collecting', ' blocks')
        whole = Evaluation.concat(done[key, number].read() for number in numbers)
        return with_skipped(whole, self.plan.settings.get(SKIPPED, 0))

    def check_complete(self, runs: Sequence[int]) -> None:
        """Refuse blocks that are missing."""
        done, n_blocks = self.done(), self.plan.n_blocks
        missing = [
            (self.plan.runs[run]['name'], numbers)
            for run, key in ((run, self.plan.key(run)) for run in runs)
            if (numbers := [each for each in range(1, n_blocks + 1) if (key, each) not in done])
        ]
        if not missing:
            return
        (name, numbers), *others = missing
        n_others = sum(len(each) for _, each in others)
        reason = (
            f'{len(numbers)} of {n_blocks} blocks of {name} are missing (the first is block '
            f'{numbers[0]}){f", and {n_others} of other runs" if n_others else ""}'
        )
        if not done:
            reason = 'no block is computed yet'
        raise ReadError(self.path, f'{reason}; compute them with evaluate … --resume {self.path}')

    def _file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _files(self) -> dict[tuple[str, int], BlockFile]:
        keys = self.plan.keys
        files: dict[tuple[str, int], BlockFile] = {}
        for name in self._listed():
            if (file := BlockFile.of(self._file(name))) is None:
                continue
            if file.key not in keys or not 0 < file.number <= self.plan.n_blocks:
                file.refuse(self.plan)
            if other := files.get((file.key, file.number)):
                expected = f'those of {other.path}; delete both, to compute them again'
                raise FormatError(file.path, '', '', 'other values', expected)
            files[file.key, file.number] = file
        return files

    def _listed(self) -> list[str]:
        with opening(self.path):
            return sorted(os.listdir(self.path))

    def _check_writable(self) -> None:
        if not os.access(self.path, os.W_OK | os.X_OK):
            error = why_not_writable(self.path)
            raise WriteError(self.path, str(error.strerror)) from error

    def remove_temporaries(self) -> None:
        """Remove what processes left that were killed as they wrote; raise nothing."""
        with suppress(OSError):  # the folder cannot be read
            for name in self._listed():
                if _temporary(name):
                    with suppress(OSError):  # gone already, or not ours to remove
                        path = self._file(name)
                        if time.time() - os.stat(path).st_mtime > TEMPORARY_SECONDS:
                            os.unlink(path)


def _read_plan(path: str) -> Plan:
    return Plan.from_json(content_of(path), path)


def is_kept(path: str) -> bool:
    """Return whether a file has the name of a plan or of a block."""
    return os.path.basename(path) == PLAN or BlockFile.of(path) is not None


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
    names = run_names([run['name'] for run in folder.plan.runs], folder.plan.given)
    evaluations = [
        with_warnings(folder.evaluation(run)._called(name))
        for run, name in zip(runs, names, strict=True)
    ]
    warn_caller(warning for evaluation in evaluations for warning in evaluation.warnings)
    return evaluations

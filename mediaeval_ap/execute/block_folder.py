"""The folder of one evaluation in blocks: its plan, and the blocks that are done."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from mediaeval_ap.atomic_files import lock_abandoned, machine, why_not_writable, write_whole
from mediaeval_ap.errors import FormatError, ReadError, WriteError
from mediaeval_ap.evaluation.whole_run import with_skipped
from mediaeval_ap.execute.block_files import Block, BlockFile
from mediaeval_ap.execute.plan import Plan
from mediaeval_ap.progress import tracked
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.means_and_notes import SKIPPED
from mediaeval_ap.tables.sources import content_of, opening

PLAN = 'plan.json'
WHOLE: tuple[int, int] = (1, 1)  # the one part of one
# A choice, for files of other machines, whose locks are not seen here: a file takes its place a
# moment after it is begun, unless its process was killed.
TEMPORARY_SECONDS = 3600

_temporary = re.compile(r'\.([0-9a-f]{8})?[0-9a-f]{16}\.tmp').fullmatch


def is_kept(path: str) -> bool:
    """Return whether a file has the name of a plan or of a block."""
    return os.path.basename(path) == PLAN or BlockFile.of(path) is not None


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
            write_whole(folder._file(PLAN), plan.to_json(), is_last=False)
        folder.done()
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
        key, n_blocks, size = self.plan.key(run), self.plan.n_blocks, self.plan.block_queries
        done, blocks, n_done = self.done(), [], 0
        for number in range(1, n_blocks + 1):
            if (run * n_blocks + number - i) % n:
                continue
            if file := done.get((key, number)):
                file.content()
                n_done += 1
            else:
                asked = tuple(names[(number - 1) * size : number * size])
                blocks.append(Block(self.path, key, number, asked))
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
        missing = []
        for run in runs:
            key = self.plan.key(run)
            numbers = [each for each in range(1, n_blocks + 1) if (key, each) not in done]
            if numbers:
                missing.append((self.plan.runs[run]['name'], numbers))
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
                if match := _temporary(name):
                    with suppress(OSError):  # gone already, or not ours to remove
                        _remove_abandoned(self._file(name), match[1] == machine())


def _remove_abandoned(path: str, is_of_this_machine: bool) -> None:
    if is_of_this_machine:
        try:
            with lock_abandoned(path):
                os.unlink(path)
        except BlockingIOError:  # somebody is writing it
            return
        except OSError:  # no locks here: its age has to tell
            pass
    if time.time() - os.stat(path).st_mtime > TEMPORARY_SECONDS:
        os.unlink(path)


def _read_plan(path: str) -> Plan:
    return Plan.from_json(content_of(path), path)

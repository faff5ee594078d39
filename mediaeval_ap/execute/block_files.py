"""Results of blocks of queries, a file each."""

from __future__ import annotations

import hashlib
import io
import os
import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.errors import FormatError
from mediaeval_ap.execute.plan import KEY_DIGITS, STRAY, Plan
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.json_files import read_results
from mediaeval_ap.tables.json_text import parsed_json
from mediaeval_ap.tables.sources import content_of

_digits = f'([0-9a-f]{{{KEY_DIGITS}}})'
_name = re.compile(rf'{_digits}-([0-9]{{5,}})-{_digits}\.json').fullmatch


@dataclass(frozen=True)
class Block:
    """Some queries of a run, and the folder that gets their result; it can be pickled."""

    folder: str
    key: str  # of the run
    number: int  # from 1
    names: tuple[str, ...]

    def write(self, evaluation: Evaluation) -> None:
        """Write the result of the queries: the file is there whole, or not at all."""
        text = evaluation.to_json(per_query=True)
        assert text is not None
        name = _name_of(self.key, self.number, text.encode())
        # Others follow: a signal must be able to end the process between two of them.
        write_whole(os.path.join(self.folder, name), text, is_last=False)


class BlockFile(NamedTuple):
    """A file that `Block.write` has written."""

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
        (evaluation,) = read_results(io.BytesIO(self.content()))
        assert isinstance(evaluation, Evaluation)
        return evaluation


def _name_of(key: str, number: int, content: bytes) -> str:
    """Return the name of a block file, which shows whether it was edited or has moved."""
    stem = f'{key}-{number:05}'
    digest = hashlib.sha256(f'{stem}\n'.encode() + content).hexdigest()[:KEY_DIGITS]
    return f'{stem}-{digest}.json'

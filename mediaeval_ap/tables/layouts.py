"""The fields of each kind of table: of lines in their order, of files with a header in any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mediaeval_ap.errors import shown

_find_comment = re.compile(rb'(?m)^[ \t]*#[ \t]+[^ \t\n]').search
UNNAMED = 'Unnamed: 0'
IN_PARQUET = '__index_level_0__'
# The names that pandas gives to an index without a name: in CSV, in CSV read again, in Parquet, and
# by `reset_index`. It would be scored as a class.
_is_saved_index = re.compile(
    r'|Unnamed: [0-9]+|__index_level_[0-9]+__|index|level_[0-9]+'
).fullmatch


@dataclass(frozen=True)
class Layout:
    """The fields of one kind of table.

    >>> HYPOTHESIS.fields
    ('corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence')
    """

    name: str  # for messages
    texts: tuple[str, ...]  # the fields of text, in order
    number: str | None = None  # the field of finite numbers
    n_before: int | None = None  # how many texts stand before it; by default all
    integers: bool = False  # lines hold integers there, in digits
    comment: bytes | None = None  # a regular expression for the beginning of a comment line

    @cached_property
    def is_comment(self) -> Callable[[bytes], object]:
        """The function that matches the beginning of a comment."""
        return re.compile(self.comment or rb'(?!)').match

    def holds_comment(self, lines: bytes) -> bool:
        """Return whether # and another word begin a line, where a comment is wrong."""
        return self.comment is None and b'#' in lines and bool(_find_comment(lines))

    @cached_property
    def number_at(self) -> int:
        """The position of the number among all fields, from 0."""
        return len(self.texts) if self.n_before is None else self.n_before

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """All fields, in order."""
        if self.number is None:
            return self.texts
        return (*self.texts[: self.number_at], self.number, *self.texts[self.number_at :])

    @property
    def expected(self) -> str:
        """The fields of a line, as an error message asks for them."""
        count = len(self.fields)
        return f'{count} field{"s" if count > 1 else ""}: {" ".join(self.fields)}'


@dataclass(frozen=True)
class RecordLayout:
    """The columns of a file with a header, or of one whose columns are known by position.

    It must have the columns `texts`, and `numbers`, whose cells may be empty. With `other_numbers`,
    all others, at least one (of `classes`, if given; true and false are numbers there), hold finite
    numbers, with `may_lack` perhaps in empty cells; without it they are passed over.
    """

    texts: tuple[str, ...]
    other_numbers: bool = False
    classes: frozenset[str] = frozenset()
    numbers: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()  # what the columns of text, then of numbers, are; else their names
    has_header: bool = True
    remedy: str = ''  # for a file with other columns
    may_lack: bool = False
    described: str = ''  # what messages expect; else the columns
    by_index: bool = False  # a saved index has the ids

    @cached_property
    def by_role(self) -> dict[str, str]:
        """The names of the columns of text and of numbers, by role."""
        names = (*self.texts, *self.numbers)
        return dict(zip(self.roles or names, names, strict=True))

    @property
    def expected(self) -> str:
        """The columns, as an error message asks for them."""
        others = ', and columns of numbers' * self.other_numbers
        return self.described or f'{",".join(self.by_role.values())}{others}'

    def explain(self, header: Sequence[str]) -> tuple[str, str] | None:
        """Explain what is found and expected where columns do not fit; None where they do."""
        if missing := self.missing(header):
            return f'no {"column " * self.has_header}{missing[0]}', self.expected
        times = Counter(header)
        if repeated := [name for name in self.columns(header) if times[name] > 1]:
            return f'column {shown(repeated[0])} twice', 'each column once'
        is_of_others = self.classes.isdisjoint(header) if self.classes else False
        if self.other_numbers and (is_of_others or len(header) == len(self.texts)):
            return 'no column of numbers', self.expected
        read = (self.may_lack and self.classes) or header
        others = [name for name in read if name not in self.texts]
        if self.other_numbers and (saved := list(filter(_is_saved_index, others))):
            found = f'column {shown(saved[0])}, as of a saved index,'
            return found, f'{self.expected}; save without it, in pandas index=False'
        return None

    def of_header(self, header: Sequence[str]) -> RecordLayout:
        """Return the layout of a file with these columns, by the names of those of numbers."""
        if not self.may_lack:
            return self
        known = self.classes or header
        others = tuple(name for name in header if name not in self.texts and name in known)
        roles = (*(self.roles or self.texts), *others)
        chosen = replace(self, other_numbers=False, may_lack=False, numbers=others, roles=roles)
        return replace(chosen, classes=frozenset(others))

    def of_index(self, header: Sequence[str]) -> RecordLayout | None:
        """Return the layout with ids in a saved index, if a file has one and no column of ids."""
        index = header[0] if {*header[:1]} & {'', UNNAMED} else IN_PARQUET
        layout = replace(self, texts=(index, *self.texts[1:]), by_index=True)
        has_ids = self.roles[:1] in (('id',), ('item',)) and self.texts[0] not in header
        return None if not has_ids or layout.explain(header) else layout.of_header(header)

    def missing(self, header: Sequence[str]) -> list[str]:
        """Return the columns that a file with these columns lacks."""
        return [name for name in self.by_role.values() if name not in header]

    def columns(self, header: Sequence[str]) -> Sequence[str]:
        """Return the columns that are read of a file with these columns."""
        return header if self.other_numbers else list(self.by_role.values())


def column_at(position: int) -> str:
    """Return how messages call a column of a file without a header; positions begin at 1."""
    return f'column {position}'


SHOT_FIELDS = ('corpus_id', 'video_id', 'shot_id')  # they identify a shot

REFERENCE = Layout('reference', (*SHOT_FIELDS, 'person_name'))
HYPOTHESIS = Layout('hypothesis', REFERENCE.texts, 'confidence')
SUBSET = Layout('subset', ('corpus_id', 'video_id'))
QUERIES = Layout('queries', ('person_name',))

# Comments are as trec_eval 10 has them: only in a run may white space stand before the mark.
QRELS = Layout('qrels', ('qid', 'iteration', 'docno'), 'relevance', integers=True, comment=rb'#')
RUN = Layout(
    'TREC run', ('qid', 'q0', 'docno', 'rank', 'tag'), 'score', n_before=4, comment=rb'[ \t]*#'
)

# What was looked at: shots, for all names; or pairs of a shot and a name, and what was found.
JUDGED_SHOTS = Layout('judged list', SHOT_FIELDS)
JUDGED = Layout('judged list', REFERENCE.texts, 'relevance', integers=True)

# Other files of a campaign; times are kept as text.
SHOTS = Layout('shot list', (*SHOT_FIELDS, 'start_time', 'end_time'))
EVIDENCE = Layout('evidence', ('person_name', 'corpus_id', 'video_id', 'modality'), 'timestamp')

# The campaign of 2015 had one corpus, and did not name it.
REFERENCE_2015 = Layout('reference', ('video_id', 'shot_id', 'person_name'))
HYPOTHESIS_2015 = Layout('hypothesis', REFERENCE_2015.texts, 'confidence')
SUBSET_2015 = Layout('subset', ('video_id',))
SHOTS_2015 = Layout(
    'shot list', ('video_id', 'shot_id', 'start_time', 'end_time', 'first_frame', 'last_frame')
)
EVIDENCE_2015 = Layout('evidence', ('person_name', 'video_id', 'shot_id', 'source'))
SHOT_IDS_2015 = Layout(SHOTS_2015.name, SHOTS_2015.texts[:2])
CONSENSUS_2015 = Layout('consensus', ('video_id', 'shot_id'))
EVIDENCE_REFERENCE_2015 = Layout('evidence reference', (*REFERENCE_2015.texts, 'source'))

# Files that may be taken for one another; first those whose rows say most about what they are.
FAMILIES = (
    (EVIDENCE, SHOTS, HYPOTHESIS, REFERENCE, SUBSET),
    (EVIDENCE_2015, SHOTS_2015, HYPOTHESIS_2015, REFERENCE_2015),
    (QRELS, RUN),
)

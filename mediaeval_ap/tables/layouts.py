"""Layouts: the fields of each kind of table; a header may name them in any order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mediaeval_ap.errors import FormatError, shown

_find_comment = re.compile(rb'(?m)^[ \t]*#[ \t]+[^ \t\n]').search
UNNAMED_INDEX = 'Unnamed: 0'
PARQUET_INDEX = '__index_level_0__'
# A missing number as R, JSON, pandas and spreadsheets write it.
NA = r'(?i)^[ \t]*(?:na|nan|null|none|n/a|#n/a|<na>|-)[ \t]*$'
# The names that pandas gives to an index without a name: in CSV, in CSV read again, in Parquet, and
# by `reset_index`. Such a column would be scored as a class.
_is_index = re.compile(r'|Unnamed: [0-9]+|__index_level_[0-9]+__|index|level_[0-9]+').fullmatch


@dataclass(frozen=True)
class Layout:
    """The fields of one kind of table.

    >>> HYPOTHESIS.fields
    ('corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence')
    """

    name: str  # for messages
    texts: tuple[str, ...]  # the text fields, in order
    number: str | None = None  # the field of finite numbers
    n_before: int | None = None  # the number of text fields before it; all if None
    integers: bool = False  # lines have an integer there, in digits
    remedy: str = ''  # where a number with decimals stands in place of an integer
    comment: bytes | None = None  # a regular expression for the beginning of a comment line
    unnumbered: str = ''  # the text field whose column has a code for each row, not each text

    @cached_property
    def is_comment(self) -> Callable[[bytes], object]:
        """A function that matches the beginning of a comment line."""
        return re.compile(self.comment or rb'(?!)').match

    def holds_comment(self, lines: bytes) -> bool:
        """Return True if a line begins with # and a word, in a layout without comments."""
        return self.comment is None and b'#' in lines and bool(_find_comment(lines))

    @cached_property
    def number_at(self) -> int:
        """The position of the number field among all fields, from 0."""
        return len(self.texts) if self.n_before is None else self.n_before

    @cached_property
    def fields(self) -> tuple[str, ...]:
        if self.number is None:
            return self.texts
        return (*self.texts[: self.number_at], self.number, *self.texts[self.number_at :])

    @property
    def expected(self) -> str:
        """The fields of a line, for error messages."""
        return f'{fields_in_words(len(self.fields))}: {" ".join(self.fields)}'


@dataclass(frozen=True)
class RecordLayout:
    """The columns of a file with a header, or of a file whose columns are known by position."""

    texts: tuple[str, ...]  # the columns of text that the file must have
    other_numbers: bool = False  # other columns are read, at least one, all of finite numbers
    classes: frozenset[str] = frozenset()  # at least one is there; true and false are numbers
    numbers: tuple[str, ...] = ()  # more required columns, whose cells may be empty
    roles: tuple[str, ...] = ()  # the roles of `texts`, then of `numbers`; by default their names
    optional: tuple[tuple[str, str], ...] = ()  # roles and text columns that are read if present
    has_header: bool = True
    remedy: str = ''  # advice in the error about a file that lacks a column
    lists_remedy: str = ''  # advice in the error about lists where a row has one label
    allow_missing: bool = False  # cells of other columns may be empty
    allow_na: bool = False  # cells of `numbers` may match `NA`
    description: str = ''  # the expected columns in messages; by default their names
    from_saved_index: bool = False  # True if the ids are in a saved index
    unread: str = ''  # a column beside a saved index, which may have the ids

    @cached_property
    def by_role(self) -> dict[str, str]:
        names = (*self.texts, *self.numbers)
        return dict(zip(self.roles or names, names, strict=True))

    @property
    def expected(self) -> str:
        """The columns, for error messages."""
        names = ','.join(self.by_role.values())
        if self.other_numbers:
            names += ', and columns of numbers'
        return self.description or names

    def with_optional(self, header: Sequence[str]) -> RecordLayout:
        """Return the layout whose texts include the optional columns of a header."""
        present = {role: name for role, name in self.optional if name in header}
        roles = self.roles or (*self.texts, *self.numbers)
        roles = (*roles[: len(self.texts)], *present, *roles[len(self.texts) :])
        return replace(self, texts=(*self.texts, *present.values()), roles=roles, optional=())

    def explain(self, header: Sequence[str]) -> tuple[str, str] | None:
        """Return the problem of a header and the expected columns; None if the header fits."""
        if self.optional:
            return self.with_optional(header).explain(header)
        if (missing := self.missing(header)) and self.has_header:
            return f'no column {missing[0]}', self.expected
        if missing:
            return f'no {missing[0]}', self.expected
        times = Counter(header)
        if repeated := [name for name in self.columns(header) if times[name] > 1]:
            return f'column {shown(repeated[0])} twice', 'each column once'
        lacks_classes = bool(self.classes) and self.classes.isdisjoint(header)
        if self.other_numbers and (lacks_classes or len(header) == len(self.texts)):
            return 'no column of numbers', self.expected
        read_columns = (self.allow_missing and self.classes) or header
        number_columns = [name for name in read_columns if name not in self.texts]
        if self.other_numbers and (indexes := list(filter(_is_index, number_columns))):
            problem = f'column {shown(indexes[0])}, which looks like a saved index,'
            return problem, f'{self.expected}; save without it, in pandas index=False'
        return None

    def for_header(self, header: Sequence[str]) -> RecordLayout:
        """Return the layout for a header; with `allow_missing`, it names the number columns."""
        if self.optional:
            return self.with_optional(header).for_header(header)
        if not self.allow_missing:
            return self
        classes = self.classes or header
        numbers = tuple(name for name in header if name not in self.texts and name in classes)
        roles = (*(self.roles or self.texts), *numbers)
        return replace(
            self,
            other_numbers=False,
            allow_missing=False,
            numbers=numbers,
            roles=roles,
            classes=frozenset(numbers),
        )

    def for_saved_index(self, header: Sequence[str]) -> RecordLayout | None:
        """Return the layout with ids in a saved index, if a header has one but no column of ids."""
        index = next((name for name in header[:1] if name in ('', UNNAMED_INDEX)), PARQUET_INDEX)
        layout = replace(self, texts=(index, *self.texts[1:]), from_saved_index=True)
        lacks_ids = self.roles[:1] in (('id',), ('item',)) and self.texts[0] not in header
        if not lacks_ids or layout.explain(header):
            return None
        read_columns = {*layout.columns(header), *(name for _, name in self.optional)}
        unread = next((name for name in header if name not in read_columns), '')
        return replace(layout.for_header(header), unread=unread)

    def missing(self, header: Sequence[str]) -> list[str]:
        return [name for name in self.by_role.values() if name not in header]

    def columns(self, header: Sequence[str]) -> Sequence[str]:
        """Return the columns to read from a file with this header."""
        return header if self.other_numbers else list(self.by_role.values())


def choose_layout(
    header: Sequence[str],
    layouts: Sequence[RecordLayout],
    source: str,
    where: str = '',
    *,
    advice: str = '',
) -> RecordLayout:
    """Return the first layout that fits the columns of a file, or raise FormatError."""
    problems = []
    for layout in layouts:
        if (problem := layout.explain(header)) is None:
            return layout.for_header(header)
        if (indexed_layout := layout.for_saved_index(header)) is not None:
            return indexed_layout
        name_of = {name.casefold(): name for name in layout.missing(header)}
        renamed = [name_of.get(column.casefold(), column) for column in header]
        if renamed != [*header] and layout.explain(renamed) is None:
            pairs = zip(header, renamed, strict=True)
            old, new = next((old, new) for old, new in pairs if old != new)
            remedy = 'names of columns are compared letter by letter'
            actual = f'column {shown(old)}'
            raise FormatError(source, where, '', actual, expected=shown(new), remedy=remedy)
        problems.append(problem)
    # A wrong or repeated column says more about the file than a missing one.
    problem_found, expected = min(problems, key=lambda problem: problem[0].startswith('no '))
    if problem_found.startswith('no '):
        expected = expected_columns(layouts)
        if layouts[0].missing(header):
            expected += layouts[0].remedy + advice
        if {*HYPOTHESIS.fields} <= {*header}:
            expected += '; this is a run: compare REFERENCE RUN, in Python results of evaluate'
        for role, name in layouts[0].by_role.items():
            if role.startswith('--') and name not in header:  # an option that all layouts share
                problem_found, expected = f'no column {name}', f'one of these for {role}'
    actual = f'{problem_found} in {shown(",".join(header))}'
    raise FormatError(source, where, '', found=actual, expected=expected)


def expected_columns(layouts: Sequence[RecordLayout]) -> str:
    return ' or '.join(dict.fromkeys(layout.expected for layout in layouts))


def fields_in_words(count: int) -> str:
    return '1 field' if count == 1 else f'{count} fields'


def column_at(position: int) -> str:
    """Name a column of a file without a header, by its position from 1."""
    return f'column {position}'


SHOT_FIELDS = ('corpus_id', 'video_id', 'shot_id')  # they identify a shot
STRATUM = 'stratum'

REFERENCE = Layout('reference', (*SHOT_FIELDS, 'person_name'))
HYPOTHESIS = Layout('hypothesis', REFERENCE.texts, 'confidence')
SUBSET = Layout('subset', ('corpus_id', 'video_id'))
QUERIES = Layout('queries', ('person_name',))

# Comments as in trec_eval 10: white space may precede the mark only in a run.
QRELS = Layout(
    'qrels',
    ('qid', 'iteration', 'docno'),
    'relevance',
    integers=True,
    remedy='; decimals need a level with decimals: --relevance-level 0.5, in Python '
    'relevance_level=0.5',
    comment=rb'#',
)
# A pool that is judged as a sample by strata; -1: pooled, not judged.
SAMPLED_QRELS = replace(QRELS, texts=(*QRELS.texts, STRATUM))
RUN = Layout(
    'TREC run', ('qid', 'q0', 'docno', 'rank', 'tag'), 'score', n_before=4, comment=rb'[ \t]*#'
)

# Judgements: shots judged for all names; or pairs of a shot and a name, with their relevance.
JUDGED_SHOTS = Layout('judged list', SHOT_FIELDS)
JUDGED = Layout('judged list', REFERENCE.texts, 'relevance', integers=True)

# Other files of a campaign; times stay text.
SHOTS = Layout('shot list', (*SHOT_FIELDS, 'start_time', 'end_time'))
EVIDENCE = Layout('evidence', ('person_name', 'corpus_id', 'video_id', 'modality'), 'timestamp')

# The campaign of 2015 had one corpus without a name.
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

# Files that users confuse, by campaign. The layouts that a row identifies best come first.
FAMILIES = (
    (EVIDENCE, SHOTS, HYPOTHESIS, REFERENCE, SUBSET),
    (EVIDENCE_2015, SHOTS_2015, HYPOTHESIS_2015, REFERENCE_2015),
    (QRELS, RUN),
)

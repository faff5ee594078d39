"""The problems of a submission and their kinds: all counted, the first ones written out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import __version__
from mediaeval_ap.choices import MAX_PROBLEMS
from mediaeval_ap.errors import printable, with_noun
from mediaeval_ap.render.document import Block, Document, Grid, Heading, Remarks
from mediaeval_ap.tables.table import Provenance, Table

PROBLEMS_SCHEMA = 'mediaeval-ap/problems/1'

Detail: TypeAlias = tuple[str, str, str]  # field, found, expected
Severity = Literal['error', 'warning']
_ERRORS = {
    'long-line': 'end each row with a line end',
    'encoding': 'save the file as UTF-8 text with LF or CR LF line ends',
    'other-format': 'give the rows as lines of text',
    'empty': 'write one row per line, or leave the file out',
    'header': 'remove this line',
    'field-count': 'give the line these fields, separated by spaces or tabs, without spaces inside '
    'them',
    'columns': 'write the columns in this order',
    'joined': 'keep one copy: the file was joined to itself',
    'confidence': 'write a finite decimal number',
    'timestamp': 'write the seconds since the start of the video',
    'name': 'transliterate the name to lower-case letters, with _ for every space',
    'leading-zeros': 'copy all ids as the reference has them, zeros included: such rows score '
    'nothing',
    'unknown-shot': 'copy video and shot ids, zeros included, from the shot list',
    'unknown-video': 'copy the ids of the video from the list',
    'modality': 'write one of these words',
    'repeated-evidence': 'keep one line of evidence per name',
    'missing-evidence': 'add a line of evidence for the name, or drop its hypotheses',
    'unused-evidence': 'spell the name as in the hypotheses, or drop the line',
}
_WARNINGS = {
    'cut-line': 'copy the file again, or end it with a line end',
    'other-file': 'check which file is which',
    'repeated-row': 'drop the line',
    'two-confidences': 'keep one confidence per shot and name',
    'several-names': 'keep them only if all of these people are in the shot',
    'near-names': 'if they are the same person, spell the name one way',
    'not-nfc': 'write the name in NFC',
    'upper-case': 'write the name in lower case',
    'equal-confidences': 'give surer hypotheses higher confidences; equal ones leave the order to '
    'tie-breaking',
    'single-precision': 'write confidences further apart, or equal: tools that read single '
    'precision, as trec_eval 9, see ties',
    'unlisted-video': 'check the ids of the video; hypotheses for it do not count',
    'unreferenced-video': 'check the ids of the video; none of its shots can be relevant',
    'unreferenced-name': 'check the spelling; the person may be in no shot of the reference',
}
# In a campaign, shots show several people, and systems know people that the reference lacks.
USUAL = 'several-names', 'unreferenced-name'


@dataclass(frozen=True)
class Kind:
    """A kind of problem with its remedy; a campaign refuses runs with errors."""

    name: str
    severity: Severity
    remedy: str = field(repr=False)

    def __str__(self) -> str:
        return self.name


PROBLEM_KINDS = {
    **{name: Kind(name, 'error', remedy) for name, remedy in _ERRORS.items()},
    **{name: Kind(name, 'warning', remedy) for name, remedy in _WARNINGS.items()},
}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a file of a submission, or a suspicious row that deserves a warning.

    Examples
    --------
    >>> from mediaeval_ap import validate
    >>> (problem,) = validate([('x', 'v', '1', 'Ann', 0.5)], rules='none')
    >>> print(problem.kind, problem.line, problem.field, problem.found, problem.expected)
    upper-case 1 person_name 'Ann' 'ann'
    >>> str(problem)
    "<hypothesis>:1: warning: [upper-case] person_name: found 'Ann', expected 'ann'"
    """

    kind: Kind  # prints as its name
    severity: Severity  # a campaign refuses runs with errors
    source: str  # the name of the file
    line: int  # from 1; in a table of values, the number of the row
    field: str  # empty if the whole line or file is wrong
    found: str
    expected: str
    remedy: str

    def __str__(self) -> str:
        """Return the line that the command prints, in the style of GNU."""
        head = f'{printable(self.source)}:{self.line}: {self.severity}: [{self.kind}]'
        field = self.field and f'{self.field}: '
        return f'{head} {field}found {self.found}, expected {self.expected}'

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the problem, with the name of its kind, for JSON.

        Returns
        -------
        dict
        """
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {'kind': self.kind.name}


@dataclass(frozen=True)
class Finding:
    """The problems of one kind in one file; `count` includes those that are not written out."""

    kind: str
    count: int
    problems: Callable[[], Iterator[Problem]]  # in the order of the file

    def __iter__(self) -> Iterator[Problem]:
        return self.problems()


def problem_at(kind: str, table: Table, line: int, detail: Detail, remedy: str = '') -> Problem:
    """Return a problem of a kind in a line; by default with the remedy of the kind."""
    full_kind = PROBLEM_KINDS[kind]
    remedy = remedy or full_kind.remedy
    return Problem(full_kind, full_kind.severity, table.source.name, line, *detail, remedy=remedy)


def at_rows(
    kind: str, table: Table, rows: NDArray[np.int64], detail_of: Callable[[int], Detail]
) -> Finding:
    """Return the problems of ascending rows; `detail_of` runs only for problems written out."""

    def problems() -> Iterator[Problem]:
        for row in map(int, rows):
            yield problem_at(kind, table, table.lines[row], detail_of(row))

    return Finding(kind, len(rows), problems)


class Findings:
    """All problems of a submission; at most `max_problems` of each kind are written out."""

    def __init__(
        self,
        rules: str,
        findings: Iterable[Finding],
        inputs: Mapping[str, Provenance],
        rows: Mapping[str, int],
        max_problems: int = MAX_PROBLEMS,
    ) -> None:
        self.rules = rules
        self.inputs = inputs
        self.rows = rows
        self.max_problems = max_problems
        self._findings: dict[Kind, list[Finding]] = {}
        order = list(PROBLEM_KINDS)
        for finding in sorted(findings, key=lambda finding: order.index(finding.kind)):
            if finding.count:
                self._findings.setdefault(PROBLEM_KINDS[finding.kind], []).append(finding)
        self.counts = counts = {
            kind: sum(finding.count for finding in findings_of_kind)
            for kind, findings_of_kind in self._findings.items()
        }
        self.left_out = {kind: n - max_problems for kind, n in counts.items() if n > max_problems}

    def count(self, severity: Severity) -> int:
        return sum(count for kind, count in self.counts.items() if kind.severity == severity)

    def problems(self, most: int | None = None) -> list[Problem]:
        """Return the first problems of each kind, errors first, in the order of the files."""
        return list(chain.from_iterable(self.by_kind(most).values()))

    def by_kind(self, most: int | None = None) -> dict[Kind, list[Problem]]:
        names = [source.name for source in self.inputs.values()]

        def file_and_line(problem: Problem) -> tuple[int, int]:
            return names.index(problem.source), problem.line

        if most is None or most > self.max_problems:
            most = self.max_problems
        return {
            kind: list(islice(merge(*findings_of_kind, key=file_and_line), most))
            for kind, findings_of_kind in self._findings.items()
        }


def problems_document(findings: Mapping[str, Findings], most: int | None = None) -> Document:
    """Return the findings of runs, by name, as a document; JSON has a list for several runs."""

    def blocks() -> Iterator[Block]:
        for run, findings_of_run in findings.items():
            if len(findings) > 1:
                yield Heading(run)
            yield from _findings_blocks(findings_of_run, most)

    def json_value() -> Any:
        values = [
            {'run': run} | _findings_json(findings_of_run, most)
            for run, findings_of_run in findings.items()
        ]
        return values[0] if len(values) == 1 else values

    def rows() -> Grid:
        cells = [
            [run, *problem.to_dict().values()]
            for run, findings_of_run in findings.items()
            for problem in findings_of_run.problems(most)
        ]
        return Grid(['run', *Problem.__slots__], cells)

    return Document(blocks, json_value, rows)


def statistics(findings: Mapping[str, Findings]) -> Document:
    """Return the number of problems of each kind in each run, and verdicts of several runs."""
    counts_by_run = {run: findings_of_run.counts for run, findings_of_run in findings.items()}
    kinds = [kind for kind in PROBLEM_KINDS.values() if kind in {*chain(*counts_by_run.values())}]
    cells = [
        [run, kind.name, kind.severity, count]
        for run, counts in counts_by_run.items()
        for kind, count in counts.items()
    ]
    long = Grid(['run', 'kind', 'severity', 'count'], cells)
    wide_rows = []
    runs_by_file = defaultdict[str | None, list[str]](list)
    for run, findings_of_run in findings.items():
        totals = findings_of_run.count('error'), findings_of_run.count('warning')
        verdict = 'not valid' if totals[0] else 'valid'
        wide_rows.append([run, verdict, *totals, *map(findings_of_run.counts.get, kinds)])
        runs_by_file[findings_of_run.inputs['hypothesis'].sha256].append(printable(run))
    copies = [runs for sha256, runs in runs_by_file.items() if sha256 and len(runs) > 1]
    columns = ['run', 'verdict', 'errors', 'warnings', *(kind.name for kind in kinds)]
    blocks: list[Block] = [long]
    if len(findings) > 1:
        notes = [f'The same file: {", ".join(runs)}\n' for runs in copies]
        blocks = [Grid(columns, wide_rows), ''.join([*notes, '--examples lists the problems\n'])]
    return Document(lambda: blocks, long.objects, lambda: long)


def _findings_blocks(findings: Findings, most: int | None) -> Iterator[Remarks | str]:
    for kind, problems in findings.by_kind(most).items():
        is_usual = kind.name in USUAL and findings.rules != 'none' and most is not None
        listed = [] if is_usual else problems
        remarks = [(str(problem), problem.remedy) for problem in listed]
        more = ''
        if n_more := findings.counts[kind] - len(remarks):
            more = f'… and {n_more:,} more [{kind}]'
            if is_usual:
                more = f'{n_more:,} [{kind}], as is usual: --all lists them'
            elif kind in findings.left_out:
                more += f'; at most {findings.max_problems:,} of a kind are listed'
        yield Remarks(remarks, more)
    errors = with_noun(findings.count('error'), 'error', 'errors')
    warnings = with_noun(findings.count('warning'), 'warning', 'warnings')
    rows = with_noun(findings.rows['hypothesis'], 'row', 'rows')
    name = printable(findings.inputs['hypothesis'].name)
    yield f'{errors}, {warnings} in {rows} of {name} (rules {findings.rules})\n'


def _findings_json(findings: Findings, most: int | None) -> dict[str, Any]:
    written = findings.by_kind(most)
    counts = findings.counts
    n_beyond = {kind.name: count - len(written[kind]) for kind, count in counts.items()}
    left_out = {kind: count for kind, count in n_beyond.items() if count}
    return {
        'schema': PROBLEMS_SCHEMA,
        'version': __version__,
        'rules': findings.rules,
        'inputs': {
            role: {'name': source.name, 'sha256': source.sha256, 'rows': findings.rows[role]}
            for role, source in findings.inputs.items()
        },
        'errors': findings.count('error'),
        'warnings': findings.count('warning'),
        'counts': {kind.name: count for kind, count in counts.items()},
        'max_problems': findings.max_problems,
        'truncated': bool(left_out),
        'left_out': left_out,
        'problems': [problem.to_dict() for problems in written.values() for problem in problems],
    }

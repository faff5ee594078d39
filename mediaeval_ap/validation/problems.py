"""Problems, and what finds many of them at once without writing them all out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables.faults import no_rows
from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.tables.line_format import Cause
from mediaeval_ap.tables.table import Source
from mediaeval_ap.tables.wrong_lines import MAX_PROBLEMS
from mediaeval_ap.validation import kinds
from mediaeval_ap.validation.kinds import Kind, Severity

__all__ = ['Detail', 'Finding', 'Findings', 'Problem', 'at_rows', 'at_wrong_lines']


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a file of a submission, or strange.

    Parameters
    ----------
    kind : Kind
        What kind of problem; it prints as its name.
    severity : {'error', 'warning'}
        Whether a campaign would refuse the submission.
    source : str
        Name of the file.
    line : int
        From 1; of a table of values, the number of the row.
    column : int or None
        The character of the line at which the field begins, from 1; none in a table of values.
    field : str
        The field, or nothing where it is the whole line or file.
    found, expected : str
        What stands there, and what should.
    mend : str
        What to do.

    Examples
    --------
    >>> from mediaeval_ap import validate
    >>> (problem,) = validate([('x', 'v', '1', 'Ann', 0.5)], rules='none')
    >>> print(problem.kind, problem.line, problem.field, problem.found, problem.expected)
    upper-case 1 person_name 'Ann' 'ann'
    """

    kind: Kind
    severity: Severity
    source: str
    line: int
    column: int | None
    field: str
    found: str
    expected: str
    mend: str

    def to_dict(self) -> dict[str, Any]:
        """The problem as values that JSON can hold.

        Returns
        -------
        dict
            Its fields, the kind by its name.
        """
        values = {field: getattr(self, field) for field in self.__slots__}
        return values | {'kind': self.kind.name}


class Detail(NamedTuple):
    """What is wrong with a row.

    Parameters
    ----------
    field : str
        The field.
    found, expected : str
        What stands there, and what should.

    Examples
    --------
    >>> Detail('person_name', "'Ann'", "'ann'").field
    'person_name'
    """

    field: str
    found: str
    expected: str


@dataclass(frozen=True)
class Finding:
    """The problems of one kind in one file, written out when they are asked for.

    Parameters
    ----------
    kind : Kind
        What they are.
    count : int
        How many there are.
    n_kept : int
        How many of them can be written out, the first.
    problem : callable
        Makes the problem of a number from 0; they are in the order of the file.

    Examples
    --------
    >>> from mediaeval_ap.tables import QUERIES, read
    >>> nobody = at_rows(kinds.get('name'), LenientTable(read(['ann'], QUERIES)), [], Detail)
    >>> nobody.count, list(nobody)
    (0, [])
    """

    kind: Kind
    count: int
    n_kept: int
    problem: Callable[[int], Problem]

    def __iter__(self) -> Iterator[Problem]:
        return map(self.problem, range(self.n_kept))

    def written_out(self, most: int) -> Finding:
        """The same without the file that it was found in.

        Parameters
        ----------
        most : int
            How many of its problems are kept.

        Returns
        -------
        Finding
            One that can be pickled.
        """
        problems = tuple(islice(self, most))
        return Finding(self.kind, self.count, len(problems), _Listed(problems))


@dataclass(frozen=True)
class _Listed:
    """Problems that are written out."""

    problems: tuple[Problem, ...]

    def __call__(self, place: int) -> Problem:
        return self.problems[place]


def at_rows(
    kind: Kind,
    read: LenientTable,
    rows: NDArray[np.int64] | Sequence[int],
    describe: Callable[[int], Detail],
) -> Finding:
    r"""Problems that stand in a field of a row.

    Parameters
    ----------
    kind : Kind
        What they are.
    read : LenientTable
        The file.
    rows : ndarray of int64, shape (n,), or sequence of int
        Which rows, ascending.
    describe : callable
        Says what is wrong, given the place among `rows`.

    Returns
    -------
    Finding
        The problems.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap.tables import QUERIES
    >>> from mediaeval_ap.tables.lenient_text import read_leniently
    >>> read = read_leniently(io.BytesIO(b'ann\n bob\n'), QUERIES)
    >>> detail = Detail('person_name', "'bob'", 'nobody')
    >>> (problem,) = at_rows(kinds.get('name'), read, [1], lambda _: detail)
    >>> problem.source, problem.line, problem.column, problem.found
    ('<file>', 2, 2, "'bob'")
    """

    def problem(place: int) -> Problem:
        row = int(rows[place])
        detail = describe(place)
        line, column = read.table.lines[row], read.column(row, detail.field)
        return _problem(kind, read.table.source.name, line, column, detail)

    return Finding(kind, len(rows), len(rows), problem)


def _problem(kind: Kind, source: str, line: int, column: int | None, detail: Detail) -> Problem:
    return Problem(kind, kind.severity, source, line, column, *detail, kind.mend)


_KIND_OF_CAUSE = {
    Cause.LENGTH: 'long-line',
    Cause.BYTES: 'encoding',
    Cause.FIELDS: 'field-count',
}


def at_wrong_lines(read: LenientTable) -> list[Finding]:
    r"""What the strict parser refuses of a file.

    Parameters
    ----------
    read : LenientTable
        The file.

    Returns
    -------
    list of Finding
        Its wrong lines by kind, or that it is empty.

    Examples
    --------
    >>> import io
    >>> from mediaeval_ap.tables import HYPOTHESIS
    >>> from mediaeval_ap.tables.lenient_text import read_leniently
    >>> lines = io.BytesIO(b'x v 1 ann high\nx v\n')
    >>> [str(finding.kind) for finding in at_wrong_lines(read_leniently(lines, HYPOTHESIS))]
    ['field-count', 'confidence']
    """
    source = read.table.source.name

    def finding(cause: Cause) -> Finding:
        kind = kinds.get(_KIND_OF_CAUSE.get(cause) or str(read.table.layout.number))
        places = read.wrong.places(cause)

        def problem(place: int) -> Problem:
            each = read.wrong[int(places[place])]
            detail = Detail(each.wrong.field, each.wrong.found, each.wrong.expected)
            return _problem(kind, source, each.line, each.column, detail)

        return Finding(kind, read.wrong.n_of(cause), len(places), problem)

    if not read.wrong and not len(read.table):
        kind, error = kinds.get('empty'), no_rows(source, read.table.layout)
        empty = _problem(kind, source, 1, 1, Detail('', error.found, error.expected))
        return [Finding(kind, 1, 1, lambda _: empty)]
    return [finding(cause) for cause in Cause if len(read.wrong.places(cause))]


class Findings:
    """All that is wrong with a submission: counts at once, problems when they are asked for.

    Parameters
    ----------
    rules : str
        Name of the rules it was held to.
    findings : sequence of Finding
        In any order of kinds; of one kind, in the order of the files.
    inputs : mapping of str to Source
        The files by what they are.
    rows : mapping of str to int
        How many rows each has.
    max_problems : int
        How many problems of each kind are kept; the others are counted.

    Attributes
    ----------
    counts : dict of Kind to int
        How many problems of each kind that there are, errors first.
    left_out : dict of Kind to int
        How many of these are not kept, of each kind that there are more of than are kept.

    Examples
    --------
    >>> from mediaeval_ap.validation import examine
    >>> findings = examine([('x', 'v', '1', 'Ann', 0.5)])
    >>> {str(kind): count for kind, count in findings.counts.items()}
    {'name': 1, 'upper-case': 1}
    >>> findings.count('error'), len(findings.problems(most=0))
    (1, 0)
    """

    def __init__(
        self,
        rules: str,
        findings: Sequence[Finding],
        inputs: Mapping[str, Source],
        rows: Mapping[str, int],
        max_problems: int = MAX_PROBLEMS,
    ) -> None:
        self.max_problems = max_problems
        self.rules = rules
        self.inputs = inputs
        self.rows = rows
        names = dict.fromkeys(source.name for source in inputs.values())
        self._order = {name: place for place, name in enumerate(names)}
        self._findings = {
            kind: [each for each in findings if each.kind == kind and each.count]
            for kind in kinds.registered()
        }
        self.counts = {
            kind: sum(each.count for each in found)
            for kind, found in self._findings.items()
            if found
        }
        self.left_out = {
            kind: count - max_problems
            for kind, count in self.counts.items()
            if count > max_problems
        }

    def __reduce__(self) -> tuple[Any, ...]:
        findings = [
            each.written_out(self.max_problems)
            for found in self._findings.values()
            for each in found
        ]
        return Findings, (self.rules, findings, self.inputs, self.rows, self.max_problems)

    def count(self, severity: Severity) -> int:
        """How many problems are errors, or warnings.

        Parameters
        ----------
        severity : {'error', 'warning'}
            Which.

        Returns
        -------
        int
            Their number.
        """
        return sum(count for kind, count in self.counts.items() if kind.severity == severity)

    def problems(self, most: int | None = None) -> list[Problem]:
        """The problems, errors first, kind by kind, in the order of the files.

        Parameters
        ----------
        most : int, optional
            How many of each kind; by default all that are kept.

        Returns
        -------
        list of Problem
            The first of each kind.
        """
        most = self.max_problems if most is None else min(most, self.max_problems)
        return [
            problem
            for found in self._findings.values()
            for problem in islice(merge(*found, key=self._place), most)
        ]

    def _place(self, problem: Problem) -> tuple[int, int, int]:
        return self._order[problem.source], problem.line, problem.column or 0

"""The problems of a submission as a document: a line each, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import printable
from mediaeval_ap.report.document import Document
from mediaeval_ap.validation.problems import Findings, Problem


def describe(findings: Findings, most: int | None = None) -> Document:
    """Return findings as a document, with `most` problems of each kind (all that are kept)."""
    return Document(lambda: _blocks(findings, most), lambda: _value(findings, most))


def _blocks(findings: Findings, most: int | None) -> Iterator[str]:
    name = printable(findings.inputs['hypothesis'].name)
    yield f'{name}: rules {findings.rules}, {_counted(findings.rows["hypothesis"], "row")}\n'
    shown = groupby(findings.problems(most), key=lambda problem: problem.kind)
    listed = {kind: [_line(problem) for problem in problems] for kind, problems in shown}
    for kind, count in findings.counts.items():
        lines = listed.get(kind, [])
        if n_more := count - len(lines):
            n_beyond = findings.left_out.get(kind)
            limit = f'--max-problems {findings.max_problems}'
            beyond = f', {n_beyond:,} of them beyond {limit}' if n_beyond else ''
            lines = [*lines, f'  … and {n_more:,} more{beyond}\n']
        yield f'{kind.severity} {kind}: {count:,}\n{"".join(lines)}'
    errors, warnings = findings.count('error'), findings.count('warning')
    yield f'{_counted(errors, "error")}, {_counted(warnings, "warning")}\n'


def _line(problem: Problem) -> str:
    if problem.column is None:
        place = f'row {problem.line}'
    else:
        place = f'line {problem.line}, column {problem.column}'
    where = ', '.join(filter(None, (printable(problem.source), place, problem.field)))
    return f'  {where}: found {problem.found}, expected {problem.expected}; {problem.mend}\n'


def _counted(count: int, what: str) -> str:
    return f'{count:,} {what}{"" if count == 1 else "s"}'


def _value(findings: Findings, most: int | None) -> dict[str, Any]:
    return {
        'version': __version__,
        'rules': findings.rules,
        'inputs': {
            role: {'name': source.name, 'sha256': source.sha256, 'rows': findings.rows[role]}
            for role, source in findings.inputs.items()
        },
        'errors': findings.count('error'),
        'warnings': findings.count('warning'),
        'counts': {kind.name: count for kind, count in findings.counts.items()},
        'max_problems': findings.max_problems,
        'left_out': {kind.name: count for kind, count in findings.left_out.items()},
        'problems': [problem.to_dict() for problem in findings.problems(most)],
    }

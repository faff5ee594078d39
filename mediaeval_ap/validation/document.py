"""The problems of a submission as a document: a line each, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import printable
from mediaeval_ap.render.document import Document, Remark, Remarks
from mediaeval_ap.validation.kinds import Kind
from mediaeval_ap.validation.problems import Findings, Problem

SCHEMA = 'mediaeval-ap/problems/1'


def describe(findings: Findings, most: int | None = None) -> Document:
    """Return findings as a document, with `most` problems of each kind (all that are kept)."""
    return Document(lambda: _blocks(findings, most), lambda: _value(findings, most))


def _blocks(findings: Findings, most: int | None) -> Iterator[Remarks | str]:
    listed = _by_kind(findings, most)
    for kind, count in findings.counts.items():
        remarks = [_remark(problem) for problem in listed[kind]]
        more = ''
        if n_more := count - len(remarks):
            more = f'… and {n_more:,} more [{kind}]'
            if n_beyond := findings.left_out.get(kind):
                more += f', {n_beyond:,} of them beyond --max-problems {findings.max_problems}'
        yield Remarks(remarks, more)
    yield _summary(findings)


def _by_kind(findings: Findings, most: int | None) -> dict[Kind, list[Problem]]:
    """Return the problems that are listed, each kind with its own."""
    listed: dict[Kind, list[Problem]] = {kind: [] for kind in findings.counts}
    for problem in findings.problems(most):
        listed[problem.kind].append(problem)
    return listed


def _remark(problem: Problem) -> Remark:
    field = f'{problem.field}: ' if problem.field else ''
    return Remark(
        problem.severity,
        problem.kind.name,
        problem.source,
        problem.line,
        problem.column,
        f'{field}found {problem.found}, expected {problem.expected}',
        problem.remedy,
    )


def _summary(findings: Findings) -> str:
    """Return how many errors and warnings there are, and of what."""
    counts = (_counted(findings.count(severity), severity) for severity in ('error', 'warning'))
    rows = _counted(findings.rows['hypothesis'], 'row')
    name = printable(findings.inputs['hypothesis'].name)
    return f'{", ".join(counts)} in {rows} of {name} (rules {findings.rules})\n'


def _counted(count: int, what: str) -> str:
    return f'{count:,} {what}{"" if count == 1 else "s"}'


def _value(findings: Findings, most: int | None) -> dict[str, Any]:
    listed = _by_kind(findings, most)
    left_out = {
        kind.name: count - len(listed[kind])
        for kind, count in findings.counts.items()
        if count > len(listed[kind])
    }
    return {
        'schema': SCHEMA,
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
        'truncated': bool(left_out),
        'left_out': left_out,
        'problems': [problem.to_dict() for problems in listed.values() for problem in problems],
    }

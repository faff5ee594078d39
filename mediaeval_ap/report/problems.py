"""Problems of a submission as text, a line each, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import printable
from mediaeval_ap.report.grids import json_document, renderer

if TYPE_CHECKING:
    from mediaeval_ap.validation import Findings, Problem
    from mediaeval_ap.validation.kinds import Kind

__all__ = ['PROBLEM_FORMATS', 'SHOWN_PROBLEMS', 'render_problems']

SHOWN_PROBLEMS = 20

_in_control = re.compile('[\x7f-\x9f]').sub  # what JSON may hold as it is, and a terminal obeys


def render_problems(
    findings: Findings, format: str = 'text', most: int | None = SHOWN_PROBLEMS
) -> str:
    r"""What is wrong with a submission, as text.

    Parameters
    ----------
    findings : Findings
        Of a submission.
    format : {'text', 'json'}
        For eyes, or for programs.
    most : int or None
        How many problems of each kind are shown; none for all that are kept.

    Returns
    -------
    str
        Lines, each with its end.

    Raises
    ------
    ParameterError
        When there is no such format.

    Examples
    --------
    >>> from mediaeval_ap.validation import examine
    >>> print(render_problems(examine([('x', 'v', '1', 'Ann', 0.5)], rules='none')))
    <rows>: rules none, 1 row
    <BLANKLINE>
    warning upper-case: 1
      <rows>, row 1, person_name: found 'Ann', expected 'ann'; write the name in lower case
    <BLANKLINE>
    0 errors, 1 warning
    <BLANKLINE>
    """
    return renderer(_RENDERERS, format)(findings, most)


def _text(findings: Findings, most: int | None) -> str:
    return ''.join(f'{line}\n' for line in _lines(findings, most))


def _lines(findings: Findings, most: int | None) -> Iterator[str]:
    name = printable(findings.inputs['hypothesis'].name)
    rows = _counted(findings.rows['hypothesis'], 'row')
    yield f'{name}: rules {findings.rules}, {rows}'
    yield ''
    shown = groupby(findings.problems(most), key=lambda problem: problem.kind)
    listed = {kind: [_line(problem) for problem in problems] for kind, problems in shown}
    for kind, count in findings.counts.items():
        lines = listed.get(kind, [])
        yield f'{kind.severity} {kind}: {count:,}'
        yield from (f'  {line}' for line in lines)
        if count > len(lines):
            yield f'  … and {count - len(lines):,} more{_left_out(findings, kind)}'
        yield ''
    errors, warnings = (
        _counted(findings.count(severity), severity) for severity in ('error', 'warning')
    )
    yield f'{errors}, {warnings}'


def _left_out(findings: Findings, kind: Kind) -> str:
    if kind not in findings.left_out:
        return ''
    return f', {findings.left_out[kind]:,} of them beyond --max-problems {findings.max_problems}'


def _line(problem: Problem) -> str:
    if problem.column is None:
        place = f'row {problem.line}'
    else:
        place = f'line {problem.line}, column {problem.column}'
    where = ', '.join(filter(None, (printable(problem.source), place, problem.field)))
    return f'{where}: found {problem.found}, expected {problem.expected}; {problem.mend}'


def _counted(count: int, what: str) -> str:
    return f'{count:,} {what}{"" if count == 1 else "s"}'


def _json(findings: Findings, most: int | None) -> str:
    problems: list[dict[str, Any]] = [each.to_dict() for each in findings.problems(most)]
    document = {
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
        'problems': problems,
    }
    return _in_control(lambda match: f'\\u{ord(match[0]):04x}', json_document(document))


_RENDERERS: dict[str, Callable[[Findings, int | None], str]] = {'text': _text, 'json': _json}
PROBLEM_FORMATS = tuple(_RENDERERS)

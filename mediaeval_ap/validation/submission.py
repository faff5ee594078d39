"""The validation of a submission: every rule on all of its files.

Lines are parsed by `mediaeval_ap.tables.lenient_text`, and nothing stops at the first problem.
"""

from __future__ import annotations

from typing import Any

from mediaeval_ap.choices import CAMPAIGNS, MAX_BYTES, MAX_PROBLEMS, check_limit, check_policy
from mediaeval_ap.errors import ParameterError, UnlistedProblemsWarning, warn_caller
from mediaeval_ap.progress import shows_progress, tracked
from mediaeval_ap.tables.input_kinds import Origin
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.validation.campaigns import LAYOUTS
from mediaeval_ap.validation.problems import Findings, Problem
from mediaeval_ap.validation.registry import RULES

__all__ = ['examine', 'validate']


@shows_progress
def validate(
    hypothesis: Any,
    *,
    shots: Any = None,
    videos: Any = None,
    evidence: Any = None,
    reference: Any = None,
    rules: str = '2016',
    max_bytes: int = MAX_BYTES,
    max_problems: int = MAX_PROBLEMS,
    progress: bool = False,
) -> list[Problem]:
    r"""List every problem of a submission.

    Parameters
    ----------
    hypothesis : str, path-like, file object, DataFrame, pyarrow table, iterable or Table
        The run, as `mediaeval_ap.tables.read` takes it. Lines of text may hold anything; tables of
        values and Parquet are read strictly.
    shots : as hypothesis, optional
        The shot list, which must have every shot of the submission.
    videos : as hypothesis, optional
        The videos that count: hypotheses for others give warnings. The video of evidence must be
        in this list or in the shot list.
    evidence : as hypothesis, optional
        Evidence for each name of the hypothesis.
    reference : as hypothesis, optional
        The reference: names and videos that it lacks give warnings.
    rules : {'2015', '2016', 'none'}
        The campaign whose rules apply. With ``'none'``, the format of each file is checked, and
        warnings are given.
    max_bytes : int
        Limit in bytes of what a compressed file, Parquet, a pipe or standard input may come to.
    max_problems : int
        Largest number of listed problems of each kind; `examine` counts the others.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    list of Problem
        Errors first, kind by kind, in the order of the files; empty where nothing is wrong.

    Raises
    ------
    ReadError
        When a file cannot be opened, decompressed or read to its end, or exceeds `max_bytes`.
    FormatError
        When a row of a table of values is wrong, or there is none.
    ParameterError
        When the rules are unknown, a file is of a wrong type, or a limit is not a positive integer.

    Warns
    -----
    UnlistedProblemsWarning
        When there are more problems of a kind than are listed.

    Examples
    --------
    >>> import io
    >>> lines = io.BytesIO(b'x v 1 ann 0.5\nx v 2 Bob high\nx v\n')
    >>> for problem in validate(lines):
    ...     print(problem.line, problem.column, problem.kind, problem.found)
    3 4 field-count 2 fields in 'x v'
    2 11 confidence 'high'
    2 7 name 'Bob'
    2 7 upper-case 'Bob'
    """
    findings = examine(
        hypothesis,
        shots=shots,
        videos=videos,
        evidence=evidence,
        reference=reference,
        rules=rules,
        max_bytes=max_bytes,
        max_problems=max_problems,
    )
    if findings.left_out:
        beyond = ', '.join(f'{count:,} {kind}' for kind, count in findings.left_out.items())
        text = f'problems beyond max_problems={max_problems} are not listed: {beyond}'
        warn_caller([UnlistedProblemsWarning(text)])
    return findings.problems()


def examine(
    hypothesis: Any,
    *,
    shots: Any = None,
    videos: Any = None,
    evidence: Any = None,
    reference: Any = None,
    rules: str = '2016',
    max_bytes: int = MAX_BYTES,
    max_problems: int = MAX_PROBLEMS,
) -> Findings:
    """Count the problems of a submission, and write them out when they are asked for.

    Takes and raises what `validate` does. The result can be pickled.
    """
    if hypothesis is None:
        raise ParameterError('hypothesis: found None, expected a submission')
    max_problems = check_limit(max_problems, 'max_problems')
    campaign = check_policy('rules', rules, CAMPAIGNS)
    origins = (hypothesis, shots, videos, evidence, reference)
    files = {
        role: read_leniently(Origin.of(origin, max_bytes), layout, max_problems=max_problems)
        for (role, layout), origin in zip(LAYOUTS[campaign].items(), origins, strict=True)
        if origin is not None
    }
    rules_that_hold = [rule for rule in RULES if campaign != 'none' or not rule.campaigns_only]
    checked = tracked(rules_that_hold, 'checking', ' rules')
    return Findings(
        campaign,
        [finding for rule in checked for finding in rule.findings(files)],
        {role: file.table.source for role, file in files.items()},
        {role: len(file.table) for role, file in files.items()},
        max_problems,
    )

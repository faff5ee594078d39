"""Validate a submission: apply every rule to all of its files."""

from __future__ import annotations

from mediaeval_ap.choices import CAMPAIGNS, MAX_PROBLEMS, check_limit, check_policy
from mediaeval_ap.errors import DataWarning, ParameterError, warn_caller
from mediaeval_ap.progress import shows_progress, tracked
from mediaeval_ap.tables import layouts
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.table import Rows
from mediaeval_ap.validation.problems import Findings, Problem
from mediaeval_ap.validation.rules import apply_rules

LAYOUTS = {  # by role: the layout of 2015, and of other campaigns
    'hypothesis': (layouts.HYPOTHESIS_2015, layouts.HYPOTHESIS),
    'shots': (layouts.SHOTS_2015, layouts.SHOTS),
    'videos': (layouts.SUBSET_2015, layouts.SUBSET),
    'evidence': (layouts.EVIDENCE_2015, layouts.EVIDENCE),
    'reference': (layouts.REFERENCE_2015, layouts.REFERENCE),
}


@shows_progress
def validate(
    hypothesis: Rows,
    *,
    shots: Rows | None = None,
    videos: Rows | None = None,
    evidence: Rows | None = None,
    reference: Rows | None = None,
    rules: str = '2016',
    max_problems: int = MAX_PROBLEMS,
    progress: bool = False,
) -> list[Problem]:
    r"""List every problem of a submission.

    Parameters
    ----------
    hypothesis : str, path-like, file object, DataFrame, pyarrow table, iterable or Table
        The run, as `mediaeval_ap.tables.read` takes it. Wrong lines of text are listed; wrong rows
        of tables of values or of Parquet raise an error.
    shots, videos, evidence, reference : as hypothesis, optional
        A list of all shots, the videos that count, evidence for each name, and the reference;
        ``docs/validation.md`` says what each adds.
    rules : {'2015', '2016', 'none'}
        The campaign whose rules apply; with ``'none'``, errors are about the format alone, and
        about leading zeros.
    max_problems : int
        The largest number of listed problems of each kind; `examine` counts all of them.
    progress : bool
        Show progress on standard error, if it takes longer than half a second.

    Returns
    -------
    list of Problem
        Errors first, kind by kind, in the order of the files.

    Raises
    ------
    ReadError, FormatError, ParameterError
        When a file cannot be read to its end, a table of values has a wrong row, or no row, or an
        argument is not valid.

    Warns
    -----
    DataWarning
        When a kind has more problems than are listed.

    Examples
    --------
    >>> import io
    >>> for problem in validate(io.BytesIO(b'x v 1 ann 0.5\nx v 2 Bob high\nx v\n')):
    ...     print(problem.line, problem.kind, problem.found)
    3 field-count 2 fields in 'x v'
    2 confidence 'high'
    2 name 'Bob'
    2 upper-case 'Bob'
    """
    files = {'shots': shots, 'videos': videos, 'evidence': evidence, 'reference': reference}
    findings = examine(hypothesis, rules=rules, max_problems=max_problems, **files)
    if findings.left_out:
        left_out = ', '.join(f'{count:,} {kind}' for kind, count in findings.left_out.items())
        text = f'problems beyond max_problems={max_problems} are not listed: {left_out}'
        warn_caller([DataWarning('unlisted-problems', '', text)])
    return findings.problems()


def examine(
    hypothesis: Rows,
    *,
    rules: str = '2016',
    max_problems: int = MAX_PROBLEMS,
    **other_files: Rows | None,
) -> Findings:
    """Count the problems of a submission; the parameters are as for `validate`."""
    if hypothesis is None:
        raise ParameterError('found None, expected a submission', 'hypothesis')
    max_problems = check_limit(max_problems, 'max_problems')
    campaign = check_policy('rules', rules, CAMPAIGNS)
    rows_by_role = {'hypothesis': hypothesis, **other_files}
    files = {}
    for role, (layout_2015, other_layout) in LAYOUTS.items():
        if (rows := rows_by_role.get(role)) is not None:
            layout = {'2015': layout_2015}.get(campaign, other_layout)
            files[role] = read_leniently(rows, layout, max_problems=max_problems)
    return Findings(
        campaign,
        tracked(apply_rules(files, campaign), 'checking', ' rules'),
        inputs={role: file.table.source for role, file in files.items()},
        rows={role: len(file.table) for role, file in files.items()},
        max_problems=max_problems,
    )

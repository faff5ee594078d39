"""The validation of a submission: every rule on all of its files."""

from __future__ import annotations

from mediaeval_ap.choices import CAMPAIGNS, MAX_PROBLEMS, check_limit, check_policy
from mediaeval_ap.errors import DataWarning, ParameterError, warn_caller
from mediaeval_ap.progress import shows_progress, tracked
from mediaeval_ap.tables import layouts
from mediaeval_ap.tables.reading import read_leniently
from mediaeval_ap.tables.table import Rows
from mediaeval_ap.validation.problems import Findings, Problem
from mediaeval_ap.validation.rules import apply_rules

LAYOUTS = {  # by role: that of 2015, and that of other campaigns
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
        The run, as `mediaeval_ap.tables.read` takes it. Lines of text may hold anything; tables of
        values and Parquet are read strictly.
    shots, videos, evidence, reference : as hypothesis, optional
        The shot list, which must have every shot of the submission. The videos that count:
        hypotheses for others give warnings, and the video of evidence must be here or in the shot
        list. Evidence for each name. The reference: names and videos that it lacks give warnings.
    rules : {'2015', '2016', 'none'}
        The campaign whose rules apply; with ``'none'``, errors are about the format alone.
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
    ReadError, FormatError, ParameterError
        When a file cannot be read to its end; when a row of a table of values is wrong, or there is
        none; when the rules are unknown, or a limit is not a positive integer.

    Warns
    -----
    DataWarning
        When there are more problems of a kind than are listed.

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
        beyond = ', '.join(f'{count:,} {kind}' for kind, count in findings.left_out.items())
        text = f'problems beyond max_problems={max_problems} are not listed: {beyond}'
        warn_caller([DataWarning('unlisted-problems', '', text)])
    return findings.problems()


def examine(
    hypothesis: Rows,
    *,
    rules: str = '2016',
    max_problems: int = MAX_PROBLEMS,
    **others: Rows | None,
) -> Findings:
    """Count the problems of a submission, as `validate` takes it."""
    if hypothesis is None:
        raise ParameterError('hypothesis: found None, expected a submission')
    max_problems = check_limit(max_problems, 'max_problems')
    campaign = check_policy('rules', rules, CAMPAIGNS)
    origins = {'hypothesis': hypothesis, **others}
    files = {}
    for role, (of_2015, of_others) in LAYOUTS.items():
        if (origin := origins.get(role)) is not None:
            layout = of_2015 if campaign == '2015' else of_others
            files[role] = read_leniently(origin, layout, max_problems=max_problems)
    return Findings(
        campaign,
        tracked(apply_rules(files, campaign), 'checking', ' rules'),
        {role: file.table.source for role, file in files.items()},
        {role: len(file.table) for role, file in files.items()},
        max_problems,
    )

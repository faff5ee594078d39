"""What is wrong with a submission: every problem at once, with its place and how to mend it.

`kinds` has every kind of problem, `campaigns` the rules, `hypotheses`, `person_names` and
`evidence` what is asked of a file by itself, `comparisons` what is asked of two. Nothing here
parses, as `mediaeval_ap.tables.lenient_text` does, and nothing stops at the first problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mediaeval_ap.errors import ParameterError, UnlistedProblemsWarning, warn_caller
from mediaeval_ap.tables import MAX_BYTES
from mediaeval_ap.tables.lenient_text import read_leniently
from mediaeval_ap.tables.sources import check_limit
from mediaeval_ap.tables.wrong_lines import MAX_PROBLEMS, LenientTable
from mediaeval_ap.validation import campaigns, comparisons, hypotheses, kinds, person_names
from mediaeval_ap.validation import evidence as of_evidence
from mediaeval_ap.validation.campaigns import Rules
from mediaeval_ap.validation.kinds import Kind
from mediaeval_ap.validation.problems import Finding, Findings, Problem, at_wrong_lines

__all__ = ['Finding', 'Findings', 'Kind', 'Problem', 'examine', 'kinds', 'validate']


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
) -> list[Problem]:
    r"""Every problem of a submission.

    Parameters
    ----------
    hypothesis : str, path-like, file object, DataFrame, pyarrow table, iterable or Table
        What `mediaeval_ap.tables.read` takes. Lines of text may hold anything; tables of values and
        Parquet are read strictly.
    shots : as hypothesis, optional
        The shot list: every shot of the submission must be there.
    videos : as hypothesis, optional
        The videos that count: hypotheses for others are warned of. The video of evidence must be
        there or in the shot list.
    evidence : as hypothesis, optional
        Evidence for each name of the hypothesis.
    reference : as hypothesis, optional
        Names and videos that it lacks are warned of.
    rules : {'2015', '2016', 'none'}
        Whose rules the files are held to. With ``'none'`` only the format of each file is, and
        warnings are given.
    max_bytes : int
        How many bytes a compressed file, Parquet, a pipe or standard input may come to.
    max_problems : int
        How many problems of each kind are listed, the first. `examine` counts the others.

    Returns
    -------
    list of Problem
        Errors first, kind by kind, in the order of the files; empty where nothing is wrong.

    Raises
    ------
    ReadError
        When a file cannot be opened, decompressed or read to its end, or gives more.
    FormatError
        When a row of a table of values is wrong, or there is none.
    ParameterError
        When there are no such rules, an origin is none of these, or a limit no positive integer.

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
    """How many problems of each kind a submission has; the problems themselves when asked for.

    Parameters
    ----------
    hypothesis, shots, videos, evidence, reference, rules, max_bytes, max_problems
        As `validate` takes them.

    Returns
    -------
    Findings
        Counts, and problems that are written out as far as they are wanted. It can be pickled.

    Raises
    ------
    ReadError, FormatError, ParameterError
        As `validate` does.

    Examples
    --------
    >>> findings = examine('samples/hypothesis.txt', reference='samples/reference.txt')
    >>> findings.count('error')
    0
    """
    if hypothesis is None:
        raise ParameterError('hypothesis: found None, expected a submission')
    max_problems = check_limit(max_problems, 'max_problems')
    chosen = campaigns.get(rules)
    origins = {
        'hypothesis': hypothesis,
        'shots': shots,
        'videos': videos,
        'evidence': evidence,
        'reference': reference,
    }
    files = {
        role: read_leniently(
            origin, chosen.layouts[role], max_bytes=max_bytes, max_problems=max_problems
        )
        for role, origin in origins.items()
        if origin is not None
    }
    return Findings(
        chosen.name,
        list(_findings(files, chosen)),
        {role: read.table.source for role, read in files.items()},
        {role: len(read.table) for role, read in files.items()},
        max_problems,
    )


def _findings(files: Mapping[str, LenientTable], rules: Rules) -> Iterator[Finding]:
    run = files['hypothesis']
    for read in files.values():
        yield from at_wrong_lines(read)
    if 'shots' in files:
        yield from of_evidence.shot_times(files['shots'])
    if 'evidence' in files:
        yield from of_evidence.negative_timestamps(files['evidence'])
    if rules.judges:
        yield from _judged(files, rules)
    for check in (*hypotheses.CHECKS, *person_names.CHECKS):
        yield from check(run)
    if 'videos' in files:
        yield from comparisons.videos_without('unlisted-video', run, files['videos'])
    if 'reference' in files:
        yield from comparisons.videos_without('unreferenced-video', run, files['reference'])
        yield from comparisons.names_without('unreferenced-name', run, files['reference'])


def _judged(files: Mapping[str, LenientTable], rules: Rules) -> Iterator[Finding]:
    """What a campaign asks beyond the format of lines."""
    submitted = [files[role] for role in ('hypothesis', 'evidence') if role in files]
    for read in submitted:
        yield from person_names.names_of_other_letters(read)
    if 'shots' in files:
        for read in submitted:
            if 'shot_id' in read.table.columns:
                yield from comparisons.unknown_shots(read, files['shots'])
    if 'evidence' in files:
        yield from _judged_evidence(files, rules)


def _judged_evidence(files: Mapping[str, LenientTable], rules: Rules) -> Iterator[Finding]:
    run, evidence = files['hypothesis'], files['evidence']
    if lists := [files[role] for role in ('videos', 'shots') if role in files]:
        yield from comparisons.unknown_videos(evidence, lists)
    yield from of_evidence.modalities(evidence, rules)
    yield from of_evidence.repeated_evidence(evidence)
    yield from comparisons.names_without('missing-evidence', run, evidence)
    yield from comparisons.names_without('unused-evidence', evidence, run)

"""Notes and warnings of all runs in one list: what, of which runs, of how many queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mediaeval_ap.errors import ScoreAboveOneWarning, WithoutRelevantWarning, printable
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.means_and_notes import counted_note

if TYPE_CHECKING:
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis

SAID_BY_NOTES = (ScoreAboveOneWarning, WithoutRelevantWarning)  # notes count the same queries
Remark = tuple[str, int | None, int | None]  # what, queries, of how many


def remarks_of(
    comparison: Comparison,
    evaluations: Mapping[str, Evaluation],
    diagnoses: Mapping[str, Diagnosis],
) -> list[dict[str, Any]]:
    """Return an entry for each remark with the runs of which it is true, best first.

    Entries of one kind stand together. What is about the comparison is about all runs.
    """
    runs_of: dict[str, dict[Remark, list[str]]] = defaultdict(lambda: defaultdict(list))
    for run in comparison.runs:
        for remark in dict.fromkeys(_of_run(evaluations[run], diagnoses[run])):
            runs_of[remark[0]][remark].append(run)
    for text in [*comparison.notes, *map(str, comparison.warnings)]:
        remark = counted_note(text)
        runs_of[remark[0]][remark] = list(comparison.runs)
    return [
        {'what': what, 'runs': runs, 'queries': queries, 'of': n_queries}
        for of_kind in runs_of.values()
        for (what, queries, n_queries), runs in of_kind.items()
    ]


def _of_run(evaluation: Evaluation, diagnosis: Diagnosis) -> Iterator[Remark]:
    notes = evaluation.notes
    notes += [each for each in diagnosis.notes if each not in diagnosis.evaluation.notes]
    yield from map(counted_note, notes)
    source = printable(evaluation.inputs[Evaluation.RUN].name)
    for warning in evaluation.warnings:
        if type(warning) not in SAID_BY_NOTES:  # a name that is unknown is told by no note
            yield counted_note(str(warning).removeprefix(f'{source}: '))

"""Notes on results, and notes of several runs as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mediaeval_ap.choices import WithoutRelevant
from mediaeval_ap.definitions import XINFAP
from mediaeval_ap.errors import Note, abridged, printable, with_noun

SKIPPED = 'queries_skipped'  # the count of queries left out, where the settings allow it
NO_RELEVANT = 'have nothing relevant'  # no shot or document
NO_TRUE_LABEL = 'have no true label'


def notes_of(count: int, n_queries: int, predicate: str) -> list[str]:
    """Return a note that the predicate is true of `count` queries; no note if that is 0."""
    return [Note(predicate, count, n_queries)] if count else []


def note_above_one(n_above: int, n_queries: int, definition: str) -> list[str]:
    """Return a note that average precision exceeds 1 for some queries, if it does."""
    reason = 'is an estimate'
    if definition != XINFAP.name:
        reason = 'counts a shot each time it is returned'
    predicate = f'have an AP above 1: {definition} {reason}'
    return notes_of(n_above, n_queries, predicate)


def notes_of_skipped(n_skipped: int, n_scored: int, lack: str) -> list[str]:
    """Return a note that some queries were left out of the mean, if any were."""
    return notes_of(n_skipped, n_skipped + n_scored, f'{lack}, and are left out')


def count_of_skipped(policy: WithoutRelevant, n_skipped: int) -> dict[str, int]:
    """Return the entry of a manifest; no entry where the settings leave no query out."""
    if policy == 'count':
        return {}
    return {SKIPPED: n_skipped}


def notes_of_judged(parameters: Mapping[str, Any], counts: Mapping[str, int]) -> list[str]:
    """Return notes on unjudged shots, samples, ignored documents, and dropped reference rows."""
    note_by_policy = {
        'nonrelevant': 'Returned shots that are not judged count as not relevant',
        'skip': 'Returned shots that are not judged leave the ranking (condensed lists)',
    }
    policy = parameters.get('unjudged')
    notes = []
    if policy in note_by_policy:
        notes.append(note_by_policy[policy])
    if n_judged := counts.get('judged', 0):
        pool = f'{n_judged:,} of {counts["judgements"]:,} pooled documents are judged'
        depth = f'down to rank {parameters["depth"]:,}'
        notes.append(f'xinfAP is estimated from a sample, {depth}: {pool}')
    if n_dropped := counts.get('reference_rows_dropped', 0):
        rows = with_noun(n_dropped, 'row', 'rows')
        notes.append(f'{rows} of the reference about shots that are not judged: dropped')
    if parameters.get('exclude_self'):
        finding = 'are the topic itself, and left out'
        n_own = counts['excluded_self']
        notes.append(Note(finding, n_own, counts['hypotheses'], 'returned documents'))
    if ignored := parameters.get('ignore'):
        finding = f'are ignored (relevance {ignored.replace(",", ", ")})'
        notes.append(Note(finding, counts['ignored'], counts['hypotheses'], 'returned documents'))
    return notes


def note_of_floor(n_without: int, n_queries: int, counts_as: float) -> str:
    """Return the note on queries without a relevant shot, and on the MAP of an empty run."""
    floor = n_without * counts_as / n_queries
    predicate = f'{NO_RELEVANT}: each counts {counts_as:g}'
    if floor:
        predicate += f', and an empty run has MAP {floor:.3f}'
    return Note(predicate, n_without, n_queries)


def merged_notes(notes_by_run: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the notes that all runs share, then the others with the names of their runs."""
    (_, first_notes), *further = notes_by_run
    shared = [note for note in first_notes if all(note in notes for _, notes in further)]
    notes_by_kind: dict[object, dict[str, str]] = defaultdict(dict)  # then by run
    for run, notes in notes_by_run:
        for note in notes:
            if note not in shared:
                notes_by_kind[kind_of_note(note)][printable(run)] = note
    lines = list(shared)
    for notes_of_kind in notes_by_kind.values():
        if len(notes_of_kind) > 1:
            lines.append(f'In {across_runs(notes_of_kind)}')
        else:
            lines += map(': '.join, notes_of_kind.items())
    return lines


def across_runs(note_by_run: Mapping[str, str]) -> str:
    """Merge notes of one kind about several runs into one text, such as "2 runs: … (a, b)"."""
    merged = merge_notes(note_by_run.values())
    return f'{len(note_by_run)} runs: {merged} ({abridged(list(note_by_run))})'


def merge_notes(notes: Iterable[str]) -> str:
    """Merge notes of one kind into one with ranges, such as "3 to 5 of 9 queries …"."""
    first, *further = notes
    if not isinstance(first, Note):
        return first
    numbered = [first, *(note for note in further if isinstance(note, Note))]
    counts = [note.number for note in numbered], [note.of for note in numbered]
    ranges = (' to '.join(f'{end:,}' for end in dict.fromkeys((min(n), max(n)))) for n in counts)
    return f'{" of ".join(ranges)} {first.kind}'


def kind_of_note(note: str) -> str:
    """Return the note without its numbers, which is equal for notes of one kind."""
    return note.kind if isinstance(note, Note) else note

"""Match the rows of a run of TREC with its qrels, and warn about both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import choices, definitions
from mediaeval_ap.arrays import run_starts
from mediaeval_ap.definitions import Cutoff, Definition, check_cutoffs
from mediaeval_ap.errors import (
    DataWarning,
    Note,
    ParameterError,
    UndefinedScoreError,
    printable,
    shown,
)
from mediaeval_ap.evaluation.data_warnings import (
    IdPolicy,
    likely_cause,
    overlap,
    skipped_queries,
)
from mediaeval_ap.results.notes import count_of_skipped
from mediaeval_ap.tables.layouts import QRELS, RUN
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.table import Rows, consistent
from mediaeval_ap.trec.entries import TOPIC, Entries, comparable_scores, first_ranks, read_entries

FEW_ROWS = 10  # too few of one topic for a warning about scores
# Findings about the scores of topics, and their remedies.
RISING = 'have scores that rise with the rank', 'negate them if distances'
ONE_SCORE = (
    'have one score for all documents',
    "take the mean over all orders by --ties expected, in Python ties='expected'",
)
SELF_FIRST = (
    'return themselves first',
    'leave them out by --exclude-self, in Python exclude_self=True',
)


class TrecSettings(NamedTuple):
    """The checked settings of `evaluate_trec`."""

    definition: Definition
    cutoffs: list[Cutoff]
    ties: choices.TrecTies
    level: int | float  # a float if relevance may have decimals
    policy: IdPolicy
    skip_or_count: choices.WithoutRelevant
    unjudged: choices.Unjudged
    ignored: list[int]  # levels of relevance, ascending
    repeated: choices.Repeated
    exclude_self: bool

    @classmethod
    def checked(
        cls, K: Any, definition: str | Definition | None, policies: Mapping[str, Any]
    ) -> TrecSettings:
        """Validate the arguments of `evaluate_trec`; `policies` are those with a keyword."""
        definition = definitions.get('trec' if definition is None else definition)
        cutoffs = check_cutoffs(definitions.CUTOFFS if K is None else K, definition)
        ties = choices.check_policy('ties', policies['ties'], choices.TREC_TIES)
        if ties in ('expected', 'best', 'worst') and 'H' in definition.denominator:
            raise ParameterError(
                f'found {ties}, which {definition} is not defined for, as it divides by hits',
                'ties',
            )
        missing, unknown = policies['missing'], policies['unknown']
        ignore = policies['ignore']
        if isinstance(ignore, str) or not isinstance(ignore, Iterable):
            ignore = [ignore]
        return cls(
            definition,
            cutoffs,
            ties,
            policy=IdPolicy(missing, unknown, 'topic', 'a topic of the qrels'),
            skip_or_count=choices.check_without_relevant(policies['queries_without_relevant']),
            level=choices.check_relevance_level(policies['relevance_level']),
            unjudged=choices.check_policy('unjudged', policies['unjudged'], choices.UNJUDGED),
            repeated=choices.check_policy('repeated', policies['repeated'], choices.REPEATED),
            exclude_self=bool(policies['exclude_self']),
            ignored=sorted(set(map(_check_ignored, ignore))),
        )

    @property
    def causes_to_leave_out(self) -> list[str]:
        causes = {'excluded_self': self.exclude_self, 'ignored': self.ignored}
        return [cause for cause, is_set in causes.items() if is_set]

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            'ties': self.ties,
            'relevance_level': self.level,
            'missing': self.policy.missing,
            'unknown': self.policy.unknown,
            **choices.parameter_of_skipped(self.skip_or_count),
            **({'unjudged': self.unjudged} if self.unjudged == 'skip' else {}),
            **({'ignore': ','.join(map(str, self.ignored))} if self.ignored else {}),
            **({'repeated': self.repeated} if self.repeated == 'first' else {}),
            **({'exclude_self': True} if self.exclude_self else {}),
        }


def _check_ignored(level: Any) -> int:
    is_integer = isinstance(level, Integral) and not isinstance(level, bool)
    if is_integer and -choices.LARGEST_TREC_LEVEL <= level <= choices.LARGEST_TREC_LEVEL:
        return int(level)
    expected = 'an integer from -2**53 to 2**53'
    raise ParameterError(f'found {shown(level)}, expected {expected}', 'ignore')


def read_qrels(
    qrels: Rows | Mapping[str, Mapping[str, float]] | TableInput,
    *,
    relevance_level: float = 1,
    in_blocks: bool = False,
) -> Entries:
    """Read qrels once, to score many runs.

    Parameters
    ----------
    qrels : str, path-like, file object, DataFrame, dict or iterable of tuples
        As in `evaluate_trec`; qrels that were read before stay as they are.
    relevance_level : int or float
        As in `evaluate_trec`: a float allows decimals.
    in_blocks : bool
        Read a file by pyarrow, which takes less time and memory if it is large.

    Returns
    -------
    Entries
        Take it in place of the qrels in `evaluate_trec` and `TrecTopics`.

    Raises
    ------
    ReadError, FormatError, ParameterError
        As `evaluate_trec`.

    Examples
    --------
    >>> from mediaeval_ap import evaluate_trec
    >>> qrels = read_qrels({'7': {'d1': 1, 'd2': 0}})
    >>> runs = {'a': {'7': {'d1': 0.9}}, 'b': {'7': {'d2': 0.9, 'd1': 0.5}}}
    >>> [evaluate_trec(qrels, run, 10).map.tolist() for run in runs.values()]
    [[1.0], [0.5]]
    """
    allow_decimals = isinstance(choices.check_relevance_level(relevance_level), float)
    qrels = TableInput.of(qrels, 'qrels')
    judged = qrels.value
    if not isinstance(judged, Entries):
        layout = replace(QRELS, integers=not allow_decimals)
        judged = read_entries(qrels, layout, in_blocks=in_blocks)
        judged.refuse_repeated()
    fraction_rows = np.flatnonzero(judged.number != np.trunc(judged.number))
    if len(fraction_rows) and not allow_decimals:
        fraction = str(judged.number[fraction_rows[0]])
        expected = f'an integer{QRELS.remedy}'
        raise judged.error(fraction_rows[:1], str(QRELS.number), fraction, expected)
    return judged


def _is_among(number: NDArray[np.float64], levels: Sequence[int]) -> NDArray[np.bool_]:
    # `numpy.isin` would import `numpy.ma`, which takes as long as reading 100,000 rows.
    is_among: NDArray[np.bool_] = (number[:, np.newaxis] == np.array(levels)).any(axis=1)
    return is_among


def _n_rising(topic: NDArray[np.int32], number: NDArray[np.float64]) -> int:
    """Count the topics whose first numbers rise row by row; return 0 if they fall in any topic."""
    topic, number = topic[: len(number)], number[: len(topic)]
    is_same = topic[1:] == topic[:-1]
    if (is_same & (number[1:] < number[:-1])).any():
        return 0
    return len(np.unique(topic[1:][is_same & (number[1:] > number[:-1])]))


class MatchedRows(NamedTuple):
    """Rows of a run beside the qrels."""

    entries: Entries
    topic: NDArray[np.int32]  # among the judged topics, of each row; -1 if it is not judged
    is_hit: NDArray[np.bool_]  # of each row
    n_by_topic: NDArray[np.int64]  # rows of each judged topic

    def select(self, rows: NDArray[np.int64], *, keep: bool) -> MatchedRows:
        is_kept = np.full(len(self.topic), not keep)
        is_kept[rows] = keep
        topic = self.topic[is_kept]
        n_by_topic = _n_by_topic(topic, len(self.n_by_topic))
        return MatchedRows(self.entries.select(is_kept), topic, self.is_hit[is_kept], n_by_topic)


@dataclass(frozen=True, eq=False)
class JudgedTopics:
    """The qrels by the settings, before any run is read; arrays by topic have all topics."""

    settings: TrecSettings
    judged: Entries

    @cached_property
    def counted(self) -> Entries:
        """The rows that are not left out."""
        judged, settings = self.judged, self.settings
        is_left_out = _is_among(judged.number, settings.ignored)
        if settings.exclude_self:
            is_left_out |= judged.is_own_topic()
        return judged.select(~is_left_out) if is_left_out.any() else judged

    @cached_property
    def is_relevant(self) -> NDArray[np.bool_]:
        """A mask of the counted rows."""
        return self.counted.number >= self.settings.level

    @cached_property
    def is_judged(self) -> NDArray[np.bool_]:
        """A mask of the counted rows that judge: as in trec_eval, with a relevance from 0."""
        return self.counted.number >= min(self.settings.level, 0)

    @cached_property
    def n_relevant(self) -> NDArray[np.int64]:
        topic = self.counted.topic.codes[self.is_relevant]
        return np.bincount(topic, minlength=len(self.judged.topic.values))

    @cached_property
    def is_scored(self) -> NDArray[np.bool_]:
        return (self.n_relevant > 0) | (self.settings.skip_or_count == 'count')

    @property
    def n_skipped(self) -> int:
        return int(np.count_nonzero(~self.is_scored))

    def expect_nonrelevant(self) -> None:
        purpose = 'to leave out those that are not judged'
        self.counted.expect_nonrelevant(self.settings.level, purpose)

    def about_skipped(self) -> list[DataWarning]:
        """Return a warning about topics left out; raise UndefinedScoreError if all are."""
        name = self.judged.source.name
        counts = self.n_skipped, len(self.is_scored)
        return skipped_queries(name, name, *counts)

    def about_ignored(self) -> list[DataWarning]:
        lacking = [level for level in self.settings.ignored if level not in self.judged.number]
        if not lacking:
            return []
        levels = ', '.join(f'{level:g}' for level in np.unique(self.judged.number)[:9])
        finding = f'no row of {lacking[0]:g} to ignore, only of {levels}'
        return [DataWarning('nothing-ignored', printable(self.judged.source.name), finding)]


class MatchedRun(NamedTuple):
    """The ranked rows of a run, matched with the qrels, and warnings."""

    topics: JudgedTopics
    returned: Entries
    rows: MatchedRows
    is_missing: NDArray[np.bool_]  # of each judged topic
    left_out: dict[str, int]  # numbers of rows, by cause
    warnings: list[DataWarning]

    @classmethod
    def read(
        cls, topics: JudgedTopics, run: TableInput, part: str | None, *, in_blocks: bool = False
    ) -> MatchedRun:
        """Read a run; raise FormatError for topics in one file, unless the settings allow them."""
        settings, judged = topics.settings, topics.judged
        every_row = read_entries(run, RUN, in_blocks=in_blocks, part=part)
        consistent(judged, every_row)
        if n_rising := _n_rising(every_row.topic.codes, every_row.number):
            n_rising *= _n_rising(every_row.topic.codes, first_ranks(run)) > 0
        returned, warnings = _each_document_once(every_row, settings.repeated)
        warnings += topics.about_ignored()
        rows = _matched_rows(topics, returned)
        is_missing = (rows.n_by_topic == 0) & topics.is_scored
        is_missing[np.bincount(judged.topic.codes, minlength=len(is_missing)) == 0] = False
        about_topics = _about_topics(topics, rows, is_missing)
        has_hits = bool(rows.is_hit.any())
        name, truth = returned.source.name, printable(judged.source.name)
        ids_of_topics = returned.topic.values, truth, judged.topic.values
        warnings += overlap(name, 'topics', *ids_of_topics, shares_an_id=has_hits)
        if rows.n_by_topic.any():
            documents = returned.document, truth, judged.document
            warnings += overlap(name, 'returned documents', *documents, shares_an_id=has_hits)
        warnings += about_topics
        ranked = rows
        if settings.exclude_self:
            ranked = rows.select(np.flatnonzero(returned.is_own_topic()), keep=False)
        left_out = {'excluded_self': len(returned) - len(ranked.entries), 'ignored': 0}
        if settings.ignored:
            is_ignored = _is_among(judged.number, settings.ignored)
            junk = ranked.entries.rows_of(judged, np.flatnonzero(is_ignored))
            ranked = ranked.select(junk, keep=False)
            left_out['ignored'] = len(junk)
        if settings.unjudged == 'skip':
            topics.expect_nonrelevant()
            judged_rows = ranked.entries.rows_of(topics.counted, np.flatnonzero(topics.is_judged))
            ranked = ranked.select(judged_rows, keep=True)
        warnings += _about_scores(ranked, judged, settings.ties, n_rising)
        return cls(topics, returned, ranked, is_missing, left_out, warnings)

    @property
    def scored(self) -> NDArray[np.int64]:
        """The numbers of the topics to score."""
        topics = self.topics
        is_left_out = self.is_missing & (topics.settings.policy.missing == 'skip')
        scored = np.flatnonzero(topics.is_scored & ~is_left_out)
        if not len(scored):
            cause = likely_cause(self.returned.topic.values, topics.judged.topic.values)
            condition = ' and has a relevant document' if topics.n_skipped else ''
            run = printable(self.returned.source.name)
            finding = f'{run}: no topic of this run is judged{condition}'
            raise UndefinedScoreError(f'{finding}; {cause}' if cause else finding)
        return scored

    @property
    def counts(self) -> dict[str, int]:
        """The sizes of qrels and run, for a manifest."""
        settings, judged = self.topics.settings, self.topics.judged
        n_relevant = self.topics.n_relevant[self.scored]
        return {
            'queries': len(n_relevant),
            'queries_without_relevant': int(np.count_nonzero(n_relevant == 0)),
            'judgements': len(judged),
            'hypotheses': len(self.returned),
            'missing': int(np.count_nonzero(self.is_missing)),
            'unknown': len({*self.returned.topic.values}.difference(judged.topic.values)),
            'relevant': int(n_relevant.sum()),
            'relevant_returned': int(np.count_nonzero(self.rows.is_hit)),
            **count_of_skipped(settings.skip_or_count, self.topics.n_skipped),
            **{cause: self.left_out[cause] for cause in settings.causes_to_leave_out},
        }


def _each_document_once(
    returned: Entries, repeated: choices.Repeated
) -> tuple[Entries, list[DataWarning]]:
    if repeated == 'error':
        returned.refuse_repeated(choices.REPEATED_REMEDY)
        return returned, []
    distinct = returned.without_repeated()
    n_dropped = len(returned) - len(distinct)
    finding = 'list a document again for its topic, and are dropped: the higher score stays'
    note = Note(finding, n_dropped, len(returned), 'rows')
    warning = DataWarning('repeated-rows', printable(returned.source.name), note)
    return distinct, [warning] * bool(n_dropped)


def _matched_rows(topics: JudgedTopics, returned: Entries) -> MatchedRows:
    judged = topics.counted
    topic = judged.topic.find(returned.topic)
    is_hit = np.zeros(len(returned), dtype=np.bool_)
    is_hit[returned.rows_of(judged, np.flatnonzero(topics.is_relevant))] = True
    return MatchedRows(returned, topic, is_hit, _n_by_topic(topic, len(judged.topic.values)))


def _n_by_topic(topic: NDArray[np.int32], n_topics: int) -> NDArray[np.int64]:
    starts = run_starts([topic])  # rows of a topic mostly follow each other
    sizes = np.diff(starts, append=len(topic))
    counts = np.bincount(topic[starts] + 1, weights=sizes, minlength=n_topics + 1)
    return counts[1:].astype(np.int64)


def _about_scores(
    rows: MatchedRows, judged: Entries, ties: choices.TrecTies, n_rising: int
) -> list[DataWarning]:
    """Warn if most topics have scores that say little."""
    returned, topic, is_hit, n_by_topic = rows
    score = comparable_scores(returned.number, ties)
    starts = run_starts([topic])
    best = np.full(len(n_by_topic) + 1, -np.inf, score.dtype)
    np.maximum.at(best, topic[starts], np.maximum.reduceat(score, starts))
    best[-1] = np.nan  # of unjudged topics, -1
    best_of_rows = best[topic[starts]].repeat(np.diff(starts, append=len(topic)))
    first = np.flatnonzero(score == best_of_rows)
    n_first = np.bincount(topic[first], minlength=len(n_by_topic))
    is_tied = (n_first == n_by_topic) & (n_by_topic > 1)
    first = first[(n_first[topic[first]] == 1) & ~is_hit[first]]
    own = first[returned.is_own_topic(first)]
    levels = judged.number[judged.rows_of(returned, own)] if len(own) else own
    is_theirs = len(own) > 0 and np.isin(judged.number, levels[:1]).sum() == len(own)
    finding, remedy = SELF_FIRST
    if is_theirs:
        remedy += f', or use --ignore {levels[0]:g}'
    findings = [(RISING, n_rising, n_rising)]
    if is_doubtful(ties):
        findings.append((ONE_SCORE, int(is_tied.sum()), int((n_by_topic > 1).sum())))
    findings.append(((finding, remedy), len(own), int((n_by_topic > 0).sum())))
    return doubtful_scores(printable(returned.source.name), len(returned), findings)


def is_doubtful(ties: choices.TrecTies) -> bool:
    """Return True for an order of ties that has nothing to do with relevance."""
    return ties in ('trec_eval', 'trec_eval-9')


def doubtful_scores(
    run: str, n_rows: int, findings: Iterable[tuple[tuple[str, str], int, int]]
) -> list[DataWarning]:
    """Warn of the findings that most topics have, but not of one short topic."""
    return [
        DataWarning('doubtful-scores', run, Note(finding, n, n_topics, 'topics'), f'; {remedy}')
        for (finding, remedy), n, n_topics in findings
        if 2 * n > n_topics and (n > 1 or n_rows >= FEW_ROWS)
    ]


def about_missing(
    run: str, n_missing: int, n_topics: int, truth: str, settings: TrecSettings
) -> DataWarning:
    is_zero = settings.policy.missing == 'zero'
    treatment = 'scored as if nothing were returned' if is_zero else 'left out'
    note = Note(f'are missing, and {treatment}', n_missing, n_topics, f'topics of {truth}')
    return DataWarning('missing-ids', run, note)


def _about_topics(
    topics: JudgedTopics, rows: MatchedRows, is_missing: NDArray[np.bool_]
) -> list[DataWarning]:
    """Raise for a topic that is in one file alone, or warn of it, as the policy says."""
    judged, policy = topics.judged, topics.settings.policy
    returned, topic, *_ = rows
    run = printable(returned.source.name)
    truth = printable(judged.source.name)
    warnings: list[DataWarning] = []
    unknown = np.flatnonzero(topic < 0)
    missing = np.flatnonzero(is_missing)
    if len(unknown):
        cause = ''
        if len(unknown) == len(topic) and policy.unknown == 'error':
            cause = likely_cause(returned.topic.values, judged.topic.values)
        first = returned.topic.text(unknown[0])
        policy.refuse_unknown(returned, unknown, TOPIC, first, truth, cause)
    if len(missing):
        first = judged.topic.values[missing[0]]
        policy.refuse_missing(returned.source.name, TOPIC, first, len(missing), truth)
        n_topics = len(judged.topic.values)
        warnings.append(about_missing(run, len(missing), n_topics, truth, topics.settings))
    if len(unknown):
        n_unknown = len(np.unique(returned.topic.codes[unknown]))
        n_topics = len(returned.topic.values)
        note = Note(f'are not in {truth}, and left out', n_unknown, n_topics, 'topics')
        warnings.append(DataWarning('unknown-ids', run, note))
    return warnings

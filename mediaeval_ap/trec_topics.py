"""`TrecTopics` scores and compares runs of TREC against one file of qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mediaeval_ap import choices, definitions
from mediaeval_ap.definitions import Cutoff, Definition
from mediaeval_ap.errors import warn_caller
from mediaeval_ap.evaluation.prepared_run import prepare_run, select_queries
from mediaeval_ap.evaluation.scoring import evaluate_run
from mediaeval_ap.evaluator import Evaluator
from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.run_names import check_name
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.table import Names, Rows
from mediaeval_ap.trec.matched_run import JudgedTopics, MatchedRun, TrecSettings, read_qrels
from mediaeval_ap.trec.other_tools import file_in
from mediaeval_ap.trec.topic_runs import TopicCriteria
from mediaeval_ap.trec.topic_scores import score_matched


class TrecTopics(Evaluator):
    """Runs in TREC's format against one file of qrels, at several cutoffs.

    A topic is a query, and a document takes the place of a shot.

    Parameters
    ----------
    qrels, K, definition, ties, relevance_level, unknown, queries_without_relevant, unjudged, \
ignore, repeated, exclude_self, part
        As in `evaluate_trec`; ties must have an order, so neither ``'expected'`` nor
        ``'threshold'``.
    missing : {'error', 'zero'}
        As in `evaluate_trec`; all runs need the same topics, so none is left out.

    Raises
    ------
    ReadError, FormatError, ParameterError, UndefinedScoreError
        As `evaluate_trec`.

    Notes
    -----
    The methods take a run as `evaluate_trec` does, and topics as queries. A document that the qrels
    give a relevance from 0 is judged, so there are bounds over unjudged documents if some have a
    relevance of 0. The loss has no parts for names, and a judgement is of a document for one topic.

    Examples
    --------
    >>> topics = TrecTopics({'7': {'d1': 1, 'd2': 0}}, 10)
    >>> run = {'7': {'d2': 0.9, 'd1': 0.5}}
    >>> topics.rank(run, '7')['docno'].tolist()
    ['d2', 'd1']
    >>> {part: loss for part, loss in topics.explain(run).mean_parts.items() if loss}
    {'confidence': 0.5}
    """

    def __init__(
        self,
        qrels: Rows | Mapping[str, Mapping[str, float]],
        K: Cutoff | Iterable[Cutoff] = definitions.CUTOFFS,
        *,
        definition: str | Definition = 'trec',
        ties: choices.TrecTies = 'trec_eval',
        relevance_level: float = 1,
        missing: choices.Missing = 'error',
        unknown: choices.Unknown = 'error',
        queries_without_relevant: choices.WithoutRelevant = 'count',
        unjudged: choices.Unjudged = 'nonrelevant',
        ignore: int | Iterable[int] = (),
        repeated: choices.Repeated = 'error',
        exclude_self: bool = False,
        part: str | None = None,
    ) -> None:
        policies = {
            'ties': ties,
            'relevance_level': relevance_level,
            'missing': missing,
            'unknown': unknown,
            'queries_without_relevant': queries_without_relevant,
            'unjudged': unjudged,
            'ignore': ignore,
            'repeated': repeated,
            'exclude_self': exclude_self,
        }
        settings = TrecSettings.checked(K, definition, policies)
        judged = read_qrels(qrels, relevance_level=settings.level)
        self._topics = JudgedTopics(settings, judged)
        self._part = part
        self.criteria = TopicCriteria.of(self._topics, part)

    def evaluate(
        self,
        run: Rows | Mapping[str, Mapping[str, float]],
        queries: Names | None = None,
        *,
        name: str | None = None,
    ) -> Evaluation:
        """Score a run on topics, by default on all.

        Parameters
        ----------
        run, name
            As in `evaluate_trec`.
        queries
            As in `explain`; the result then equals that of `report`.

        Returns
        -------
        Evaluation
            Equal to the result of `evaluate_trec`, which also takes measures.

        Examples
        --------
        >>> TrecTopics([('7', 'd1', 1)], 10).evaluate([('7', 'd1', 0.5)]).map.tolist()
        [1.0]
        """
        name = check_name(name)
        if queries is None:
            matched = MatchedRun.read(self._topics, TableInput.of(file_in(run), 'run'), self._part)
            evaluation = score_matched(matched, [], name)
        else:
            selected = select_queries(self.criteria, self.criteria.read_queries(queries))
            evaluation = evaluate_run(prepare_run(self.criteria, run), selected).called(name)
        warn_caller(evaluation.warnings)
        return evaluation

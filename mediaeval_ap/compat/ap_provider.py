"""The provider of ir_measures behind `mediaeval_ap.compat.ir_measures`; its import registers it."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures import measures, providers
from ir_measures.providers import base
from ir_measures.util import QrelsConverter, RunConverter

from mediaeval_ap import choices
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.trec import evaluate_trec

PARAMETERS = ('cutoff', 'rel', 'judged_only')


class _DefinedAP(measures.Measure):  # type: ignore[misc]
    """Average precision by a definition, with an order of ties."""

    __name__ = 'DefinedAP'
    NAME = __name__
    PRETTY_NAME = 'Average precision by a definition'
    SHORT_DESC = 'Average precision by a definition of mediaeval_ap, with its order of ties.'
    SUPPORTED_PARAMS = {  # noqa: RUF012 - as the base declares it
        **ir_measures.AP.SUPPORTED_PARAMS,
        'definition': measures.ParamInfo(dtype=str, default='trec'),
        'ties': measures.ParamInfo(dtype=str, choices=choices.TREC_TIES, default='trec_eval'),
    }


class DefinedAPProvider(providers.Provider):  # type: ignore[misc]
    """A provider of `DefinedAP`, and of `AP` with the ties of trec_eval 9."""

    NAME = 'mediaeval_ap'
    SUPPORTED_MEASURES = [  # noqa: RUF012 - as the base declares it
        each(**{name: base.Any() for name in PARAMETERS}) for each in (ir_measures.AP, _DefinedAP())
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> DefinedAPEvaluator:
        return DefinedAPEvaluator(list(measures), QrelsConverter(qrels).as_dict_of_dict())


class DefinedAPEvaluator(providers.Evaluator):  # type: ignore[misc]
    """Measures and qrels by which any run is scored."""

    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        self._qrels = {topic: documents for topic, documents in qrels.items() if documents}

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Score the run once for all measures that differ in their cutoffs alone."""
        run = RunConverter(run).as_dict_of_dict()
        of_settings = defaultdict(list)
        for each in self.measures if any(run.values()) and self._qrels else ():
            by: tuple[Any, Any] = ('trec', 'trec_eval-9')
            if isinstance(each, _DefinedAP):
                by = each['definition'], each['ties']
            of_settings[*by, each['rel'], each['judged_only']].append(each)
        for (definition, ties, rel, judged_only), group in of_settings.items():
            cutoffs = [each.params.get('cutoff', 'all') for each in group]
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', DataWarning)  # ir_measures has no policy to name
                evaluation = evaluate_trec(
                    self._qrels,
                    run,
                    cutoffs,
                    definition=definition,
                    ties=ties,
                    relevance_level=rel,
                    missing='zero',
                    unknown='drop',
                    unjudged='skip' if judged_only else 'nonrelevant',
                )
            for topic, values in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
                for each, value in zip(group, values, strict=True):
                    yield ir_measures.Metric(topic, each, value)


DefinedAP = _DefinedAP()
measures.register(DefinedAP)
ir_measures.DefaultPipeline.providers.append(providers.register(DefinedAPProvider()))

"""The provider for ir_measures; importing this module registers it."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures import measures, providers
from ir_measures.providers import base
from ir_measures.util import QrelsConverter, RunConverter

from mediaeval_ap.choices import TREC_TIES
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.trec import evaluate_trec


class _DefinedAP(measures.Measure):  # type: ignore[misc]
    """Average precision by a definition, with an order of ties."""

    __name__ = 'DefinedAP'
    NAME = 'DefinedAP'
    SUPPORTED_PARAMS = {  # noqa: RUF012 - as the base declares it
        **{name: ir_measures.AP.SUPPORTED_PARAMS[name] for name in ('cutoff', 'rel')},
        'definition': measures.ParamInfo(dtype=str, default='trec'),
        'ties': measures.ParamInfo(dtype=str, choices=TREC_TIES, default='trec_eval'),
    }


class DefinedAPProvider(providers.Provider):  # type: ignore[misc]
    NAME = 'mediaeval_ap'
    SUPPORTED_MEASURES = [  # noqa: RUF012 - as the base declares it
        _DefinedAP(**{name: base.Any() for name in _DefinedAP.SUPPORTED_PARAMS})
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> DefinedAPEvaluator:
        return DefinedAPEvaluator(list(measures), QrelsConverter(qrels).as_dict_of_dict())


class DefinedAPEvaluator(providers.Evaluator):  # type: ignore[misc]
    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        self._qrels = {topic: documents for topic, documents in qrels.items() if documents}

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Score the run once for all measures that differ in their cutoffs alone."""
        run = RunConverter(run).as_dict_of_dict()
        measures_by_settings = defaultdict(list)
        for measure in self.measures if any(run.values()) and self._qrels else ():
            settings = measure['definition'], measure['ties'], measure['rel']
            measures_by_settings[settings].append(measure)
        for (definition, ties, level), group in measures_by_settings.items():
            cutoffs = [measure.params.get('cutoff', 'all') for measure in group]
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', DataWarning)  # ir_measures counts missing topics 0
                evaluation = evaluate_trec(
                    self._qrels,
                    run,
                    cutoffs,
                    definition=definition,
                    ties=ties,
                    relevance_level=level,
                    missing='zero',
                    unknown='drop',
                )
            for topic, values in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
                for measure, value in zip(group, values, strict=True):
                    yield ir_measures.Metric(topic, measure, value)


DefinedAP = _DefinedAP()
measures.register(DefinedAP)
ir_measures.DefaultPipeline.providers.append(providers.register(DefinedAPProvider()))

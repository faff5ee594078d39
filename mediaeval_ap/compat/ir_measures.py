"""AP by any definition and order of ties as a measure of ir_measures."""

from __future__ import annotations

from typing import Any

from mediaeval_ap.errors import require

__all__ = ['register']


def register() -> Any:
    """Register AP by any definition with ir_measures, and return it as a measure.

    After that, all functions of ir_measures compute ``DefinedAP``, also by this name. It has the
    parameters `definition` (``'trec'``), `ties` (``'trec_eval'``), `rel` (1) and `cutoff`, with the
    meaning of `mediaeval_ap.evaluate_trec`. `AP` stays unchanged.

    Returns
    -------
    ir_measures.Measure
        ``DefinedAP``, the same at each call.

    Examples
    --------
    >>> import ir_measures
    >>> measure = register()(definition='kaggle', ties='expected') @ 2
    >>> ir_measures.calc_aggregate([measure], {'7': {'d1': 1}}, {'7': {'d1': 0.5, 'd2': 0.5}})
    {DefinedAP(definition='kaggle',ties='expected')@2: 0.75}
    """
    require('ir_measures', 'trec', 'register')
    from mediaeval_ap.compat import ap_provider

    return ap_provider.DefinedAP

"""AP of ir_measures by any definition and order of ties."""

from __future__ import annotations

from typing import Any

from mediaeval_ap.errors import require

__all__ = ['register']


def register() -> Any:
    """Register AP by any definition with ir_measures, and return it as a measure.

    From then on all of ir_measures computes ``DefinedAP``, also by that name. Its parameters are
    `definition` (``'trec'``), `ties` (``'trec_eval'``), `rel` (1), `judged_only` (False) and
    `cutoff`, as `mediaeval_ap.evaluate_trec` has them. The provider is called ``'mediaeval_ap'``.
    `AP` stays what it was.

    Returns
    -------
    ir_measures.Measure
        ``DefinedAP``, the same at each call.

    Raises
    ------
    MissingExtraError
        When ir_measures (the extra ``trec``) is not installed.

    Examples
    --------
    >>> import ir_measures
    >>> DefinedAP = register()
    >>> measures = [DefinedAP(ties='expected') @ 2, DefinedAP(definition='kaggle') @ 1]
    >>> qrels, run = {'7': {'d1': 1, 'd3': 1}}, {'7': {'d1': 0.5, 'd2': 0.5}}
    >>> values = ir_measures.calc_aggregate(measures, qrels, run)
    >>> [values[measure] for measure in measures]
    [0.375, 0.0]
    """
    require('ir_measures', 'trec', 'register')
    from mediaeval_ap.compat import ap_provider

    return ap_provider.DefinedAP

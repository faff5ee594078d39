"""The rules of each campaign: what its files hold, and what it asks of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mediaeval_ap.choices import CAMPAIGNS, check_policy
from mediaeval_ap.tables.layouts import (
    EVIDENCE,
    EVIDENCE_2015,
    HYPOTHESIS,
    HYPOTHESIS_2015,
    REFERENCE,
    REFERENCE_2015,
    SHOTS,
    SHOTS_2015,
    SUBSET,
    SUBSET_2015,
    Layout,
)

__all__ = ['IDS', 'NAME', 'TIMES', 'Rules', 'get']

NAME = re.compile('[a-z_]+')
IDS = ('corpus_id', 'video_id', 'shot_id')
TIMES = ('start_time', 'end_time')


@dataclass(frozen=True)
class Rules:
    """What a campaign asks of a submission.

    Parameters
    ----------
    name : str
        The campaign.
    layouts : mapping of str to Layout
        The fields of each of its files.
    judges : bool
        Whether anything is asked beyond the format of lines.
    modality : str
        The field of evidence that says of what kind it is.
    modalities : tuple of str
        The kinds that there are.

    Examples
    --------
    >>> get('2015').modalities
    ('image', 'audio', 'both')
    """

    name: str
    layouts: Mapping[str, Layout]
    judges: bool
    modality: str
    modalities: tuple[str, ...]


_LAYOUTS_2015 = {
    'hypothesis': HYPOTHESIS_2015,
    'shots': SHOTS_2015,
    'videos': SUBSET_2015,
    'evidence': EVIDENCE_2015,
    'reference': REFERENCE_2015,
}
_LAYOUTS = {
    'hypothesis': HYPOTHESIS,
    'shots': SHOTS,
    'videos': SUBSET,
    'evidence': EVIDENCE,
    'reference': REFERENCE,
}
_MODALITIES = ('written', 'pronounced')
_RULES = {
    '2015': Rules('2015', _LAYOUTS_2015, True, 'source', ('image', 'audio', 'both')),
    '2016': Rules('2016', _LAYOUTS, True, 'modality', _MODALITIES),
    'none': Rules('none', _LAYOUTS, False, 'modality', _MODALITIES),
}


def get(name: str) -> Rules:
    """The rules of a campaign.

    Parameters
    ----------
    name : {'2015', '2016', 'none'}
        Which.

    Returns
    -------
    Rules
        What it asks.

    Raises
    ------
    ParameterError
        When there are no such rules.

    Examples
    --------
    >>> get('2017')
    Traceback (most recent call last):
        ...
    mediaeval_ap.errors.ParameterError: rules: found '2017', expected one of 2015, 2016, none
    """
    return _RULES[check_policy('rules', name, CAMPAIGNS)]

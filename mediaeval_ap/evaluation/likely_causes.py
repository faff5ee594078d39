"""Likely causes of two inputs without a common id: a guess that a warning can name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from mediaeval_ap.errors import shown
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import Table

# All substrings of an id are looked up, so it is done for a sample of ids that are not too long:
# milliseconds, whatever the size of the file. Time grows with the sample. Both are choices.
SAMPLED_IDS = 200
LONGEST_SAMPLED = 64  # characters

_without_leading_zeros = partial(re.compile(r'(?<![0-9])0+(?=[0-9])').sub, '')
_with_one_separator = partial(re.compile(r'[-_. ]+').sub, '_')


def _as_nfc(text: str) -> str:
    import unicodedata

    return unicodedata.normalize('NFC', text)


def _all_at_once(text: str) -> str:
    return _without_leading_zeros(_with_one_separator(_as_nfc(text).casefold()))


_NORMAL_FORMS: Mapping[str, Callable[[str], str]] = {
    'leading zeros': _without_leading_zeros,
    'case': str.casefold,
    'Unicode normalization': _as_nfc,
    'separators': _with_one_separator,
    'case, separators and leading zeros': _all_at_once,
}


def likely_cause(ids: Collection[str], others: Collection[str]) -> str:
    """Return how an id nearly equals one of the others, or an empty text; no id is in both."""
    ids, others = sorted(ids), sorted(others)  # so that the example is always the same
    for what, normal_form in _NORMAL_FORMS.items():
        there = {normal_form(text): text for text in others}
        for text in ids:
            if (other := there.get(normal_form(text))) is not None:
                return _pair(what, text, other)
    if found := _surrounded(ids, others):
        return _pair(*found)
    if found := _surrounded(others, ids):
        affixes, other, text = found
        return _pair(affixes, text, other)
    return ''


def _pair(what: str, here: str, there: str) -> str:
    return f'equal but for {what}: {shown(here)} here, {shown(there)} there'


def _surrounded(ids: Sequence[str], others: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the text around others within most ids, and an example of both."""
    known = set(others)
    step = len(ids) // SAMPLED_IDS + 1
    sample = [text for text in ids[::step] if len(text) <= LONGEST_SAMPLED]
    inner_of = {text: inner for text in sample if (inner := _longest_within(text, known))}
    around = Counter(tuple(text.split(inner, 1)) for text, inner in inner_of.items())
    if not around:
        return None
    ((before, after), count), *_ = around.most_common(1)
    if 2 * count < len(sample):
        return None
    text = next(each for each, inner in inner_of.items() if before + inner + after == each)
    places = ((before, 'at the beginning'), (after, 'at the end'))
    affixes = ' and '.join(f'{shown(affix)} {place}' for affix, place in places if affix)
    return affixes, text, inner_of[text]


def _longest_within(text: str, known: Collection[str]) -> str | None:
    for length in range(len(text) - 1, 0, -1):
        for begin in range(len(text) - length + 1):
            if text[begin : begin + length] in known:
                return text[begin : begin + length]
    return None


def likely_cause_in_tables(run: Ranking, reference: Table) -> str:
    """Return the field and the likely cause why no shot of a run is in a reference, or nothing."""
    fields = reference.layout.texts
    here = {field: set(run.texts[field]) for field in fields}
    there = {field: set(reference[field].values) for field in fields}
    strange = [field for field in fields if not here[field] & there[field]]
    for field in strange:
        for other in fields:
            if other != field and 2 * len(here[field] & there[other]) >= len(here[field]):
                return f'{field} holds what {other} holds there: are columns exchanged?'
    for field in (each for each in ('video_id', 'corpus_id', 'shot_id') if each in strange):
        if cause := likely_cause(here[field], there[field]):
            return f'{field} is {cause}'
    if 'corpus_id' in strange and 'video_id' not in strange:
        one, other = min(here['corpus_id']), min(there['corpus_id'])
        return f'corpus_id is another: {shown(one)} here, {shown(other)} there'
    return ''

"""JSON text read strictly: each key once, whole characters, finite constants."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from mediaeval_ap.errors import FormatError, shortened, shown

_may_hold_halves = re.compile(r'\\u[dD][89a-fA-F]').search


class _Repeating(dict[str, Any]):
    """An object whose text has a key twice, and this key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        ((self.key, _),) = Counter(key for key, _ in pairs).most_common(1)


def parsed_json(content: bytes, name: str, expected: str = 'JSON') -> Any:
    """Return the value of JSON text; the error has the name of the file, and what it should be.

    The standard library keeps the last of two equal keys, and lets halves of characters through.
    """
    suspects: list[Callable[[object], str]] = []  # the whole value is searched for these alone

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        suspects.append(_repeats)
        return _Repeating(pairs)

    def constant(text: str) -> float:
        suspects.append(_is_infinite)
        return float(text)

    try:
        text = _decoded(content, name, expected)
        value = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        place = f'line {error.lineno}'
        raise FormatError(name, place, '', f'no JSON: {error.msg}', expected) from None
    except (ValueError, RecursionError):
        found = 'a number of too many digits, or too many brackets'
        raise FormatError(name, '', '', found, expected) from None
    if _may_hold_halves(text):
        suspects.append(_is_half)
    for suspect in dict.fromkeys(suspects):
        _refuse(value, suspect, name)
    return value


def _decoded(content: bytes, name: str, expected: str) -> str:
    encoding = json.detect_encoding(content)
    try:
        return content.decode(encoding)  # strictly: json.loads lets halves of characters pass
    except UnicodeDecodeError as error:
        line = content.count(b'\n', 0, error.start) + 1
        found = f'bytes that are not {encoding.upper().removesuffix("-SIG")}'
        raise FormatError(name, f'line {line}', '', found, expected) from None


def _repeats(value: object) -> str:
    return f'the key {shown(value.key)} twice' if isinstance(value, _Repeating) else ''


def _is_infinite(value: object) -> str:
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else ''


def _is_half(value: object) -> str:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return 'half of a character'
    return ''


EXPECTED: dict[Callable[[object], str], str] = {
    _repeats: 'each key of an object once',
    _is_infinite: 'numbers of JSON, which are finite',
    _is_half: 'JSON of Unicode',
}


def _refuse(value: object, suspect: Callable[[object], str], name: str) -> None:
    """Refuse the first value that is as suspected, with its place, as ``results[0].means``."""
    waiting: list[tuple[str, object]] = [('', value)]  # no recursion: text may nest deeper
    while waiting:
        place, each = waiting.pop()
        if found := suspect(each):
            raise FormatError(name, place, '', found, EXPECTED[suspect])
        waiting += reversed(list(_within(place, each)))


def _within(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, each in value.items():
            at = f'{place}.{shortened(key)}' if place else shortened(key)
            yield at, key
            yield at, each
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield f'{place}[{number}]', each

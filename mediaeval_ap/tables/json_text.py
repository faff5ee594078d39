"""JSON text read strictly: each key once, whole characters, finite constants."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from mediaeval_ap.errors import FormatError, shortened, shown

_half = re.compile('[\ud800-\udfff]').search
_may_hold_halves = re.compile(r'\\u[dD][89a-fA-F]').search


class _Repeating(dict[str, Any]):
    """An object whose text has a key twice."""

    key: str


def parsed_json(content: bytes, name: str, expected: str = 'JSON') -> Any:
    """Return the value of JSON text; the error has the name of the file, and what it should be.

    The standard library keeps the last of two equal keys, and lets halves of characters through.
    """
    is_suspect = False  # else the value is not searched

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_suspect
        value = dict(pairs)
        if len(value) < len(pairs):
            is_suspect, value = True, _Repeating(pairs)
            ((value.key, _),) = Counter(key for key, _ in pairs).most_common(1)
        return value

    def constant(text: str) -> float:
        nonlocal is_suspect
        is_suspect = True
        return float(text)

    encoding = json.detect_encoding(content)
    try:
        text = content.decode(encoding)  # strictly: json.loads lets halves of characters pass
        value = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except UnicodeDecodeError as error:
        number = content.count(b'\n', 0, error.start) + 1
        found = f'bytes that are not {encoding.upper().removesuffix("-SIG")}'
        raise FormatError(name, f'line {number}', '', found, expected) from None
    except json.JSONDecodeError as error:
        line = f'line {error.lineno}'
        raise FormatError(name, line, '', f'no JSON: {error.msg}', expected) from None
    except (ValueError, RecursionError):
        found = 'a number of too many digits, or too many brackets'
        raise FormatError(name, '', '', found, expected) from None
    if is_suspect or _may_hold_halves(text):
        _refuse(value, name)
    return value


def parsed_lines(
    stream: Iterable[bytes], name: str, expected: str
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the objects of JSON lines, and the number of the line of each."""
    lines = [(number, line) for number, line in enumerate(stream, 1) if line.strip()]
    numbers, values = [number for number, _ in lines], []
    with suppress(FormatError):  # all at once takes a fifth; a number stands between objects
        rows = parsed_json(b'[%b]' % b',0,'.join(line for _, line in lines), name)
        kinds = [set(map(type, rows[begin::2])) for begin in (0, 1)]
        if len(rows) == 2 * len(lines) - 1 and kinds[0] == {dict} and kinds[1] <= {int}:
            return rows[::2], numbers
    for number, line in lines:
        try:
            values.append(value := parsed_json(line, name, expected))
            if not isinstance(value, dict):
                raise FormatError(name, '', '', shown(value), expected)
        except FormatError as error:  # its place is within the line
            field = '' if error.place.startswith('line ') else error.place
            raise FormatError(name, f'line {number}', field, error.found, error.expected) from None
    return values, numbers


def _fault(value: object) -> tuple[str, str] | None:
    """Return what is wrong with a value, and what is expected."""
    if isinstance(value, _Repeating):
        return f'the key {shown(value.key)} twice', 'each key of an object once'
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value), 'numbers of JSON, which are finite'
    if isinstance(value, str) and _half(value):
        return 'half of a character', 'JSON of Unicode'
    return None


def _refuse(value: object, name: str) -> None:
    """Refuse the first wrong value, with its position in the whole, as ``results[0].means``."""
    waiting: list[tuple[str, object]] = [('', value)]  # no recursion: text may nest deeper
    while waiting:
        position, each = waiting.pop()
        if fault := _fault(each):
            raise FormatError(name, position, '', *fault)
        within: list[tuple[str, object]] = []
        if isinstance(each, dict):
            for key, inner in each.items():
                at = f'{position}.{shortened(key)}' if position else shortened(key)
                within += [(at, key), (at, inner)]
        elif isinstance(each, list):
            within = [(f'{position}[{number}]', inner) for number, inner in enumerate(each)]
        waiting += reversed(within)

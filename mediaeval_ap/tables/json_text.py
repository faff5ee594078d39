"""JSON text, and JSON lines, with the file in the error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mediaeval_ap.errors import FormatError, shown


def parsed_json(content: bytes, name: str, expected: str = 'JSON') -> Any:
    """Return the value of JSON text; the error has the name of the file, and what it should be."""

    def refuse(text: str) -> float:
        raise ValueError(f'{text}, which is no number of JSON')

    try:
        return json.loads(content, parse_constant=refuse)
    except json.JSONDecodeError as error:
        found = f'no JSON: {error.msg}'
        raise FormatError(name, f'line {error.lineno}', '', found, expected) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(name, '', '', str(error), expected) from None


def parsed_lines(
    stream: Iterable[bytes], name: str, expected: str
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the objects of JSON lines, and the number of the line of each."""
    values, numbers = [], []
    for number, line in enumerate(stream, 1):
        if line.strip():
            try:
                value = parsed_json(line, name, expected)
                if not isinstance(value, dict):
                    raise FormatError(name, '', '', shown(value), expected)
            except FormatError as error:
                raise FormatError(name, f'line {number}', '', error.found, expected) from None
            values.append(value)
            numbers.append(number)
    return values, numbers

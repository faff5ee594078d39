"""When a value or a field of text is a number or an id, and the words that errors have for it."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import partial
from numbers import Integral, Real

import numpy as np

from mediaeval_ap.choices import BETWEEN_WORDS

FINITE_DECIMAL = 'a finite decimal number'
INTEGER = 'an integer in digits'
EXACT_NUMBER = 'a finite number that a double can hold'
AS_TEXT = '; read them as text (dtype=str), so that leading zeros stay'
AS_INTEGERS = (
    f"{AS_TEXT}, or as integers (dtype='Int64'), which missing values do not turn into floats"
)
AS_NUMBERS = '; dtype=str reads numbers as text, too: convert them by .astype(float)'
NUMBER_BYTES = b'0123456789+-.eE'
INTEGER_BYTES = b'0123456789+-'
LARGEST_INTEGER = 1 << 53  # doubles hold all integers up to this
PADDED = r'(?:[+][0-9]+|-?0[0-9]+|-0)'  # integers spelled otherwise than by `str`

is_padded = re.compile(PADDED).fullmatch
without_leading_zeros = partial(re.compile(r'(?<![0-9])(?<![0-9]\.)0+(?=[0-9])').sub, '')
is_integer = re.compile(rb'[+-]?[0-9]+').fullmatch


def is_finite_decimal(field: bytes) -> bool:
    """Return True if a field is a finite decimal: 0.5, -3, 1e-7; not nan, 1_000, 0x10, 1e400."""
    if field.translate(None, NUMBER_BYTES):
        return False
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def is_number(field: bytes, integers: bool) -> bool:
    """Return True if a field is a finite decimal, and with `integers` in digits alone."""
    return bool(not integers or is_integer(field)) and is_finite_decimal(field)


def expected_number(text: str) -> str | None:
    """Return the kind of number that a wrong text should hold; None if the text is right.

    >>> expected_number('1e400'), expected_number('9007199254740993'), expected_number(' 0.1')
    ('a finite decimal number', 'a finite number that a double can hold', None)
    """
    field = text.strip(BETWEEN_WORDS).encode()
    if not is_finite_decimal(field):
        return FINITE_DECIMAL
    digits = field.lstrip(b'+-').lstrip(b'0')  # few, as the number is finite
    if digits.isdigit() and is_rounded(int(digits), float(digits)):
        return EXACT_NUMBER
    return None


def is_rounded(number: object, double: float) -> bool:
    """Return True if a number is an integer that a finite double does not hold."""
    return isinstance(number, Integral) and int(number) != int(double)


def as_double(value: object, allow_boolean: bool = False) -> float | None:
    """Return a number as a finite double; None for other values and for inexact integers."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, bool | np.bool_):
        return float(value) if allow_boolean else None
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        value = int(value)
    if not isinstance(value, Real | Decimal):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):  # a large integer, or a signaling NaN
        return None
    if not math.isfinite(number) or is_rounded(value, number):
        return None
    return number


def integer_as_text(value: object) -> object:
    """Return an integer as its digits; other values unchanged."""
    return str(value) if type(value) is int else value

"""Decimals in a block of bytes, as the nearest doubles, many at once.

A decimal is an integer divided by a power of ten. Where both are doubles without rounding, so is
their quotient rounded once. Where the integer has some bits more, the rest of the division says
which double is the nearest, unless two are nearly as near. All other decimals are read by Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import Layout
from mediaeval_ap.tables.byte_words import AMONG_FIRST, WORD, width_for, windows
from mediaeval_ap.tables.text.format import LARGEST_INTEGER
from mediaeval_ap.tables.text.reader import numbers_of
from mediaeval_ap.trec.byte_fields import Fields

MOST_DIGITS = 19  # 64 bits hold each of these integers; and 10**19 is a double
LARGEST_DIVIDED = 1 << 62
NO_POINT = -1  # as a number of decimals

_ZEROS = np.uint64(int.from_bytes(b'0' * WORD))
_ABOVE_9 = np.uint64(int.from_bytes(b'\x76' * WORD))  # gives the highest bit of a byte above 9
_HIGHEST_BITS = np.uint64(int.from_bytes(b'\x80' * WORD))
_SPLITTER = float((1 << 27) + 1)  # splits a double into two of half as many bits


def numbers_at(fields: Fields, layout: Layout) -> NDArray[np.float64] | None:
    """Return the numbers of a layout if all of them are right; None if not."""
    begins, ends = (places[:, layout.number_at] for places in (fields.begins, fields.ends))
    is_negative = fields.buffer[begins] == ord('-')
    sizes = ends - begins - is_negative
    first, *others = _to_try(fields.text[begins[0] : ends[0]], layout)
    values, is_right = _plain(fields.buffer, ends, sizes, first)
    left = np.flatnonzero(~is_right & (sizes <= MOST_DIGITS + 1))
    for n_decimals in others if len(left) else ():
        rows = left[_has_point(fields.buffer, ends[left], n_decimals)]
        values[rows], is_right[rows] = _plain(fields.buffer, ends[rows], sizes[rows], n_decimals)
        left = left[~is_right[left]]
    np.negative(values, out=values, where=is_negative)
    left = np.flatnonzero(~is_right)
    if len(left):
        written = zip(begins[left].tolist(), ends[left].tolist(), strict=True)
        by_python = numbers_of([fields.text[begin:end] for begin, end in written], layout)
        if by_python is None:
            return None
        values[left] = by_python
    return values


def _to_try(first: bytes, layout: Layout) -> list[int]:
    """Return numbers of decimals, those first that are nearest to that of the first field."""
    if layout.integers:
        return [NO_POINT]
    _, point, decimals = first.partition(b'.')
    at_first = len(decimals) if point else NO_POINT
    return sorted(range(NO_POINT, MOST_DIGITS + 1), key=lambda number: abs(number - at_first))


def _has_point(
    buffer: NDArray[np.uint8], ends: NDArray[np.int64], n_decimals: int
) -> NDArray[np.bool_]:
    """Return which fields may have so many decimals: the point may be before the field."""
    if n_decimals == NO_POINT:
        return np.ones(len(ends), dtype=np.bool_)
    has_point: NDArray[np.bool_] = buffer[ends - (n_decimals + 1)] == ord('.')
    return has_point


def _plain(
    buffer: NDArray[np.uint8], ends: NDArray[np.int64], sizes: NDArray[np.int64], n_decimals: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return decimals without sign or exponent, with so many decimals, and which are right."""
    n_points = 0 if n_decimals == NO_POINT else 1
    most = min(int(sizes.max(initial=1)), MOST_DIGITS + n_points)
    is_right = (max(n_decimals, n_points) < sizes) & (sizes <= most)
    is_right &= _has_point(buffer, ends, n_decimals)
    span = width_for(most)
    words = windows(buffer, ends - span, span // WORD) ^ _ZEROS
    n_before = np.clip(span - sizes, 0, span)
    integers, no_digits, carried = (np.zeros(len(ends), dtype=np.uint64) for _ in range(3))
    for position in range(span // WORD):
        word = words[:, position] & ~AMONG_FIRST[position][n_before]
        if n_points:  # what is before the point moves over it
            moved = AMONG_FIRST[position][max(span - n_decimals, 0)]
            digits = word & ~moved | (word << np.uint64(8) | carried) & moved
            carried = word >> np.uint64(56)
        else:
            digits = word
        no_digits |= (digits + _ABOVE_9) | digits
        integers = integers * np.uint64(10**8) + _eight_digits(digits)
    is_right &= (no_digits & _HIGHEST_BITS == 0) & (integers <= LARGEST_DIVIDED)
    integers[~is_right] = 0
    divisor = 10.0 ** max(n_decimals, 0)
    if integers.max(initial=0) <= LARGEST_INTEGER:
        return integers / divisor, is_right
    quotients, is_nearest = _divide(integers.astype(np.int64), divisor)
    return quotients, is_right & is_nearest


def _eight_digits(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the integers of eight digits each, of which the first is in the lowest byte."""
    # Numbers of two digits, then of four, then of eight, side by side in each word.
    for base, shift, kept in (
        (10, 8, 0x00FF00FF00FF00FF),
        (100, 16, 0x0000FFFF0000FFFF),
        (10_000, 32, 0xFFFFFFFF),
    ):
        digits = (digits * np.uint64(base) + (digits >> np.uint64(shift))) & np.uint64(kept)
    return digits


def _divide(
    integers: NDArray[np.int64], divisor: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return quotients of integers, and which are certain to be the nearest doubles."""
    high = integers.astype(np.float64)
    low = (integers - high.astype(np.int64)).astype(np.float64)  # without rounding, as it is small
    quotients = high / divisor
    # Without rounding: the product as a sum, by Dekker and Veltkamp, and the rest of the division.
    product = quotients * divisor
    (a, b), (c, d) = _split(quotients), _split(divisor)
    error = ((a * c - product) + a * d + b * c) + b * d
    rest = (high - product) - error
    corrections = (rest + low) / divisor  # two roundings, each of at most 2**-53 of the value
    margins = np.abs(corrections) * 2.0**-50
    least, largest = quotients + (corrections - margins), quotients + (corrections + margins)
    return least, least == largest


def _split(value: Any) -> tuple[Any, Any]:
    scaled = value * _SPLITTER
    high = scaled - (scaled - value)
    return high, value - high

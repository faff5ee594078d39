"""Decimals in a block of bytes, as doubles, many at once.

An integer of at most 53 bits and a power of ten up to 10**22 are doubles without rounding, so their
quotient is rounded once: it is the double that is nearest to the decimal. Decimals of a few bytes
without an exponent are read so, and all others by Python.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.tables import Layout
from mediaeval_ap.tables.line_format import LARGEST_INTEGER, number_bytes
from mediaeval_ap.trec.byte_fields import AMONG_FIRST, Fields, windows
from mediaeval_ap.trec.documents import WORD

PLAIN_BYTES = 2 * WORD  # without a sign
NO_POINT = -1  # as a number of decimals

_ZEROS = np.uint64(int.from_bytes(b'0' * WORD))
_ABOVE_9 = np.uint64(
    int.from_bytes(b'\x76' * WORD)
)  # gives the highest bit of a byte of more than 9
_HIGHEST_BITS = np.uint64(int.from_bytes(b'\x80' * WORD))


def numbers_at(fields: Fields, layout: Layout) -> NDArray[np.float64] | None:
    """Return the numbers of a layout if all of them are right; None if not."""
    begins, ends = (places[:, layout.number_at] for places in (fields.begins, fields.ends))
    is_negative = fields.buffer[begins] == ord('-')
    sizes = ends - begins - is_negative
    first, *others = _to_try(fields.text[begins[0] : ends[0]], layout)
    values, is_right = _plain(fields.buffer, ends, sizes, first)
    left = np.flatnonzero(~is_right & (sizes <= PLAIN_BYTES))
    for n_decimals in others if len(left) else ():
        rows = left[_has_point(fields.buffer, ends[left], n_decimals)]
        values[rows], is_right[rows] = _plain(fields.buffer, ends[rows], sizes[rows], n_decimals)
        left = left[~is_right[left]]
    np.negative(values, out=values, where=is_negative)
    left = np.flatnonzero(~is_right)
    if len(left):
        written = zip(begins[left].tolist(), ends[left].tolist(), strict=True)
        by_python = _by_python([fields.text[begin:end] for begin, end in written], layout)
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
    return sorted(range(NO_POINT, PLAIN_BYTES - 1), key=lambda number: abs(number - at_first))


def _has_point(
    buffer: NDArray[np.uint8], ends: NDArray[np.int64], n_decimals: int
) -> NDArray[np.bool_]:
    if n_decimals == NO_POINT:
        return np.ones(len(ends), dtype=np.bool_)
    has_point: NDArray[np.bool_] = buffer[ends - (n_decimals + 1)] == ord('.')
    return has_point


def _plain(
    buffer: NDArray[np.uint8], ends: NDArray[np.int64], sizes: NDArray[np.int64], n_decimals: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return decimals without sign or exponent, with the point there, and which are right."""
    digits = windows(buffer, ends - PLAIN_BYTES, 2) ^ _ZEROS
    n_before = np.clip(PLAIN_BYTES - sizes, 0, PLAIN_BYTES)
    first, last = (digits[:, word] & ~AMONG_FIRST[word][n_before] for word in (0, 1))
    is_right = (sizes > 0) & (sizes <= PLAIN_BYTES)
    if n_decimals != NO_POINT:
        is_right &= (sizes > max(n_decimals, 1)) & _has_point(buffer, ends, n_decimals)
        moved = AMONG_FIRST[:2, PLAIN_BYTES - n_decimals]  # all before the point, over it
        last = (last & ~moved[1]) | ((last << 8 | first >> 56) & moved[1])
        first = (first & ~moved[0]) | (first << 8 & moved[0])
    no_digits = ((first + _ABOVE_9) | first | (last + _ABOVE_9) | last) & _HIGHEST_BITS
    integers = _eight_digits(first) * 10**8 + _eight_digits(last)
    is_right &= (no_digits == 0) & (integers <= LARGEST_INTEGER)
    return integers / 10.0 ** max(n_decimals, 0), is_right


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


def _by_python(written: list[bytes], layout: Layout) -> list[float] | None:
    if b''.join(written).translate(None, number_bytes(layout)):
        return None
    try:
        numbers = list(map(float, written))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None

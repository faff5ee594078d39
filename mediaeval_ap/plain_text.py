r"""Text that a field can hold: its characters, and the white space that stands between words.

The white space of every reader: spaces and tabs, and in a field of CSV, which can hold them, line
ends, LF or CR LF. All else belongs to a word: vertical tab, form feed, no-break space, line
separator.
"""

from __future__ import annotations

__all__ = ['BETWEEN_LABELS', 'BETWEEN_WORDS', 'is_text', 'plain_text']

BETWEEN_WORDS = ' \t'
BETWEEN_LABELS = f'(?:[{BETWEEN_WORDS}\n]|\r\n)+'


def plain_text(value: object) -> str | None:
    """Return the characters of text, whatever its class makes of them.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str or None
        A plain `str`, with none of the methods of a subclass; none for what is no text.

    Notes
    -----
    A subclass can print, compare and hash in its own way, as an `enum.Enum` of texts prints the
    names of its members. So text is made plain before it is compared, looked up or kept.

    Examples
    --------
    >>> from enum import Enum
    >>> Person = Enum('Person', {'ANN': 'ann'}, type=str)
    >>> plain_text(Person.ANN), str(Person.ANN), plain_text(7)
    ('ann', 'Person.ANN', None)
    """
    if type(value) is str:
        return value
    # Not isinstance, which believes what a value says of itself.
    return str.__str__(value) if issubclass(type(value), str) else None


def is_text(value: object) -> bool:
    r"""Return whether a value can be a name: text on one line, without spaces around it, not empty.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        False for what UTF-8 cannot hold, and for what a line never gives: a NUL, its own end, a
        space or tab around the name. Within it there may be some.

    Examples
    --------
    >>> [is_text(value) for value in ('nan', 'ann lee', '', 'ann ', 'ann\n', '\ud800', b'ann')]
    [True, True, False, False, False, False, False]
    """
    text = plain_text(value)
    if not text or text.strip(BETWEEN_WORDS) != text:
        return False
    if '\n' in text or '\r' in text or '\0' in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Text that a field can hold, and the white space between words: one definition for all readers.

White space is spaces and tabs; in a field of CSV, which can hold them, also line ends, LF or CR LF.
All else belongs to a word: vertical tab, form feed, no-break space, line separator.
"""

from __future__ import annotations

TEXT = 'non-empty text on one line, without spaces around it'  # what `is_text` accepts
BETWEEN_WORDS = ' \t'
BETWEEN_LABELS = f'(?:[{BETWEEN_WORDS}\n]|\r\n)+'


def plain_text(value: object) -> str | None:
    """Return text as a plain `str`, and none for what is no text."""
    # A subclass can print, compare and hash in its own way, as an `enum.Enum` of texts prints the
    # names of its members. So text is made plain before it is compared, looked up or kept.
    if type(value) is str:
        return value
    # Not isinstance, which believes what a value says of itself.
    return str.__str__(value) if issubclass(type(value), str) else None


def is_text(value: object) -> bool:
    """Return whether a value can be a name: not empty, on one line, without spaces around it."""
    text = plain_text(value)
    if not text or text.strip(BETWEEN_WORDS) != text:
        return False
    if '\n' in text or '\r' in text or '\0' in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold
        return False
    return True


def is_uri(path: object) -> bool:
    """Return whether a path is the address of something that may be on another machine."""
    text = plain_text(path)
    return text is not None and '://' in text

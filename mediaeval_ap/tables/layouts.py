"""The fields of each kind of table, in the order in which its lines hold them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ['HYPOTHESIS', 'QUERIES', 'REFERENCE', 'SUBSET', 'Layout']


@dataclass(frozen=True)
class Layout:
    """The fields of one kind of table.

    Parameters
    ----------
    name : str
        What such a table is called.
    texts : tuple of str
        Its fields of text, in order.
    number : str or None
        The field of finite numbers that follows them, if there is one.

    Examples
    --------
    >>> HYPOTHESIS.fields
    ('corpus_id', 'video_id', 'shot_id', 'person_name', 'confidence')
    """

    name: str
    texts: tuple[str, ...]
    number: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields, in order."""
        return self.texts if self.number is None else (*self.texts, self.number)

    @property
    def expected(self) -> str:
        """The fields of a line, as an error message asks for them."""
        count = len(self.fields)
        return f'{count} field{"s" if count > 1 else ""}: {" ".join(self.fields)}'


REFERENCE = Layout('reference', ('corpus_id', 'video_id', 'shot_id', 'person_name'))
HYPOTHESIS = Layout('hypothesis', REFERENCE.texts, 'confidence')
SUBSET = Layout('subset', ('corpus_id', 'video_id'))
QUERIES = Layout('queries', ('person_name',))

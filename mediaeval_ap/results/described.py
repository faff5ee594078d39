"""Values that are shown, and written to files, as documents."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import render, to_html


class Described(ABC):
    """A value that describes itself as a document, in each output format."""

    @abstractmethod
    def _document(self) -> Document: ...

    def _repr_html_(self) -> str:
        return to_html(self._document())

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the rows as CSV with every digit, or write them to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all, compressed if it ends in ``.gz``, ``.bz2``,
            ``.xz`` or ``.zst``.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError
            When the file cannot be written.
        """
        return written(self._document(), 'csv', path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return everything as JSON with every digit, or write it to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write, as `to_csv` does.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError
            As of `to_csv`.
        """
        return written(self._document(), 'json', path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return tables of Markdown with three decimals, or write them to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write, as `to_csv` does.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError
            As of `to_csv`.
        """
        return written(self._document(), 'markdown', path)

    def to_latex(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return tables of LaTeX (booktabs) with three decimals, or write them to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write, as `to_csv` does.

        Returns
        -------
        str or None
            The text; None if it is written to a file.

        Raises
        ------
        WriteError
            As of `to_csv`.
        """
        return written(self._document(), 'latex', path)


def written(document: Document, format: str, path: str | os.PathLike[str] | None) -> str | None:
    """Return a document in an output format, or write it to a file."""
    text = render(document, format)
    if path is None:
        return text
    write_whole(path, text)
    return None

"""Values that describe themselves as a document, and the JSON that all kinds of them have."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from inspect import signature
from typing import Any, NoReturn, overload

from mediaeval_ap import __version__
from mediaeval_ap.atomic_files import write_whole
from mediaeval_ap.definitions import Definition
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.render.document import Document
from mediaeval_ap.render.formats import render, to_html
from mediaeval_ap.tables import Provenance

RESULTS_SCHEMA = 'mediaeval-ap/results/1'
Path = str | os.PathLike[str]


class Described(ABC):
    """A value that describes itself as a document, in each output format."""

    @abstractmethod
    def document(self, *args: Any, **kwargs: Any) -> Document:
        """Describe the value for all output formats.

        Returns
        -------
        Document
            Blocks for people and for papers, an object for JSON, and a table for programs.
        """

    def __getitem__(self, key: object) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"'{name}' has no items: .to_frame() and .to_dict() have its values")

    def __repr__(self) -> str:
        return render(self.document(), 'table').rstrip()

    def _repr_html_(self) -> str:
        return to_html(self.document())

    @overload
    def to_csv(self, path: None = None, *, per_query: bool = ...) -> str: ...
    @overload
    def to_csv(self, path: Path, *, per_query: bool = ...) -> None: ...
    def to_csv(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return the rows as CSV with every digit, or write them to a file and return None.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write: whole or not at all, compressed if it ends in ``.gz``, ``.bz2``,
            ``.xz`` or ``.zst``.
        per_query : bool
            Of a result: begin with a row for each query. The last row, whose query is ``all``, has
            the means and the number of queries in them, as in `to_frame`. A diagnosis always has a
            row for each query; a `Comparison` and the diagnosis of one query refuse this.

        Raises
        ------
        WriteError
            When the file cannot be written.
        ParameterError
            With ``per_query=True``, if there are no rows by query.

        Examples
        --------
        >>> from mediaeval_ap import AveragePrecision
        >>> evaluation = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate(
        ...     [('x', 'v', '1', 'ann', 0.5)]
        ... )
        >>> print(evaluation.to_csv(per_query=True), end='')
        run,definition,query,AP@1,n_relevant,n_queries
        <hypothesis>,mediaeval-2016,ann,1.0,1,
        <hypothesis>,mediaeval-2016,all,1.0,1,1
        """
        return self._return_or_write('csv', path, per_query)

    @overload
    def to_json(self, path: None = None, *, per_query: bool = ...) -> str: ...
    @overload
    def to_json(self, path: Path, *, per_query: bool = ...) -> None: ...
    def to_json(self, path: Path | None = None, *, per_query: bool = True) -> str | None:
        """Return everything as JSON with every digit, or write it to a file, as `to_csv`.

        `read_results` reads it back. Every command writes this shape with ``--format json``.
        ``per_query=False`` leaves the values of queries out.
        """
        document = replace(self.document(), value=lambda: self._json_value(per_query))
        return return_or_write(render(document, 'json'), path)

    def _json_value(self, per_query: bool) -> Any:
        return self.document().value()

    def __eq__(self, other: object) -> bool:
        """Return True if both have one JSON; warnings do not count."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return bool(self._json_value(True) == other._json_value(True))

    @overload
    def to_markdown(self, path: None = None, *, per_query: bool = ...) -> str: ...
    @overload
    def to_markdown(self, path: Path, *, per_query: bool = ...) -> None: ...
    def to_markdown(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return tables of Markdown with three decimals, or write them to a file, as `to_csv`.

        Of a diagnosis, `per_query` shows all queries, not only the costliest.
        """
        return self._return_or_write('markdown', path, per_query)

    @overload
    def to_latex(self, path: None = None, *, per_query: bool = ...) -> str: ...
    @overload
    def to_latex(self, path: Path, *, per_query: bool = ...) -> None: ...
    def to_latex(self, path: Path | None = None, *, per_query: bool = False) -> str | None:
        """Return tables of LaTeX (booktabs) with three decimals, as `to_markdown`."""
        return self._return_or_write('latex', path, per_query)

    def _return_or_write(self, format: str, path: Path | None, per_query: bool) -> str | None:
        options = {'per_query': True} if per_query else {}
        if per_query and 'per_query' not in signature(self.document).parameters:
            name = type(self).__name__
            raise ParameterError(f'per_query: found True, expected False: {name} has no such rows')
        return return_or_write(render(self.document(**options), format), path)


class DescribedTable(Described):
    """A value that is a table, too, which polars, DuckDB and others read by Arrow's protocol."""

    to_frame: Callable[..., Any]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow

        frame = self.to_frame()
        table = pyarrow.Table.from_pandas(frame.reset_index() if frame.index.name else frame)
        return table.__arrow_c_stream__(requested_schema)


def return_or_write(text: str, path: Path | None) -> str | None:
    if path is None:
        return text
    write_whole(path, text)
    return None


def json_document(schema: str, **entries: Any) -> dict[str, Any]:
    """Return the JSON object of a file, with its schema and the version of this package."""
    return {'schema': schema, 'version': __version__, **entries}


def manifest_json(**entries: Any) -> dict[str, Any]:
    """Return the manifest: the version of this package, then settings, inputs and counts."""
    return {'version': __version__, **{name: _as_json(entry) for name, entry in entries.items()}}


def _as_json(entry: Any) -> Any:
    """Return a definition, an input or a mapping of inputs as objects for JSON."""
    if isinstance(entry, Definition):
        return entry.to_dict()
    if isinstance(entry, Provenance):
        return asdict(entry)
    if isinstance(entry, Mapping):
        return {name: _as_json(value) for name, value in entry.items()}
    return entry

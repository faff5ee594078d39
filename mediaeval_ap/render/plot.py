"""Figures of one result: list them, draw one by name, write all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any

from mediaeval_ap.atomic_files import as_write_errors, write_all_whole
from mediaeval_ap.choices import check_policy
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.progress import tracked

FIGURE_FORMATS = ('svg', 'png', 'pdf')


class Plot:
    """Figures, each drawn by a public method of the subclass."""

    def __repr__(self) -> str:
        lines = [f'{type(self).__name__}, whose methods draw Altair charts:']
        for name, draw in [*self._methods().items(), ('save_all', self.save_all)]:
            summary, *_ = (draw.__doc__ or '').splitlines() or ['']
            lines.append(f'  {name}({", ".join(signature(draw).parameters)})  {summary}')
        return '\n'.join(lines)

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Draw the first figure."""
        draw = next(iter(self._methods().values()))
        return draw(*arguments, **settings)

    def save_all(
        self,
        folder: str | os.PathLike[str],
        figures: Iterable[str] | None = None,
        *,
        format: str = 'svg',
    ) -> list[str]:
        """Write figures to a folder, each to a file named after its method; return their paths.

        Parameters
        ----------
        folder : str or path-like
            The folder; it is made if it does not exist.
        figures : iterable of str, optional
            Names of methods; by default all that the data allow (a scatter needs two runs).
        format : {'svg', 'png', 'pdf'}
            The format and suffix of the files.

        Raises
        ------
        ParameterError
            A figure in `figures` does not exist or cannot be drawn.
        """
        return write_figures(self, folder, figures, format, arguments={})

    def _methods(self) -> dict[str, Any]:
        """Return the drawing methods by name, in the order of their definitions."""
        names = dict.fromkeys(name for kind in type(self).__mro__[::-1] for name in vars(kind))
        figures = (name for name in names if not name.startswith('_') and name != 'save_all')
        return {name: getattr(self, name) for name in figures}


def write_figures(
    plot: Plot,
    folder: str | os.PathLike[str],
    figures: Iterable[str] | None,
    format: str,
    arguments: Mapping[str, Sequence[Any]],
) -> list[str]:
    """Write figures to a folder; `arguments` has the arguments of figures, by name."""
    from mediaeval_ap.render.page import render_chart

    suffix = check_policy('format', format, FIGURE_FORMATS)
    methods = plot._methods()
    names = None
    if figures is not None:
        names = [check_policy('figures', name, (*methods,)) for name in figures]
    contents: dict[str | os.PathLike[str], Any] = {}
    for name in tracked(names or methods, 'drawing', ' figures'):
        try:
            chart = methods[name](*arguments.get(name, ()))
        except ParameterError:
            if names is not None or (name == [*methods][-1] and not contents):
                raise
        else:
            contents[os.path.join(folder, f'{name}.{suffix}')] = render_chart(chart, suffix)
    with as_write_errors(os.fsdecode(folder)):
        os.makedirs(folder, exist_ok=True)
    write_all_whole(contents)
    return [os.fspath(path) for path in contents]

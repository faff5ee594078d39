"""Documents: results as headings, grids and notes, before any output format is chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pandas

EXACT = ('confidence',)  # columns of the input's own numbers, which are told apart by every digit


class Terms(NamedTuple):
    """The words of tables and figures for runs and queries, and the bounds of values."""

    run: str = 'run'
    runs: str = 'runs'
    query: str = 'query'
    queries: str = 'queries'
    low: float = 0
    high: float = 1


OF_RESULTS = Terms()


@dataclass(frozen=True)
class Heading:
    """The name of a run and, in parentheses, how it was scored."""

    name: str
    note: str = ''


@dataclass(frozen=True)
class Grid:
    """Rows of values under headers; people see floats rounded, but not in the `exact` columns.

    A terminal shows the largest value of the `best` columns in bold.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    exact: Collection[str] = ()
    best: Collection[str] = ()

    @classmethod
    def from_frame(cls, frame: pandas.DataFrame) -> Grid:
        """Return the columns of a frame as values of Python; NaN and missing values are None."""
        columns = [
            column.tolist() if given.all() else column.astype(object).where(given, None).tolist()
            for column, given in ((frame[name], frame[name].notna()) for name in frame)
        ]
        return cls(list(frame.columns), list(zip(*columns, strict=True)), EXACT)

    def objects(self) -> list[dict[str, Any]]:
        """Return each row as a mapping from header to value."""
        return [dict(zip(self.headers, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Marked:
    """A number or words in a grid, bold if the best, with a mark and a detail beside it."""

    value: Any
    is_best: bool = False
    mark: str = ''
    detail: str = ''


@dataclass(frozen=True)
class Captioned:
    """A grid as papers print it: with a caption, and a label that the text refers to."""

    grid: Grid
    caption: str
    label: str


@dataclass(frozen=True)
class Remark:
    """An error or a warning about a line of a file."""

    severity: str
    kind: str
    file: str
    line: int
    text: str
    remedy: str


@dataclass(frozen=True)
class Remarks:
    """Remarks of one kind, and how many more there are, as text."""

    remarks: Sequence[Remark]
    more: str = ''


Block: TypeAlias = (
    Heading | Grid | Captioned | Remarks | str
)  # a string is text that stands as it is


@dataclass(frozen=True)
class Document:
    """Blocks for people; rows (if any) and a JSON value for programs; made when asked for.

    `for_papers` are the blocks of Markdown and LaTeX, where these are others.
    """

    blocks: Callable[[], Iterable[Block]]
    value: Callable[[], Any]
    rows: Callable[[], Grid] | None = None
    for_papers: Callable[[], Iterable[Block]] | None = None

    @classmethod
    def from_grid(cls, grid: Grid) -> Document:
        """Return a document of nothing but a grid."""
        return cls(lambda: [grid], grid.objects, lambda: grid)

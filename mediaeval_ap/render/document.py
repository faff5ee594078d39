"""Documents: results as headings, grids and notes, independent of the output format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pandas

EXACT = ('confidence',)  # columns of numbers from the input, shown with all their digits


class Terms(NamedTuple):
    """The words for runs and queries in tables and figures, and the range of values."""

    run: str = 'run'
    runs: str = 'runs'
    query: str = 'query'
    queries: str = 'queries'
    low: float = 0
    high: float = 1
    lower_is_better: bool = False

    @property
    def direction(self) -> str:
        return 'lower is better' if self.lower_is_better else 'more is better'


RESULT_TERMS = Terms()


@dataclass(frozen=True)
class Heading:
    """The name of a run and, in parentheses, how it was scored."""

    name: str
    note: str = ''


@dataclass(frozen=True)
class Grid:
    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    exact: Collection[str] = ()  # columns whose floats are not rounded for people
    best: Collection[str] = ()  # columns whose largest value is bold

    @classmethod
    def from_frame(cls, frame: pandas.DataFrame) -> Grid:
        """Convert a frame to Python values; NaN and missing values become None."""
        columns = []
        for name in frame:
            column = frame[name]
            is_present = column.notna()
            if not is_present.all():
                column = column.astype(object).where(is_present, None)
            columns.append(column.tolist())
        return cls(list(frame.columns), list(zip(*columns, strict=True)), EXACT)

    def objects(self) -> list[dict[str, Any]]:
        """Return each row as a mapping from header to value."""
        return [dict(zip(self.headers, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Marked:
    """A number or words in a grid, bold if the best, with a mark and a detail after it."""

    value: Any
    is_best: bool = False
    mark: str = ''
    detail: str = ''


@dataclass(frozen=True)
class Captioned:
    """A grid for a paper, with its caption, label and note; if wide, it spans both columns."""

    grid: Grid
    caption: str
    label: str
    note: str = ''
    is_wide: bool = False


@dataclass(frozen=True)
class Remarks:
    """Remarks of one kind, each with its remedy, and a text that counts those left out."""

    remarks: Sequence[tuple[str, str]]
    more: str = ''


Block: TypeAlias = Heading | Grid | Captioned | Remarks | str  # a string is shown unchanged


@dataclass(frozen=True)
class Document:
    """Blocks for people; rows (if any) and a JSON value for programs; all made on demand."""

    blocks: Callable[[], Iterable[Block]]
    value: Callable[[], Any]
    rows: Callable[[], Grid] | None = None
    for_papers: Callable[[], Iterable[Block]] | None = None  # in place of the blocks

    @classmethod
    def from_grid(cls, grid: Grid) -> Document:
        return cls(lambda: [grid], grid.objects, lambda: grid)

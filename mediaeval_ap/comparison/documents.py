"""Comparisons as documents."""

from __future__ import annotations

from mediaeval_ap.comparison.comparison import Comparison, Standing, columns_of, flat
from mediaeval_ap.report.document import Document, Grid


def describe(comparison: Comparison) -> Document:
    """Return a comparison as a document."""
    columns = columns_of(Standing)
    rows = [[flat(each)[name] for name in columns] for each in comparison.leaderboard]
    grid = Grid(columns, rows)
    return Document(lambda: [grid, comparison.caption()], comparison.to_dict, lambda: grid)


def caption(comparison: Comparison) -> str:
    """Return test, correction, seed, counts and definition in a sentence or two."""
    settings = comparison.parameters
    return (
        f'{settings["level"]:.0%} {settings["interval"]} intervals over '
        f'{len(comparison.queries)} queries, {settings["correction"]}, seed {settings["seed"]}, '
        f'definition {settings["definition"]}.'
    )

"""Diagnoses as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mediaeval_ap.report.document import Document, Grid, Heading, figures

if TYPE_CHECKING:
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis


def describe(diagnosis: Diagnosis) -> Document:
    """Return a diagnosis as a document."""
    columns = {'query': diagnosis.queries, 'ap': diagnosis.ap.tolist()}
    columns |= {part: each.tolist() for part, each in diagnosis.parts.items()}
    return Document(
        lambda: [
            Heading(diagnosis.run, str(diagnosis.definition)),
            figures('LOSS', len(diagnosis.queries), diagnosis.mean_parts),
        ],
        diagnosis.to_dict,
        lambda: Grid.from_columns(columns),
    )

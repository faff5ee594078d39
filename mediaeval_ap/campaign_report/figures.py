"""The figures of a report, from its comparison, diagnoses and rankings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mediaeval_ap.comparison.comparison import Comparison
    from mediaeval_ap.diagnosis.diagnosis import Diagnosis


class Figures:
    """The figures of a report; each method returns an Altair chart."""

    def __init__(
        self,
        comparison: Comparison,
        diagnoses: Mapping[str, Diagnosis],
        rankings: Mapping[str, Any],
    ) -> None:
        self._comparison = comparison
        self._diagnoses = diagnoses
        self._rankings = rankings

    def specifications(self) -> dict[str, Any]:
        return {}

    def bundle(self) -> str:
        return ''

"""Kinds of problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal['error', 'warning']


@dataclass(frozen=True)
class Kind:
    """A kind of problem, and how to mend it; errors are what a campaign refuses."""

    name: str
    severity: Severity
    mend: str = field(repr=False)

    def __str__(self) -> str:
        return self.name

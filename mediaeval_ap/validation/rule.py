"""A rule: a check of some files of a submission, with the kinds of problems that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.kinds import Kind
from mediaeval_ap.validation.problems import Finding

Files: TypeAlias = Mapping[str, LenientTable]  # by role: hypothesis, shots, …
SUBMITTED = ('hypothesis', 'evidence')  # the roles of files that a participant writes


@dataclass(frozen=True)
class Rule:
    """A check that is made when the files that it needs are given."""

    kinds: tuple[Kind, ...]
    check: Callable[[Files], Iterator[Finding]]
    needs: tuple[str, ...] = ('hypothesis',)
    campaigns_only: bool = False  # not applied with rules='none'

"""A rule: a check of some files of a submission, with the kinds of problems that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mediaeval_ap.tables.lenient_text import LenientTable
from mediaeval_ap.validation.problems import Finding, Kind


@dataclass(frozen=True)
class Rule:
    """A check that is made when the files that it needs are given; roles name the files."""

    kinds: tuple[Kind, ...]
    check: Callable[..., Iterator[Finding]]  # of these kinds, and of files in this order:
    needs: tuple[str, ...] = ('hypothesis',)
    others: tuple[str, ...] = ()  # which are passed on if they are given
    campaigns_only: bool = False  # not applied with rules='none'

    def findings(self, files: Mapping[str, LenientTable]) -> Iterator[Finding]:
        """Check a submission, whose files come by role."""
        if files.keys() >= set(self.needs):
            others = [files[role] for role in self.others if role in files]
            yield from self.check(*self.kinds, *(files[role] for role in self.needs), *others)

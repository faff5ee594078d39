"""Files that say in which group each item is: columns item and group, under a header."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mediaeval_ap.errors import FormatError, counted, shown
from mediaeval_ap.tables.inputs import Frame
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.reading import Origin
from mediaeval_ap.tables.records import read_records
from mediaeval_ap.tables.table import Source

GROUPS = RecordLayout(('item', 'group'))


@dataclass(frozen=True)
class Groups:
    """The group of each item of a file."""

    source: Source
    by_item: dict[str, str]

    @classmethod
    def read(cls, origin: Frame) -> Groups:
        """Read groups, or refuse an item that stands there twice."""
        records = read_records(Origin.of(origin), [GROUPS])
        for role in GROUPS.texts:
            records.refuse_empty(role)
        items, groups = (records[role].to_pylist() for role in GROUPS.texts)
        found: dict[str, str] = {}
        for row, (item, group) in enumerate(zip(items, groups, strict=True)):
            if item in found:
                raise records.error([row], 'item', f'{shown(item)} again', 'each item once')
            found[item] = group
        return cls(records.source, found)

    def of(self, items: Iterable[str]) -> list[str]:
        """Return the group of each item, or refuse one that has none."""
        items = list(items)
        if lacking := [item for item in items if item not in self.by_item]:
            expected = f'one for each of the {len(items):,} that are scored: add it, with any group'
            found = f'no row of {shown(lacking[0])}'
            if more := len(lacking) - 1:
                found += f' and {counted(more, "other", "others")}'
            raise FormatError(self.source.name, '', 'item', found, expected)
        return [self.by_item[item] for item in items]

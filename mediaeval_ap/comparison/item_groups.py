"""The group, or cluster, of each item: from a column of score tables, or a table of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mediaeval_ap.errors import FormatError, shown, with_noun
from mediaeval_ap.tables import Provenance
from mediaeval_ap.tables.layouts import RecordLayout
from mediaeval_ap.tables.reading import TableInput
from mediaeval_ap.tables.records import Records, read_records
from mediaeval_ap.tables.table import Frame

GROUP_LAYOUT = RecordLayout(('item', 'group'))


def groups_of_items(files: Sequence[Records], role: str, items: Iterable[str]) -> list[str] | None:
    """Return the text that each item has in the column of a role, such as its cluster.

    Returns None if no file has this column.

    Raises
    ------
    FormatError
        When an item has two different texts, or none.
    """
    group_by_item: dict[str, str] = {}
    for records in files:
        if role not in records.layout.by_role:
            continue
        records.refuse_empty(role)
        rows = zip(records['item'].to_pylist(), records[role].to_pylist(), strict=True)
        for row, (item, group) in enumerate(rows):
            if (first_group := group_by_item.setdefault(item, group)) != group:
                actual = f'{shown(group)} for {shown(item)}'
                raise records.error([row], role, actual, f'{shown(first_group)} as before')
    if not group_by_item:
        return None
    if lacking := [item for item in items if item not in group_by_item]:
        actual = f'no row of {shown(lacking[0])}'
        if n_more := len(lacking) - 1:
            actual += f' and {with_noun(n_more, "other", "others")}'
        names = ', '.join(records.source.name for records in files)
        raise FormatError(names, '', role, actual, f'one with the {role} of each item')
    return [group_by_item[item] for item in items]


def groups_in_file(origin: Frame, items: Sequence[str]) -> tuple[list[str], Provenance]:
    """Read the group of each item from a table of item,group; return its provenance, too."""
    records = read_records(TableInput.of(origin), [GROUP_LAYOUT])
    records.refuse_empty('item')
    return groups_of_items([records], 'group', items) or [], records.source

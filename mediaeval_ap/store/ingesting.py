"""Reading of the files of a run to a spool, from where an interrupted call ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import ParameterError, RestartedBuildWarning, printable, warn_caller
from mediaeval_ap.ranking.frozen_ranking import MOST_HYPOTHESES
from mediaeval_ap.store.manifest import Input, Subset
from mediaeval_ap.store.run_files import RunFile
from mediaeval_ap.store.spool import Spool
from mediaeval_ap.tables import HYPOTHESIS, Table
from mediaeval_ap.tables.parts import ChangedError, Position, TableParts


class Ingestion:
    """The reading of files to a spool, of which each file and each part is done once."""

    def __init__(
        self, spool: Spool, files: Sequence[RunFile], subset: Table | None, max_bytes: int
    ) -> None:
        self._spool = spool
        self._files = files
        self._subset = subset
        self._max_bytes = max_bytes
        described = Subset.of(subset)
        self._about = {
            'version': __version__,
            'list of files': [file.name for file in files],
            'subset': described and described.videos,
        }

    def read(self, work: Path) -> list[Input]:
        """Read what is not there yet, and describe all files; all anew if one was changed."""
        if not self._spool.journal:
            self._begin()
        elif (what := self._changed()) is not None:
            self._begin(what)
        try:
            return self._read(work)
        except ChangedError as error:
            self._begin(error.name)
            return self._read(work)

    @property
    def has_read(self) -> bool:
        """Return whether anything was read that need not be read again."""
        journal = self._spool.journal
        return bool(journal.get('done') or journal.get('position'))

    def _begin(self, changed: str = '') -> None:
        """Begin anew; say so if something was read already."""
        if changed and self.has_read:
            warning = f'{printable(changed)} changed since the build was interrupted: begins anew'
            warn_caller([RestartedBuildWarning(warning)])
        self._spool.begin({'about': self._about, 'done': [], 'file': None, 'position': None})

    def _changed(self) -> str | None:
        """Return what is not as the journal has it, if anything."""
        journal = self._spool.journal
        for key, value in self._about.items():
            if journal['about'][key] != value:
                return f'the {key}'
        begun = [*journal['done'], *([journal['file']] if journal['file'] else [])]
        for file, before in zip(self._files, begun, strict=False):
            if file.version is None or list(file.version) != before['version']:
                return file.name
        return None

    def _read(self, work: Path) -> list[Input]:
        journal = self._spool.journal
        for file in self._files[len(journal['done']) :]:
            begin = journal['position']
            position = Position() if begin is None else Position(**begin)
            about: dict[str, Any] = {
                'name': file.name,
                'version': file.version and list(file.version),
            }
            with file.source(work, self._max_bytes) as source:
                parts = TableParts(source, HYPOTHESIS, position)
                n_rows = position.n_rows
                for table, end in parts:
                    n_rows += len(table)
                    self._add(table)
                    if end is not None:
                        journal |= {'file': about, 'position': asdict(end)}
                        self._spool.save()
            about |= {'sha256': parts.source.sha256, 'n_rows': n_rows}
            journal['done'].append(about)
            journal |= {'file': None, 'position': None}
            self._spool.save()
        return [Input(each['name'], each['sha256'], each['n_rows']) for each in journal['done']]

    def _add(self, table: Table) -> None:
        if self._subset is not None:
            table = table.select(table.within(self._subset))
        self._spool.add(table)
        if self._spool.n_rows > MOST_HYPOTHESES:
            found = f'found more than {MOST_HYPOTHESES:,} hypotheses'
            raise ParameterError(f'{printable(table.source.name)}: {found}, expected at most these')

"""Rows that do not fit in memory: DuckDB keeps, numbers and sorts them on disk.

A row is integers alone: the codes of its texts, and a key of its confidence.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import order_of_narrow, ranks_in_runs, run_starts
from mediaeval_ap.cores import own_cores
from mediaeval_ap.errors import ReadError, require
from mediaeval_ap.progress import Bar
from mediaeval_ap.ranking.frozen_ranking import by_length
from mediaeval_ap.ranking.shots import ShotColumns, shot_order
from mediaeval_ap.store.manifest import Input
from mediaeval_ap.store.mapped_columns import DTYPES, SUFFIX, ColumnFile, ColumnWriter, write_column
from mediaeval_ap.store.writing import write_manifest
from mediaeval_ap.tables import HYPOTHESIS, Column, Table

DATABASE = 'rows.duckdb'
SPILLED = 'spilled'  # the folder of what DuckDB cannot sort in memory
MEMORY = '1500MB'  # of DuckDB; what numpy needs comes to it
MOST_THREADS = 4  # as each takes a part of the memory
CHUNK_VECTORS = 512  # fetched at a time, of 2,048 rows each
BLOCK_ROWS = 1 << 20
NARROW = 2**31  # if no key reaches it, keys are int32, as those of `Shots` of a table
WITHOUT_SIGN = np.int64(2**63 - 1)
FAILURES = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS

TABLES = f"""
    CREATE TABLE IF NOT EXISTS journal (content VARCHAR);
    CREATE TABLE IF NOT EXISTS texts (field VARCHAR, code INTEGER, content VARCHAR);
    CREATE TABLE IF NOT EXISTS rows (
        {', '.join(f'{field} INTEGER' for field in HYPOTHESIS.texts)},
        confidence BIGINT, is_negative_zero BOOLEAN
    );
"""
NUMBERED = """
    FROM rows
    JOIN videos USING (corpus_id, video_id)
    JOIN shot_ids USING (shot_id)
"""
SHOT_KEY = 'video::BIGINT * {n_shot_ids} + shot_ids.number'
SHOTS = f'SELECT DISTINCT {SHOT_KEY} AS key {NUMBERED} ORDER BY key'
# Rows that are equal but for the sign of a zero stand as they were read.
SORTED = f"""
    SELECT confidence, temporal_rank, shot, name, is_repeated{{signs}} FROM (
        SELECT
            *,
            (row_number() OVER times)::INTEGER AS temporal_rank,
            shot IS NOT DISTINCT FROM lag(shot) OVER times AS is_repeated
        FROM (
            SELECT names.number AS name, confidence, video, shot{{signed_rows}}
            {NUMBERED}
            JOIN names USING (person_name)
            JOIN shots ON key = {SHOT_KEY}
        )
        WINDOW times AS (PARTITION BY name, confidence, video ORDER BY shot{{position}})
    )
    ORDER BY confidence, temporal_rank, shot, name
"""


class RowDatabase:
    """The rows of a run in a file of DuckDB, with a journal of what they were read from.

    Rows count once they are saved with a journal: of a process that is killed, the rest is lost.
    """

    def __init__(self, folder: Path, largest_in_memory: int) -> None:
        what = f'a run of more than {largest_in_memory:,} hypotheses'
        self._duckdb: Any = require('duckdb', 'large', what)
        self._path = folder / DATABASE
        shutil.rmtree(folder / SPILLED, ignore_errors=True)
        self._connection: Any = None
        config: dict[str, Any] = {'memory_limit': MEMORY, 'temp_directory': str(folder / SPILLED)}
        with self.errors():
            threads = min(own_cores(), MOST_THREADS)
            self._connection = self._duckdb.connect(
                self._path, config=config | {'threads': threads}
            )
            self._connection.execute('SET enable_progress_bar = false')  # it has its own
            self._connection.execute(TABLES)
            self._connection.execute('BEGIN')

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of DuckDB into those of the system, or of a file that was damaged."""
        try:
            yield
        except self._duckdb.OutOfMemoryException as error:
            raise MemoryError(str(error)) from error
        except self._duckdb.ProgrammingError:
            raise
        except RuntimeError as error:
            if 'interrupted' not in str(error):
                raise
            raise KeyboardInterrupt from error
        except (self._duckdb.Error, ValueError) as error:
            self.close()
            for number in FAILURES:
                if os.strerror(number) in str(error):
                    raise OSError(number, os.strerror(number)) from error
            remedy = f'remove the folder {self._path.parent}, and index the run again'
            reason = f'is not as the build that was stopped left it: {remedy}'
            raise ReadError(str(self._path), reason) from error

    def load(self) -> tuple[dict[str, Any], dict[str, list[str]], int]:
        """Return the journal, the texts of each field by code, and the number of rows."""
        with self.errors():
            found = self._connection.execute('SELECT content FROM journal').fetchall()
            query = 'SELECT content FROM texts WHERE field = ? ORDER BY code'
            texts = {
                field: [text for (text,) in self._connection.execute(query, [field]).fetchall()]
                for field in HYPOTHESIS.texts
            }
            self._n_saved = {field: len(values) for field, values in texts.items()}
            ((n_rows,),) = self._connection.execute('SELECT count(*) FROM rows').fetchall()
            return json.loads(found[0][0]) if found else {}, texts, n_rows

    def add(self, codes: Mapping[str, NDArray[np.int32]], confidence: NDArray[np.float64]) -> None:
        """Add rows, which count when they are saved."""
        keys = (0.0 - confidence).view(np.int64)  # the same for both zeros
        keys ^= (keys >> 63) & WITHOUT_SIGN  # ascend where confidences descend
        is_negative_zero = np.signbit(confidence) & (confidence == 0)
        self.put('INSERT INTO rows', **codes, confidence=keys, is_negative_zero=is_negative_zero)

    def save(self, journal: Mapping[str, Any], texts: Mapping[str, Mapping[str, int]]) -> None:
        """Make all rows so far count; `texts` are all of each field with their codes."""
        for field, code_of in texts.items():
            new = dict(islice(code_of.items(), self._n_saved[field], None))
            columns = {'field': [field] * len(new), 'code': [*new.values()], 'content': [*new]}
            if new:
                self.put('INSERT INTO texts', **columns)
            self._n_saved[field] = len(code_of)
        with self.errors():
            self._connection.execute('DELETE FROM journal')
            self._connection.execute('INSERT INTO journal VALUES (?)', [json.dumps(journal)])
            self._connection.execute('COMMIT; BEGIN')

    def put(self, statement: str, **columns: Any) -> None:
        """Insert rows, given by column, or create a table of them: `statement` says where."""
        import pyarrow

        with self.errors():
            self._connection.register('given', pyarrow.table(columns))
            self._connection.execute(f'{statement} SELECT * FROM given')
            self._connection.unregister('given')

    def column(self, query: str) -> dict[str, NDArray[Any]]:
        """Return what a query finds, by column."""
        with self.errors():
            found: dict[str, NDArray[Any]] = self._connection.execute(query).fetchnumpy()
        return found

    def chunks(self, query: str) -> Iterator[Any]:
        """Yield what a query finds as frames of pandas, one after another."""
        with self.errors():
            self._connection.execute(query)
            while len(chunk := self._connection.fetch_df_chunk(CHUNK_VECTORS)):
                yield chunk

    def close(self) -> None:
        """Close the file, which stays."""
        if self._connection is not None:
            self._connection.close()


def write_large(
    database: RowDatabase,
    texts: Mapping[str, Sequence[str]],
    n_rows: int,
    folder: str,
    subset: Table | None,
    inputs: Sequence[Input],
) -> None:
    """Write all hypotheses of a database as the files of a store, to an empty folder."""
    shots = _numbered_shots(database, texts)
    people, numbers = _in_order(texts['person_name'])
    database.put('CREATE TEMP TABLE names AS', person_name=_numbers(people), number=numbers)
    names, name_numbers = by_length(people)
    files, held, n_repeated = _write_sorted(
        database, folder, n_rows, name_numbers, len(shots.shot_ids)
    )
    name_at = np.load(os.path.join(folder, f'name_at{SUFFIX}'), mmap_mode='r')
    files['places'] = write_column(folder, 'places', _by_name(name_at, held))
    files['held'] = write_column(folder, 'held', held)
    write_manifest(
        folder,
        files,
        names,
        shots,
        inputs=inputs,
        subset=subset,
        keep=None,
        n_hypotheses=n_rows,
        n_repeated=n_repeated,
    )


def _numbered_shots(database: RowDatabase, texts: Mapping[str, Sequence[str]]) -> ShotColumns:
    """Give numbers to videos and shots, in tables of the database; return them as columns."""
    corpora, corpus_numbers = _in_order(texts['corpus_id'])
    videos, video_numbers = _in_order(texts['video_id'])
    shot_ids, shot_numbers = _in_order(texts['shot_id'], shot_order)
    found = database.column('SELECT DISTINCT corpus_id, video_id FROM rows')
    video_keys = video_numbers[found['video_id']].astype(np.int64) * len(corpora)
    video_keys += corpus_numbers[found['corpus_id']]
    order = video_keys.argsort()
    video_keys = video_keys[order]
    columns = {field: codes[order] for field, codes in found.items()}
    database.put('CREATE TEMP TABLE videos AS', **columns, video=_numbers(video_keys))
    database.put('CREATE TEMP TABLE shot_ids AS', shot_id=_numbers(shot_ids), number=shot_numbers)
    shot_keys = database.column(SHOTS.format(n_shot_ids=len(shot_ids)))['key']
    database.put('CREATE TEMP TABLE shots AS', key=shot_keys, shot=_numbers(shot_keys))
    if len(videos) * len(corpora) < NARROW:
        video_keys = video_keys.astype(np.int32)
    if len(video_keys) * len(shot_ids) < NARROW:
        shot_keys = shot_keys.astype(np.int32)
    no_rows = np.empty(0, dtype=np.int32)
    return ShotColumns(corpora, videos, shot_ids, video_keys, shot_keys, no_rows)


def _write_sorted(
    database: RowDatabase,
    folder: str,
    n_rows: int,
    name_numbers: NDArray[np.int32],
    n_shot_ids: int,
) -> tuple[dict[str, ColumnFile], NDArray[np.int64], int]:
    """Write the columns by place; return them, the rows of each name, and how many are repeated."""
    has_signs = database.column('SELECT bool_or(is_negative_zero) AS it FROM rows')['it'][0]
    query = SORTED.format(
        n_shot_ids=n_shot_ids,
        signs=', is_negative_zero' if has_signs else '',
        signed_rows=', is_negative_zero, rows.rowid AS position' if has_signs else '',
        position=', position' if has_signs else '',
    )
    held = np.zeros(len(name_numbers), dtype=np.int64)
    n_repeated = 0
    with ExitStack() as stack, Bar('sorting', n_rows, ' rows') as bar:
        writers = {
            name: stack.enter_context(ColumnWriter(folder, name, DTYPES[name][0], (n_rows,)))
            for name in ('shot_at', 'name_at', 'confidence', 'temporal_rank')
        }
        for chunk in database.chunks(query):
            columns = {field: chunk[field].to_numpy() for field in chunk}
            name_at, keys = name_numbers[columns['name']], columns['confidence']
            confidence = 0.0 - (keys ^ (keys >> 63) & WITHOUT_SIGN).view(np.float64)
            if has_signs:
                confidence[columns['is_negative_zero']] = -0.0
            writers['shot_at'].add(columns['shot'])
            writers['name_at'].add(name_at)
            writers['confidence'].add(confidence)
            writers['temporal_rank'].add(columns['temporal_rank'])
            held += np.bincount(name_at, minlength=len(held))
            n_repeated += int(columns['is_repeated'].sum())
            bar.add(len(chunk))
        return {name: writer.finish() for name, writer in writers.items()}, held, n_repeated


def _in_order(
    texts: Sequence[str], key: Callable[[str], Any] | None = None
) -> tuple[list[str], NDArray[np.int32]]:
    """Return texts in order, and the position there of each as they are given."""
    column = Column(_numbers(texts), texts).sorted(key)
    return list(column.values), column.codes


def _numbers(values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int32]:
    return np.arange(len(values), dtype=np.int32)


def _by_name(name_at: NDArray[np.int32], held: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the places of each name, ascending, name by name, by counting."""
    places = np.empty(len(name_at), dtype=np.int32)
    ends = held.cumsum() - held  # of the places of each name that are there
    for begin in range(0, len(name_at), BLOCK_ROWS):
        names = name_at[begin : begin + BLOCK_ROWS]
        order = order_of_narrow(names)
        names = names[order]
        begins = run_starts([names])
        places[ends[names] + ranks_in_runs(begins, len(names)) - 1] = begin + order
        ends[names[begins]] += np.diff(begins, append=len(names))
    return places

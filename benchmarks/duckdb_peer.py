"""A peer in SQL over DuckDB: `python benchmarks/duckdb_peer.py FOLDER N_QUERIES`.

Distances are by its `levenshtein`; only the nearest names are joined with the hypotheses. Average
precision is that of the definition `mediaeval-2016`.
"""

import json
import sys
from functools import partial
from pathlib import Path

import duckdb
from memory import medians, step

K = (1, 10, 100, 1000)
TABLE = """
    CREATE TABLE {name} AS
    FROM read_csv('{path}', delim = ' ', header = false, quote = '', columns = {columns})
"""
# Shot ids are digits of one length, so their order as text is that of their numbers.
INDEX = """
    CREATE TABLE ranked AS
    SELECT *, row_number() OVER (
        ORDER BY confidence DESC, temporal_rank, video_id, corpus_id, shot_id, person_name
    ) AS place
    FROM (
        SELECT *, row_number() OVER (
            PARTITION BY person_name, confidence, corpus_id, video_id ORDER BY shot_id
        ) AS temporal_rank
        FROM hypothesis
    );
    DROP TABLE hypothesis;
    CREATE TABLE names AS SELECT person_name, count(*) AS n FROM ranked GROUP BY person_name
"""
QUERY = f"""
    WITH relevant AS (
        SELECT DISTINCT corpus_id, video_id, shot_id FROM reference WHERE person_name = $query
    ),
    distances AS (
        SELECT person_name, n,
            levenshtein(person_name, $query) / greatest(length(person_name), length($query))
            AS distance
        FROM names
    ),
    cumulative AS (SELECT *, sum(n) OVER (ORDER BY distance) AS within FROM distances),
    nearest AS (
        SELECT person_name, distance FROM cumulative
        WHERE distance <= (
            SELECT coalesce(min(distance), 1) FROM cumulative WHERE within >= {K[-1]}
        )
    ),
    top AS (
        SELECT distance, place, corpus_id, video_id, shot_id
        FROM ranked JOIN nearest USING (person_name)
        ORDER BY distance, place LIMIT {K[-1]}
    ),
    numbered AS (SELECT *, row_number() OVER (ORDER BY distance, place) AS rank FROM top),
    hits AS (
        SELECT rank, row_number() OVER (ORDER BY rank) / rank AS precision
        FROM numbered SEMI JOIN relevant USING (corpus_id, video_id, shot_id)
    ),
    counts AS (
        SELECT (SELECT count(*) FROM relevant) AS r, (SELECT count(*) FROM ranked) AS n
    )
    SELECT CASE WHEN r = 0 THEN 1.0 ELSE
        coalesce((SELECT sum(precision ORDER BY rank) FROM hits WHERE rank <= k), 0)
        / least(r, k, n)
    END
    FROM counts, (SELECT unnest({list(K)}) AS k) ORDER BY k
"""


def indexed(folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    columns = dict.fromkeys(['corpus_id', 'video_id', 'shot_id', 'person_name'], 'VARCHAR')
    tables = {'reference': columns, 'hypothesis': {**columns, 'confidence': 'DOUBLE'}}
    for name, types in tables.items():
        connection.execute(TABLE.format(name=name, path=folder / f'{name}.txt', columns=types))
    connection.execute(INDEX)
    return connection


def average_precision(connection: duckdb.DuckDBPyConnection, query: str) -> list[float]:
    return [value for (value,) in connection.execute(QUERY, {'query': query}).fetchall()]


def main(folder: Path, n_queries: int) -> None:
    connection, loading = step(partial(indexed, folder))
    queries = (folder / 'queries.txt').read_text().split()[:n_queries]
    asked = [step(partial(average_precision, connection, name)) for name in queries]
    values, taken = zip(*asked, strict=True)
    steps = {'open': loading, 'send': medians(taken)}
    print(json.dumps({'steps': steps, 'values': values}))


if __name__ == '__main__':
    main(Path(sys.argv[1]), int(sys.argv[2]))

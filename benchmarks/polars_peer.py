"""A peer over Polars and rapidfuzz: `python benchmarks/polars_peer.py FOLDER N_QUERIES`.

Code as a researcher would write it for a large run: distances to the distinct names, and only the
nearest of these joined with the hypotheses. The definition is `mediaeval-2016`.
"""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from rapidfuzz.distance.Levenshtein import normalized_distance
from rapidfuzz.process import cdist
from timing import measured, median_taken

K = (1, 10, 100, 1000)
SHOT = ['corpus_id', 'video_id', 'shot_id']
REFERENCE = [*SHOT, 'person_name']


def read(path: Path, columns: list[str]) -> pl.DataFrame:
    types = {name: pl.Float64 if name == 'confidence' else pl.String for name in columns}
    return pl.read_csv(path, separator=' ', has_header=False, schema=types, quote_char=None)


def indexed(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the hypotheses with their places, and the names with their counts.

    All shot ids have the same number of digits, so text sorts as numbers do.
    """
    rows = read(path, [*REFERENCE, 'confidence'])
    groups = ['person_name', 'confidence', 'corpus_id', 'video_id']
    temporal_rank = pl.int_range(pl.len()).over(groups, order_by='shot_id')
    order = ['confidence', 'temporal_rank', 'video_id', 'corpus_id', 'shot_id', 'person_name']
    ranked = rows.with_columns(temporal_rank=temporal_rank).sort(
        order, descending=[True, *[False] * (len(order) - 1)]
    )
    names = ranked.group_by('person_name').len('n')
    return ranked.with_row_index('place').select('place', *REFERENCE), names


def average_precision(
    rows: pl.DataFrame,
    names: pl.DataFrame,
    texts: list[str],
    reference: pl.DataFrame,
    query: str,
) -> list[float]:
    relevant = reference.filter(person_name=query).select(SHOT).unique()
    distances = cdist([query], texts, scorer=normalized_distance, dtype=np.float64, workers=-1)[0]
    by_distance = names.with_columns(distance=pl.Series(distances)).sort('distance')
    needed = by_distance.filter(pl.col('n').cum_sum() >= K[-1])['distance']
    radius = needed[0] if len(needed) else 1.0
    nearest = by_distance.filter(pl.col('distance') <= radius)
    top = rows.join(nearest, on='person_name').bottom_k(K[-1], by=['distance', 'place'])
    ranked = top.sort('distance', 'place').with_row_index('rank', offset=1)
    hits = ranked.join(relevant, on=SHOT, how='semi').sort('rank')['rank'].to_numpy()
    precisions = np.arange(1, len(hits) + 1) / hits
    return [
        float(precisions[hits <= k].sum()) / min(len(relevant), k, len(rows))
        if len(relevant)
        else 1.0
        for k in K
    ]


def main(folder: Path, n_queries: int) -> None:
    (rows, names), loading = measured(partial(indexed, folder / 'hypothesis.txt'))
    reference = read(folder / 'reference.txt', REFERENCE)
    queries = (folder / 'queries.txt').read_text().split()[:n_queries]
    texts = names['person_name'].to_list()
    ask = partial(average_precision, rows, names, texts, reference)
    asked = [measured(partial(ask, name)) for name in queries]
    values, taken = zip(*asked, strict=True)
    times = {'open': loading.cpu_seconds, 'send': median_taken(taken).cpu_seconds}
    print(json.dumps({**times, 'values': values}))


if __name__ == '__main__':
    main(Path(sys.argv[1]), int(sys.argv[2]))

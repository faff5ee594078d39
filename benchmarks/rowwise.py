"""The peer: a plain row-wise evaluator over pandas, of the kind that is usually written.

For each query, `python benchmarks/rowwise.py REFERENCE HYPOTHESIS QUERIES` computes the distance of
each row, sorts all rows, and looks each shot up.
"""

import sys
from pathlib import Path
from time import perf_counter

import pandas
from Levenshtein import distance

K = (1, 10, 100, 1000)
SHOT = ['corpus_id', 'video_id', 'shot_id']


def read(path: str, names: list[str]) -> pandas.DataFrame:
    types = {name: float if name == 'confidence' else str for name in names}
    return pandas.read_csv(path, sep=' ', names=names, dtype=types, keep_default_na=False)


def evaluate(reference: pandas.DataFrame, hypothesis: pandas.DataFrame, query: str) -> list[float]:
    hypothesis['distance'] = hypothesis['person_name'].apply(
        lambda name: distance(query, name) / max(len(query), len(name))
    )
    ranking = hypothesis.sort_values(
        by=['distance', 'confidence', 'temporal_rank', 'video_id', 'corpus_id', 'shot_id'],
        ascending=[True, False, True, True, True, True],
    )
    rows = reference[reference['person_name'] == query]
    relevant = set(rows[SHOT].itertuples(index=False, name=None))
    relevance = [shot in relevant for shot in ranking[SHOT].itertuples(index=False, name=None)]
    return [average_precision(relevance, len(relevant), k) for k in K]


def average_precision(relevance: list[bool], n_relevant: int, k: int) -> float:
    if not n_relevant:
        return 1.0
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance[:k], 1):
        if relevant:
            hits += 1
            total += hits / rank
    return total / min(n_relevant, k, len(relevance))


def main(reference_path: str, hypothesis_path: str, queries_path: str) -> None:
    reference = read(reference_path, [*SHOT, 'person_name'])
    hypothesis = read(hypothesis_path, [*SHOT, 'person_name', 'confidence'])
    same = ['corpus_id', 'video_id', 'person_name', 'confidence']
    hypothesis['temporal_rank'] = hypothesis.groupby(same)['shot_id'].rank('first')
    begin = perf_counter()
    for query in Path(queries_path).read_text().split():
        print(query, *evaluate(reference, hypothesis, query))
    print(f'queries: {perf_counter() - begin:.3f} s', file=sys.stderr)


if __name__ == '__main__':
    main(*sys.argv[1:])

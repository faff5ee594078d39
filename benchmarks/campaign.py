"""Synthetic campaigns: `python benchmarks/campaign.py FOLDER [N_HYPOTHESES N_NAMES ...]`."""

import sys
from pathlib import Path

import numpy as np

SEED = 5  # any seed: always the same campaign is measured
LETTERS = np.array(list('abcdefghijklmnopqrstuvwxyz'))


def make_names(random: np.random.Generator, count: int) -> list[str]:
    names: set[str] = set()
    while len(names) < count:
        given, family = (''.join(random.choice(LETTERS, random.integers(3, 10))) for _ in range(2))
        names.add(f'{given}_{family}')
    return sorted(names)


def pick(random: np.random.Generator, names: list[str]) -> str:
    return names[random.integers(len(names))]


def misspell(random: np.random.Generator, name: str) -> str:
    place = random.integers(len(name))
    return name[:place] + str(random.choice(LETTERS)) + name[place + 1 :]


def make_campaign(
    folder: Path,
    n_hypotheses: int = 30_000,
    n_names: int = 1_600,
    n_queries: int = 599,
    n_rows: int = 3_400,
    n_videos: int = 700,
) -> None:
    """Write reference.txt, hypothesis.txt and queries.txt."""
    random = np.random.default_rng(SEED)
    people = make_names(random, n_names * 3 // 4)
    names = sorted({*people, *(misspell(random, pick(random, people)) for _ in range(n_names))})
    names = random.permutation(names)[:n_names].tolist()
    queries = random.permutation(people)[:n_queries].tolist()
    asked = [*queries, *(pick(random, queries) for _ in range(n_rows - n_queries))]
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(random.integers(n_videos), random.integers(900), name) for name in asked]
    with open(folder / 'reference.txt', 'w') as file:
        file.writelines(f'TV video_{video:05d} {shot:06d} {name}\n' for video, shot, name in rows)
    (folder / 'queries.txt').write_text(''.join(f'{query}\n' for query in queries))
    with open(folder / 'hypothesis.txt', 'w') as file:
        for video, shot, name in rows[: n_hypotheses // 4]:
            said = name if random.random() < 0.7 else pick(random, names)
            file.write(f'TV video_{video:05d} {shot:06d} {said} {random.integers(10_000) / 1e4}\n')
        for start in range(min(len(rows), n_hypotheses // 4), n_hypotheses, 1_000_000):
            size = min(1_000_000, n_hypotheses - start)
            more = zip(
                random.integers(n_videos, size=size).tolist(),
                random.integers(900, size=size).tolist(),
                random.integers(n_names, size=size).tolist(),
                random.integers(1, 10_000, size=size).tolist(),
                strict=True,
            )
            file.writelines(
                f'TV video_{video:05d} {shot:06d} {names[name]} {confidence / 1e4}\n'
                for video, shot, name, confidence in more
            )


def large_campaign(
    folder: Path, n_hypotheses: int, n_names: int, n_queries: int = 1_000, n_rows: int = 20_000
) -> Path:
    """Return the folder of a campaign with many names; make it if there is none."""
    made = folder / f'{n_hypotheses}-{n_names}-{n_queries}'
    if not made.exists():
        unfinished = made.with_suffix('.unfinished')
        make_campaign(unfinished, n_hypotheses, n_names, n_queries, n_rows, 20_000)
        unfinished.rename(made)
    return made


if __name__ == '__main__':
    make_campaign(Path(sys.argv[1]), *map(int, sys.argv[2:]))

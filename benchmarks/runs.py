"""Seventeen synthetic runs of one campaign: `python benchmarks/runs.py FOLDER`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from campaign import make_names, misspell, pick

SEED = 14  # any seed: always the same runs are measured
N_QUERIES = 599
N_WITHOUT = 86  # queries without a relevant shot, as in the campaign of 2016
N_ROWS = 3_400
N_VIDEOS = 385
CORPORA = ('DW', 'INA', '3-24')


class Row(NamedTuple):
    corpus: str
    video: str
    shot: int
    name: str


class Hypothesis(NamedTuple):
    row: Row
    confidence: float


@dataclass(frozen=True)
class Team:
    """A system: its number of hypotheses, its skill, and the shares of its errors by kind."""

    name: str
    size: int
    skill: float
    misspelled: float
    confused: float
    copresent: float
    repeated: float
    digits: int  # of a confidence: few digits make many ties
    variants: tuple[float, ...]  # the share of hypotheses that each further run lacks


TEAMS = (
    Team('ash', 15_000, 0.85, 0.05, 0.03, 0.03, 0.05, 6, (0.0, 0.002, 0.02)),
    Team('birch', 30_000, 0.80, 0.10, 0.06, 0.05, 0.20, 2, (0.005, 0.02, 0.3)),
    Team('cedar', 7_000, 0.55, 0.05, 0.10, 0.02, 0.00, 3, (0.01, 0.05)),
    Team('elm', 4_000, 0.50, 0.20, 0.03, 0.10, 0.10, 1, (0.01, 0.1)),
    Team('fir', 1_000, 0.25, 0.02, 0.02, 0.02, 0.00, 0, (0.02, 0.1)),
)


class Campaign:
    """A reference, its queries, and the hypotheses of runs."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(SEED)
        people = make_names(self.random, N_QUERIES + 100)
        self.people = self.random.permutation(people).tolist()
        self.queries = sorted(self.people[:N_QUERIES])
        self.reference = self._appearances(self.people[N_WITHOUT:])
        self.difficulty = {name: self.random.random() for name in self.people}
        self.present: dict[tuple[str, int], list[str]] = {}
        for row in self.reference:
            self.present.setdefault((row.video, row.shot), []).append(row.name)

    def _appearances(self, people: list[str]) -> list[Row]:
        """Give each person a shot, and a few people many, most of them in one video."""
        weights = np.minimum(self.random.pareto(1.2, len(people)), 30) + 0.1
        more = self.random.choice(len(people), 5 * N_ROWS, p=weights / weights.sum())
        home = self.random.integers(N_VIDEOS, size=len(people))
        rows: dict[Row, None] = {}
        for person in [*range(len(people)), *more.tolist()]:
            away = self.random.random() < 0.2
            video = int(self.random.integers(N_VIDEOS) if away else home[person])
            shot = int(self.random.integers(60))
            rows[Row(CORPORA[video % 3], f'video_{video:04d}', shot, people[person])] = None
            if len(rows) == N_ROWS:
                break
        return [*rows]

    def run(self, team: Team) -> list[Hypothesis]:
        """Return the hypotheses of a team: mostly right ones, then guesses up to its size."""
        said: list[Hypothesis] = []
        for row in self.reference:
            hard = 0.7 * self.difficulty[row.name] + 0.3 * self.random.random()
            if hard < team.skill:
                name = self._name(team, row)
                said.append(Hypothesis(row._replace(name=name), 0.3 + 0.7 * self.random.random()))
        repeated = self.random.random(len(said)) < team.repeated
        said += [one for one, again in zip(said, repeated, strict=True) if again]
        while len(said) < team.size:
            row = self.reference[self.random.integers(len(self.reference))]
            name = pick(self.random, self.people)
            if self.random.random() < 0.5:
                name = misspell(self.random, name)
            guess = row._replace(shot=int(self.random.integers(60)), name=name)
            said.append(Hypothesis(guess, 0.6 * self.random.random()))
        kept = self.random.permutation(len(said))[: team.size]
        return [said[place] for place in kept.tolist()]

    def _name(self, team: Team, row: Row) -> str:
        kind = self.random.random()
        if kind < team.misspelled:
            return misspell(self.random, row.name)
        if kind < team.misspelled + team.confused:
            return pick(self.random, self.people)
        if kind < team.misspelled + team.confused + team.copresent:
            return pick(self.random, self.present[row.video, row.shot])
        return row.name


def line(hypothesis: Hypothesis, digits: int) -> str:
    corpus, video, shot, name = hypothesis.row
    return f'{corpus} {video} {shot:06d} {name} {hypothesis.confidence:.{digits}f}\n'


def make_runs(folder: Path) -> list[Path]:
    """Write reference.txt, queries.txt and seventeen runs; return the paths of the runs."""
    campaign = Campaign()
    (folder / 'runs').mkdir(parents=True, exist_ok=True)
    with open(folder / 'reference.txt', 'w') as file:
        file.writelines(
            f'{row.corpus} {row.video} {row.shot:06d} {row.name}\n' for row in campaign.reference
        )
    (folder / 'queries.txt').write_text(''.join(f'{query}\n' for query in campaign.queries))
    paths = []
    for team in TEAMS:
        hypotheses = campaign.run(team)
        for number, lacking in enumerate((0.0, *team.variants)):
            paths.append(folder / 'runs' / f'{team.name}_{number or "primary"}.txt')
            kept = campaign.random.random(len(hypotheses)) >= lacking
            with open(paths[-1], 'w') as file:
                chosen = zip(hypotheses, kept, strict=True)
                file.writelines(line(one, team.digits) for one, keep in chosen if keep)
    return paths


if __name__ == '__main__':
    make_runs(Path(sys.argv[1]))

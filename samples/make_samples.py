"""Make the synthetic sample files: `python samples/make_samples.py [FOLDER]`.

A broadcast-news corpus that nobody recorded: invented people in invented videos, names misread by
an invented optical character recogniser or misheard by an invented speech recogniser. Around three
real names, the reference is then laid out so that their relevant shots stand at given ranks.
"""

import sys
from collections import Counter
from pathlib import Path
from random import Random

from mediaeval_ap import AveragePrecision

SEED = 2016  # any would do: the files are what they are because it never changes
N_PEOPLE = 2000
N_VIDEOS = 150
N_ROWS = 8000
N_HYPOTHESES = 12000
N_NAMES = 3500

# How many shots are relevant to each query, and the ranks at which the run returns some of them.
N_RELEVANT = {'nicolas_sarkozy': 116, 'francois_hollande': 26, 'alain_juppe': 2}
HIT_RANKS = {
    'nicolas_sarkozy': [
        *(3, 4, 6, 8, 9, 10, 11, 12, 13, 15, 16, 20, 21, 24, 25, 27, 30, 31, 33, 35, 36),
        *(39, 40, 44, 45, 48, 49, 52, 54, 58, 59, 61, 64, 70, 75, 90, 91, 95, 96, 101, 104, 106),
    ],
    'francois_hollande': [2, 6, 11, 13, 18, 19, 23, 25, 29, 32, 34, 38],
    'alain_juppe': [275],
}
# How often the run says each query's name rightly, and how often nearly.
N_SAID = {'nicolas_sarkozy': (84, 28), 'francois_hollande': (27, 14), 'alain_juppe': (9, 5)}

CONSONANTS = 'b c d f g h j l m n p r s t v br ch cl dr fr gr pl tr'.split()
VOWELS = 'a e i o u au ei ou'.split()
ENDINGS = 'n r t l s x nd rd rt ne lle tte'.split()
MISREAD = [('rn', 'm'), ('m', 'rn'), ('l', 'i'), ('i', 'l'), ('e', 'c'), ('o', 'a'), ('cl', 'd')]
MISHEARD = [('ph', 'f'), ('c', 'k'), ('z', 's'), ('ei', 'e'), ('au', 'o'), ('ou', 'u'), ('y', 'i')]


def make_word(random: Random, syllables: int) -> str:
    parts = [random.choice(CONSONANTS) + random.choice(VOWELS) for _ in range(syllables)]
    return ''.join(parts) + random.choice(ENDINGS)


def make_people(random: Random) -> list[str]:
    given = [make_word(random, 1 + n % 2) for n in range(160)]
    people = {'?unknown?'}
    while len(people) < N_PEOPLE:
        people.add(f'{random.choice(given)}_{make_word(random, random.choice((1, 2, 2)))}')
    return sorted(people)


def misspell(random: Random, name: str) -> str:
    """The name as somebody else would read or hear it: never quite the same."""
    pairs = random.choice((MISREAD, MISHEARD))
    possible = [pair for pair in pairs if pair[0] in name]
    if possible and random.random() < 0.7:
        return name.replace(*random.choice(possible), 1)
    place = random.randrange(len(name))
    return name[:place] + random.choice(('', random.choice('aeinrst') * 2)) + name[place + 1 :]


def make_confidence(random: Random) -> str:
    """Coarse or fine, so that many tie."""
    fine = random.random() < 0.5
    return f'{random.betavariate(3, 2):.6f}' if fine else f'{random.randrange(4, 101) / 100:.2f}'


def make_video(random: Random, number: int) -> str:
    return f'{random.choice("ABCD")}_news_{number // 28 + 1:02d}{number % 28 + 1:02d}_2000'


def make_rows(random: Random, videos: list[str]) -> list[tuple[str, str, str]]:
    """(video, shot, name): everybody once, and the frequent more often."""
    people = make_people(random)
    appearances = set()
    while len(appearances) < N_ROWS - sum(N_RELEVANT.values()):
        often = int(N_PEOPLE * random.random() ** 3)
        name = people[len(appearances) if len(appearances) < N_PEOPLE else often]
        appearances.add((random.choice(videos), f'{random.randrange(1, 400):06d}', name))
    return sorted(appearances)


def make_hypotheses(
    random: Random, videos: list[str], rows: list[tuple[str, str, str]]
) -> list[tuple[str, str, str, str]]:
    """(video, shot, name, confidence): some rows found, many of them misspelt, and inventions."""
    hypotheses = {}
    for query, said in N_SAID.items():
        nearly = [misspell(random, query) for _ in range(5)]
        for name in [query] * said[0] + random.choices(nearly, k=said[1]):
            shot = f'{random.randrange(400, 700):06d}'
            hypotheses[random.choice(videos), shot, name] = make_confidence(random)
    named = [row for row in rows if row[2] != '?unknown?']
    names = {name for _, _, name in hypotheses}
    while len(hypotheses) < N_HYPOTHESES:
        video, shot, name = random.choice(named)
        if random.random() < 0.5 and len(names) < N_NAMES:
            name = misspell(random, name)
        elif name not in names and len(names) >= N_NAMES:
            continue
        if random.random() < 0.4:
            shot = f'{random.randrange(1, 400):06d}'
        names.add(name)
        hypotheses[video, shot, name] = make_confidence(random)
    return [(*key, confidence) for key, confidence in sorted(hypotheses.items())]


def relevant_shots(
    random: Random, hypotheses: list[tuple[str, str, str, str]], videos: list[str]
) -> list[tuple[str, str, str]] | None:
    """Rows that put the hits of each query at its ranks; none where a shot is returned twice."""
    run = [('NEWS', *row[:3], float(row[3])) for row in hypotheses]
    times_returned = Counter((video, shot) for video, shot, _, _ in hypotheses)
    ranked = AveragePrecision([('NEWS', 'no', 'such', 'shot')])
    rows = []
    for query, ranks in HIT_RANKS.items():
        top = ranked.rank(run, query, k=max(ranks)).set_index('rank').loc[ranks]
        shots = set(zip(top['video_id'], top['shot_id'], strict=True))
        if any(times_returned[shot] > 1 for shot in shots):
            return None
        while len(shots) < N_RELEVANT[query]:
            missed = (random.choice(videos), f'{random.randrange(700, 900):06d}')
            shots.add(missed)
        rows += [(*shot, query) for shot in shots]
    return rows


def make_samples(folder: Path) -> None:
    random = Random(SEED)
    relevant = None
    while relevant is None:
        videos = [make_video(random, number) for number in range(N_VIDEOS)]
        rows = make_rows(random, videos)
        hypotheses = make_hypotheses(random, videos, rows)
        relevant = relevant_shots(random, hypotheses, videos)
    write(folder / 'reference.txt', sorted(rows + relevant))
    write(folder / 'hypothesis.txt', hypotheses)
    # Looked at: whatever is in the reference, and what the run is rather sure of.
    sure = {(video, shot) for video, shot, _, confidence in hypotheses if float(confidence) >= 0.5}
    judged = sure.union((video, shot) for video, shot, _ in rows + relevant)
    write(folder / 'judged.txt', sorted(judged))
    (folder / 'queries.txt').write_text(''.join(f'{query}\n' for query in N_RELEVANT))


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    path.write_text(''.join(f'NEWS {" ".join(row)}\n' for row in rows))


if __name__ == '__main__':
    make_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

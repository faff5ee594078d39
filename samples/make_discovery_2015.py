"""Make the sample files of the protocol of 2015: `python samples/make_discovery_2015.py [FOLDER]`.

Videos, people and the run are invented, in the formats of the campaign's own files.
"""

import sys
from pathlib import Path
from random import Random

SEED = 2015  # any would do: the files are what they are because it never changes
VIDEOS = ['evening_news_01', 'evening_news_02', 'talk_show_01']
GIVEN = 'ada bela cora dario'.split()
FAMILY = ['marchetti_rossi', 'oldenburgh', 'van_der_velden']
PEOPLE = [f'{given}_{family}' for given in GIVEN for family in FAMILY]
N_SHOTS = 40
SECONDS = 8
FRAMES = 25

Rows = list[tuple[object, ...]]


def make_shots() -> Rows:
    """Shots of eight seconds, one after another."""
    return [
        (
            video,
            f'{shot:06d}',
            f'{shot * SECONDS:09.3f}',
            f'{(shot + 1) * SECONDS:09.3f}',
            f'{shot * SECONDS * FRAMES:07d}',
            f'{(shot + 1) * SECONDS * FRAMES - 1:07d}',
        )
        for video in VIDEOS
        for shot in range(N_SHOTS)
    ]


def misspelt(random: Random, name: str) -> str:
    place = random.randrange(1, len(name) - 1)
    return name[:place] + name[place + 1 :]


def make(random: Random) -> dict[str, Rows]:
    """The rows of each file."""
    shots = make_shots()
    consensus = sorted(random.sample([shot[:2] for shot in shots], 90))
    reference: Rows = []
    labels: Rows = []
    evidence_reference: Rows = []
    evidence: Rows = []
    for person in PEOPLE:
        seen = sorted(random.sample(consensus, random.randrange(2, 9)))
        reference += [(*shot, person) for shot in seen]
        source = random.choice(['image', 'audio', 'both'])
        evidence_reference.append((*seen[0], person, source))
        if random.random() < 0.15:
            continue  # the run does not know this one
        said = misspelt(random, person) if random.random() < 0.3 else person
        returned = {*random.sample(seen, (len(seen) + 1) // 2), *random.sample(consensus, 4)}
        for shot in sorted(returned):
            low, high = (0.4, 1.0) if shot in seen else (0.0, 0.7)
            labels.append((*shot, said, f'{random.uniform(low, high):.3f}'))
        shown = seen[0] if random.random() < 0.6 else consensus[0]
        evidence.append((said, *shown, 'audio' if source == 'audio' else 'image'))
    reference.append((*consensus[1], '?unknown?'))
    return {
        '2015.shot': shots,
        '2015.consensus': list(consensus),
        '2015.ref': sorted(reference),
        '2015.eviref': sorted(evidence_reference),
        '2015.queries': [(person,) for person in [*PEOPLE, 'emil_nobody']],
        'run.label': sorted(labels),
        'run.evidence': evidence,
    }


if __name__ == '__main__':
    default = Path(__file__).parent / 'discovery_2015'
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in make(Random(SEED)).items():
        text = ''.join(f'{" ".join(map(str, row))}\n' for row in rows)
        (folder / name).write_bytes(text.encode())

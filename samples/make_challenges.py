"""Make the sample files of the challenges: `python samples/make_challenges.py [FOLDER]`.

Whales, customers, landmarks and sounds are invented, in the formats of the challenges' own files;
so are the scores of two systems.
"""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

SEED = 2019  # any would do: the files are what they are because it never changes

WHALES = [f'w_{number:05x}' for number in range(0x1287, 0x1287 + 20)]
ARTICLES = [f'0{number}' for number in range(706016001, 706016041)]
LANDMARKS = list(map(str, range(1000, 1025)))
SOUNDS = 'Bark Church_bell Knock Meow Purr Rain Siren Whistle'.split()


def make_whales(random: Random) -> tuple[list[list[str]], list[list[str]]]:
    """One true label an image, five predictions, the true one often among the first."""
    truth, predictions = [['Image', 'Id']], [['Image', 'Id']]
    for number in range(40):
        image, whale = f'{number:04d}.jpg', random.choice(WHALES)
        five = random.sample([other for other in WHALES if other != whale], 5)
        if random.random() < 0.7:
            five[int(5 * random.random() ** 2)] = whale
        truth.append([image, whale])
        predictions.append([image, ' '.join(five)])
    return truth, predictions


def make_fashion(random: Random) -> tuple[list[list[str]], list[list[str]]]:
    """What customers bought, an article a row, and twelve predictions for each of them."""
    truth, predictions = [['customer_id', 'article_id']], [['customer_id', 'prediction']]
    for number in range(30):
        customer = f'{number:08x}'
        bought = random.sample(ARTICLES, random.choice([1, 1, 2, 3, 5]))
        others = random.sample([article for article in ARTICLES if article not in bought], 12)
        found = [article for article in bought if random.random() < 0.5]
        twelve = sorted([*found, *others][:12], key=lambda _: random.random())
        truth += [[customer, article] for article in bought]
        predictions.append([customer, ' '.join(twelve)])
    return truth, predictions


def make_landmarks(random: Random) -> tuple[list[list[str]], list[list[str]]]:
    """Photographs, some of no landmark, some without a prediction; confidences that often tie."""
    truth, predictions = [['id', 'landmark_id']], [['id', 'landmarks']]
    for _ in range(60):
        photograph = f'{random.getrandbits(64):016x}'
        landmark = random.choice(LANDMARKS) if random.random() < 0.6 else ''
        predicted = landmark if landmark and random.random() < 0.7 else random.choice(LANDMARKS)
        confidence = random.betavariate(4, 2) if predicted == landmark else random.random()
        answer = '' if random.random() < 0.15 else f'{predicted} {confidence:.2f}'
        truth.append([photograph, landmark])
        predictions.append([photograph, answer])
    return truth, predictions


def make_sounds(random: Random) -> tuple[list[list[str]], list[list[str]]]:
    """One or more labels a clip, and a score for each class, a little higher for the true ones."""
    truth, scores = [['fname', 'labels']], [['fname', *SOUNDS]]
    for _ in range(30):
        clip = f'{random.getrandbits(32):08x}.wav'
        labels = sorted(random.sample(SOUNDS[:-1], random.choice([1, 1, 1, 2, 3])))
        row = [f'{random.random() / 2 + 0.3 * (sound in labels):.3f}' for sound in SOUNDS]
        truth.append([clip, ','.join(labels)])
        scores.append([clip, *row])
    return truth, scores


def make_scores(random: Random) -> list[list[str]]:
    """Scores by question of two systems, of which the new one is a little better on most."""
    scores = [['item', 'old', 'new']]
    for number in range(1, 61):
        old = random.betavariate(4, 4)
        new = min(1, max(0, old + random.gauss(0.09, 0.12)))
        scores.append([f'question-{number:02}', f'{old:.3f}', f'{new:.3f}'])
    return scores


def write(path: Path, rows: Iterable[list[str]]) -> None:
    with path.open('w', newline='') as file:
        csv.writer(file, lineterminator='\n').writerows(rows)


def make_challenges(folder: Path) -> None:
    random = Random(SEED)
    for name, make, answers in (
        ('whales', make_whales, 'predictions'),
        ('fashion', make_fashion, 'predictions'),
        ('landmarks', make_landmarks, 'predictions'),
        ('sounds', make_sounds, 'scores'),
    ):
        truth, predictions = make(random)
        write(folder / f'{name}_truth.csv', truth)
        write(folder / f'{name}_{answers}.csv', predictions)
    write(folder / 'scores.csv', make_scores(random))


if __name__ == '__main__':
    make_challenges(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

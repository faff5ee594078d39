"""The pages that the tests open: of a campaign and of score tables full of hostile names."""

import random
from contextlib import chdir
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas
import pytest
from challenge_inputs import SAMPLES

from mediaeval_ap import AveragePrecision, TrecTopics, compare
from mediaeval_ap.errors import DataWarning
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

HOSTILE_RUN = '<img src=x onerror=alert(1)>.txt'  # no slash, which a file cannot have in its name
HOSTILE_NAMES = [
    *('<script>alert(1)</script>', '"><img/src=x/onerror=alert(2)>', "'onmouseover='alert(3)"),
    *('</title></style><b>bold', '<!--', ']]>', '&lt;b&gt;&amp;', '{{7*7}}{%raw%}${7*7}'),
    *('javascript:alert(4)', 'back`tick\\u0041', '__proto__', 'constructor', 'NaN'),
    'a\u202ednim_eht_fo',  # turns what follows around
    'z̷̢̛̹͔a̴̡͖̅l̵͎̿g̶̛̠o̷̙̓' + '\u0301' * 40,
    *('👩‍👩‍👧‍👦_🏴‍☠️', 'محمد_علي', '山田_太郎', 'wide_' + 'W' * 300, '\u200bzero_width\u2060'),
]
TITLE = 'Campaign </title><script>alert(5)</script>'
INTRODUCTION = """
# What was asked

Who appears in *which shot*? [Overview](https://example.org/a?b=1&c=2), <mailto:task@example.org>.

#### Dates &#x202e;

| what | when |
|:-----|-----:|
| runs | June |

<script>alert(6)</script><img src="https://example.org/x.png" onerror="alert(7)">

<div onclick="alert(8)" style="position: fixed">block</div>

![picture](https://example.org/x.png "title") ![data](data:image/png;base64,AAAA)

[script](javascript:alert(9)) [entity](javascript&#58;alert(9)) [tab](java&Tab;script:alert(9))
[data](data:text/html,x) [relative](x.html) [named] <javascript:alert(9)>
[quotes](https://example.org/"onclick="alert(9))

[named]: vbscript:alert(9)

```x" onclick="alert(10)
<b>code</b> \t tab
```
"""
LINKS = {
    '<b>Task</b> & data': 'https://example.org/task?a=1&b=2',
    'mail': 'mailto:task@example.org',
}
PEOPLE = ['nicolas_sarkozy', 'francois_hollande', 'alain_juppe', 'bit_cleix', 'bit_lal', 'bit_pel']


@dataclass(frozen=True)
class Page:
    """A page on the disk, with what it is made from."""

    path: Path
    average_precision: Any
    runs: dict[str, Any]
    queries: list[str]

    @property
    def url(self):
        return self.path.as_uri()

    @cached_property
    def text(self):
        return self.path.read_text(encoding='utf-8')


def _written(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(''.join(' '.join(map(str, row)) + '\n' for row in rows), encoding='utf-8')


def _misspelt(rows, generator):
    """A run that spells some names wrong, takes some for others, and is less sure."""
    for *shot, name, confidence in rows:
        chance = generator.random()
        if name in PEOPLE and chance < 0.2:
            name = f'{name[:-1]}x'
        elif name in PEOPLE and chance < 0.4:
            name = generator.choice(PEOPLE)
        yield *shot, name, round(confidence, 1)


def write_campaign(folder):
    """Write a reference, four runs and queries, and return the names of runs and the queries."""
    generator = random.Random(14)  # any: the same rows each time
    reference = list(read(SAMPLES / 'reference.txt', REFERENCE).rows())
    rows = list(read(SAMPLES / 'hypothesis.txt', HYPOTHESIS).rows())
    shots = sorted({row[:3] for row in reference})
    for number, name in enumerate(HOSTILE_NAMES):
        hits = shots[7 * number : 7 * number + 3]
        reference += [(*shot, name) for shot in hits]
        rows += [(*shot, name, 0.9) for shot in hits[:2]]
        rows += [(*shots[-1 - number], f'{name}!', 0.5)]
    _written(folder / 'reference.txt', reference)
    _written(folder / 'sample.txt', rows)
    _written(folder / 'misspelt.txt', _misspelt(rows, generator))
    _written(folder / HOSTILE_RUN, generator.sample(rows, len(rows) // 2))
    queries = [*PEOPLE, 'nobody_of_the_reference', *HOSTILE_NAMES]
    _written(folder / 'queries.txt', [[query] for query in queries])
    again = [(*row[:4], 0.8 - n / 10) for n in range(3) for row in rows if row[3] == '<!--']
    _written(folder / 'constructor', [row for row in rows if row[3] not in PEOPLE] + again)
    return ['sample.txt', 'misspelt.txt', HOSTILE_RUN, 'constructor'], queries


def campaign(folder):
    """The page of a small campaign whose names mean harm."""
    names, queries = write_campaign(folder)
    with chdir(folder):
        average_precision = AveragePrecision('reference.txt', K=[1, 10, 100])
        runs = {name: str(folder / name) for name in names}
        with pytest.warns(DataWarning):  # few queries, one of them without a relevant shot
            report = average_precision.report(runs, queries)
        report.to_html('campaign.html', title=TITLE, intro=INTRODUCTION, links=LINKS)
    return Page(folder / 'campaign.html', average_precision, runs, queries)


def official(folder, data):
    """The page of real runs."""
    year = data / '2016'
    runs = {path.stem: path for path in sorted((year / 'submissions').glob('*.txt'))}
    average_precision = AveragePrecision(next((year / 'reference').glob('reference.*')))
    queries = (year / 'reference/queries.txt').read_text().split()
    with pytest.warns(DataWarning):  # of queries without relevant shots, for one
        report = average_precision.report(runs, queries)
    report.to_html(folder / 'official.html')
    return Page(folder / 'official.html', average_precision, runs, queries)


def topics(folder):
    """The page of runs of TREC, whose topics and documents mean harm."""
    generator = random.Random(55)  # any: the same scores each time
    documents = [*HOSTILE_NAMES, *(f'd{number}' for number in range(40))]
    qrels = {
        topic: {each: generator.choice([0, 0, 1]) for each in generator.sample(documents, 30)}
        for topic in [*HOSTILE_NAMES, *map(str, range(1, 9))]
    }
    runs = {
        name: {topic: {each: generator.randint(0, 9) for each in documents} for topic in qrels}
        for name in ('first', HOSTILE_RUN)
    }
    evaluator = TrecTopics(qrels, K=[1, 10])
    with pytest.warns(DataWarning):  # unjudged documents could turn the order
        evaluator.report(runs).to_html(folder / 'topics.html', title=TITLE)
    return Page(folder / 'topics.html', evaluator, runs, list(qrels))


def scores(folder):
    """The page of a table in percent, whose items and one system mean harm."""
    generator = random.Random(28)  # any: the same values each time
    items = [*HOSTILE_NAMES, *(f'item_{number}' for number in range(40))]
    table = {'item': items, 'cluster': [item[:1] for item in items]}
    for more, system in enumerate(['old', HOSTILE_NAMES[0], 'new']):
        table[system] = [10 * generator.randint(-3, 7 + more) for _ in items]
    settings = {'by': 'cluster', 'cluster': 'none', 'power': 5, 'baseline': 'old'}
    comparison = compare(pandas.DataFrame(table), **settings)
    comparison.to_html(folder / 'scores.html', title=TITLE, intro=INTRODUCTION, links=LINKS)
    return Page(folder / 'scores.html', None, table, items)


def column(table, number):
    """The texts of a column, of the rows that are shown."""
    cells = table.locator(f'tbody tr:not([hidden]) > :nth-child({number})')
    return cells.evaluate_all('(cells) => cells.map((each) => each.textContent.trim())')

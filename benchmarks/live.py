"""Live sessions beside rankings built anew: `python benchmarks/live.py`."""

import gc
import tracemalloc
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import machine
from campaign import make_campaign
from timing import median_seconds, seconds

from mediaeval_ap import AveragePrecision
from mediaeval_ap.live import Live
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, read

REPEATS = 7
SIZES = {1_000: 100, 10_000: 1_000, 100_000: 10_000, 1_000_000: 100_000}  # hypotheses: names
ONE_NAME = [5_000, 15_000, 50_000]  # hypotheses
N_QUERIES = 50

Row = tuple[str, str, str, str, float]


def rows_of(path: str) -> list[Row]:
    """Return hypotheses whose texts are separate objects, as those from a stream would be."""
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return [
        (corpus, video, shot, name, float(confidence))
        for corpus, video, shot, name, confidence in lines
    ]


def add_all(live: Live, rows: Sequence[Row]) -> float:
    def add() -> None:
        for row in rows:
            live.add(row)

    return seconds(add)


def remove_all(live: Live, rows: Sequence[Row]) -> float:
    def remove() -> None:
        for row in rows:
            live.remove(row)

    return seconds(remove)


def median_send(session: Any, names: Sequence[str]) -> float:
    return median(seconds(partial(session.send, name)) for name in names)


def change_and_send(live: Live, rows: Sequence[Row], names: Sequence[str]) -> float:
    """Return the median seconds of adding a hypothesis and sending a query."""
    times = []
    for row, name in zip(rows, names, strict=False):
        live.remove(row)
        begin = perf_counter()
        live.add(row)
        live.send(name)
        times.append(perf_counter() - begin)
    return median(times)


def bytes_each(average_precision: AveragePrecision, rows: Sequence[Row], query: str) -> float:
    """Return the memory per hypothesis after a first answer, including its text."""
    gc.collect()
    live = average_precision.live()
    tracemalloc.start()
    for row in rows:
        corpus, video, shot, name = (text.encode().decode() for text in row[:4])
        live.add((corpus, video, shot, name, row[4] + 0.0))
    live.send(query)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / len(rows)


def campaign(folder: Path) -> list[list[str]]:
    make_campaign(folder)
    reference, hypothesis, queries = (
        str(folder / f'{name}.txt') for name in ('reference', 'hypothesis', 'queries')
    )
    average_precision = AveragePrecision(reference)
    table, asked = read(hypothesis, HYPOTHESIS), read(queries, QUERIES)
    rows, names = rows_of(hypothesis), asked.texts('person_name')
    new = median(add_all(average_precision.live(), rows) for _ in range(REPEATS))
    live = average_precision.live(rows)
    adds, removes = [], []
    for _ in range(REPEATS):
        removes.append(remove_all(live, rows))
        adds.append(add_all(live, rows))
        live.send(names[0])
    session = average_precision(table)
    frozen_send, live_send = median_send(session, names), median_send(live, names)
    changed_send = change_and_send(live, rows, names)
    built = median_seconds(lambda: average_precision(table), REPEATS)
    evaluate = median_seconds(lambda: average_precision.evaluate(table, asked), REPEATS)
    ready = live.snapshot()
    batch = median_seconds(lambda: average_precision.evaluate(ready, asked), REPEATS)

    def change_and_evaluate() -> None:
        live.remove(rows[0])
        live.add(rows[0])
        live.evaluate(asked)

    live_evaluate = median_seconds(change_and_evaluate, REPEATS)
    lines = [
        ['`add`, names known', f'{len(rows) / median(adds):,.0f} a second', '', ''],
        ['`add`, names and shots new', f'{len(rows) / new:,.0f} a second', '', ''],
        ['`remove`', f'{len(rows) / median(removes):,.0f} a second', '', ''],
        ['`send`', ms(live_send), ms(frozen_send), f'{live_send / frozen_send:.2f}'],
        [
            '`add`, then `send`',
            ms(changed_send),
            f'{ms(built + frozen_send)}, built anew',
            f'{changed_send / (built + frozen_send):.3f}',
        ],
        [
            '`evaluate` of 599 queries, after a change',
            ms(live_evaluate),
            f'{ms(batch)}, indexed before',
            f'{live_evaluate / batch:.2f}',
        ],
        ['', '', f'{ms(evaluate)}, of a table', f'{live_evaluate / evaluate:.2f}'],
    ]
    each = bytes_each(average_precision, rows, names[0])
    return [*lines, ['memory', f'{each:.0f} bytes a hypothesis', '', '']]


def sizes(folder: Path) -> list[list[str]]:
    lines = []
    for n_hypotheses, n_names in SIZES.items():
        make_campaign(folder, n_hypotheses, n_names, N_QUERIES, 400)
        average_precision = AveragePrecision(str(folder / 'reference.txt'))
        rows = rows_of(str(folder / 'hypothesis.txt'))
        names = read(str(folder / 'queries.txt'), QUERIES).texts('person_name')
        live = average_precision.live(rows)
        live.send(names[0])
        part = rows[:: max(1, len(rows) // 1000)][:1000]
        remove = remove_all(live, part) / len(part)
        add = add_all(live, part) / len(part)
        live.send(names[0])
        frozen = median_send(average_precision(rows), names)
        lines.append(
            [
                f'{n_hypotheses:,}',
                f'{n_names:,}',
                f'{add * 1e6:.1f}',
                f'{remove * 1e6:.1f}',
                f'{ms(change_and_send(live, rows, names))}',
                f'{ms(median_send(live, names))}',
                f'{ms(frozen)}',
                f'{bytes_each(average_precision, rows, names[0]):.0f}',
            ]
        )
    return lines


def one_name(folder: Path) -> list[list[str]]:
    lines = []
    for n_hypotheses in ONE_NAME:
        make_campaign(folder, n_hypotheses, 100, N_QUERIES, 400)
        average_precision = AveragePrecision(str(folder / 'reference.txt'))
        name = read(str(folder / 'queries.txt'), QUERIES).texts('person_name')[0]
        rows = [(*row[:3], name, row[4]) for row in rows_of(str(folder / 'hypothesis.txt'))]
        live = average_precision.live(rows)
        live.send(name)
        changed_send = change_and_send(live, rows, [name] * N_QUERIES)
        send = median(seconds(partial(live.send, name)) for _ in range(N_QUERIES))
        table = live.snapshot().to_frame()
        anew = median_seconds(partial(send_anew, average_precision, table, name), REPEATS)
        lines.append([f'{n_hypotheses:,}', ms(changed_send), ms(send), ms(anew)])
    return lines


def send_anew(average_precision: AveragePrecision, run: Any, name: str) -> None:
    average_precision(run).send(name)


def ms(time: float) -> str:
    return f'{time * 1e3:.2f} ms' if time < 0.01 else f'{time * 1e3:.0f} ms'


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    with TemporaryDirectory() as folder:
        machine.write('live', ['', 'live', 'frozen', 'ratio'], campaign(Path(folder)))
        headers = ['hypotheses', 'names', 'µs an add', 'µs a remove']
        headers += ['add, then send', 'send', 'frozen send', 'bytes each']
        machine.write('live-sizes', headers, sizes(Path(folder)))
        headers = [
            'hypotheses of one name',
            'add, then send',
            'send',
            'frozen, built anew, then send',
        ]
        machine.write('live-one-name', headers, one_name(Path(folder)))

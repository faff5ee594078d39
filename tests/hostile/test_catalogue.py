"""Hostile files: what becomes of each, with the bulk reader too."""

import re
from functools import cache

import pytest

from hostile.catalogue import CATALOGUE
from hostile.containers import NO_FILES
from hostile.entries import REFERENCE, TRUTH, A, B
from hostile.trec import TREC
from mediaeval_ap import AveragePrecision, challenges, evaluate_trec
from mediaeval_ap.errors import Error, printable
from mediaeval_ap.tables import HYPOTHESIS, read, reading
from mediaeval_ap.tables.sources import LIMIT_VARIABLE

CHALLENGES = {
    'map': challenges.evaluate_map,
    'gap': challenges.evaluate_gap,
    'lrap': challenges.evaluate_lrap,
}
OF_LINES = [
    entry
    for entry in CATALOGUE
    if entry.role not in {*CHALLENGES, *TREC}
    and not entry.name.endswith('.parquet')
    and entry not in NO_FILES  # as a pipe, which is read once
]
# The bulk reader of lines comes first where a file of any size is large for Python.
CASES = [(entry, reading.BULK_BYTES) for entry in CATALOGUE] + [(entry, -1) for entry in OF_LINES]


def files_beside(folder, role):
    """Write right files, with which a file of this role is scored; return their paths by role."""
    beside = {
        'reference': REFERENCE,
        'hypothesis': A + B,
        'truth': TRUTH.get(role, b''),
        **TREC,
    }
    paths = {role: folder / f'{role}.txt' for role in beside}
    for each, content in beside.items():
        paths[each].write_bytes(content)
    return paths


def score(entry, path, paths):
    if entry.role in CHALLENGES:
        return CHALLENGES[entry.role](paths['truth'], path).value
    if entry.role in TREC:
        return evaluate_trec(paths['qrels'], paths['trec-run'], [1]).map[0]
    average_precision = AveragePrecision(paths['reference'], [1], subset=paths.get('subset'))
    return average_precision.evaluate(paths['hypothesis'], paths.get('queries')).map[0]


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """Make the file of an entry once, and the right files beside it."""

    @cache
    def make(entry):
        path = tmp_path_factory.mktemp('hostile') / entry.name
        entry.make(path)
        return path

    beside = cache(lambda role: files_beside(tmp_path_factory.mktemp('beside'), role))
    return lambda entry: (make(entry), beside(entry.role))


@pytest.mark.parametrize(
    ('entry', 'bulk_bytes'), CASES, ids=lambda case: f'{getattr(case, "name", case)!a}'[:40]
)
def test_what_becomes_of_a_file(entry, bulk_bytes, made, monkeypatch):
    monkeypatch.setattr(reading, 'BULK_BYTES', bulk_bytes)
    if entry.is_limited:
        monkeypatch.setenv(LIMIT_VARIABLE, '1000000')
    path, beside = made(entry)
    paths = {**beside, entry.role: path}
    if entry.error is None:
        assert score(entry, path, paths) == entry.value
        if entry.rows is not None:
            assert tuple(read(path, HYPOTHESIS).rows()) == entry.rows
        return
    with pytest.raises(Error) as caught:
        score(entry, path, paths)
    names = {'path': path, 'truth': paths['truth'], 'reference': paths['reference']}
    expected = entry.error
    for name, named in names.items():
        expected = expected.replace(f'{{{name}}}', printable(str(named)))
    assert re.sub('to [0-9]+ bytes', 'to N bytes', str(caught.value)) == expected

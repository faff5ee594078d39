"""Hostile files: what becomes of each, in Python, by the command, and with the bulk reader."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hostile.catalogue import CATALOGUE
from hostile.entries import REFERENCE, TRUTH, A, B

from mediaeval_ap import AveragePrecision, challenges, tables
from mediaeval_ap.cli import main
from mediaeval_ap.errors import Error, printable
from mediaeval_ap.tables import HYPOTHESIS, MAX_BYTES, read

CHALLENGES = {
    'map': challenges.evaluate_map,
    'gap': challenges.evaluate_gap,
    'lrap': challenges.evaluate_lrap,
}


@pytest.fixture(params=CATALOGUE, ids=lambda entry: f'{entry.role}-{entry.name[:40]!a}')
def hostile(request, tmp_path):
    """An entry, its file, and the paths of what stands beside it, by role."""
    entry = request.param
    path = tmp_path / 'file' / entry.name
    path.parent.mkdir()
    entry.make(path)
    beside = {'reference': REFERENCE, 'hypothesis': A + B, 'truth': TRUTH.get(entry.role, b'')}
    paths = {role: tmp_path / f'{role}.txt' for role in beside}
    for role, content in beside.items():
        paths[role].write_bytes(content)
    return entry, path, {**paths, entry.role: path}


def limit(entry):
    return {'max_bytes': MAX_BYTES if entry.max_bytes is None else entry.max_bytes}


def score(entry, path, paths):
    if entry.role in CHALLENGES:
        return CHALLENGES[entry.role](paths['truth'], path, **limit(entry)).value
    average_precision = AveragePrecision(
        paths['reference'], [1], subset=paths.get('subset'), **limit(entry)
    )
    return average_precision.evaluate(paths['hypothesis'], paths.get('queries')).map[0]


def message(entry, path, paths):
    """The error that is expected."""
    names = {'path': path, 'truth': paths['truth'], 'reference': paths['reference']}
    error = entry.error
    for name, named in names.items():
        error = error.replace(f'{{{name}}}', printable(str(named)))
    return error


def check(entry, path, paths):
    if entry.error is not None:
        with pytest.raises(Error) as caught:
            score(entry, path, paths)
        assert str(caught.value) == message(entry, path, paths)
    else:
        assert score(entry, path, paths) == entry.value


def test_in_python(hostile):
    check(*hostile)


def test_in_bulk(hostile, monkeypatch):
    """The bulk reader comes first here, however small the file is."""
    monkeypatch.setattr(tables, 'BULK_BYTES', -1 if is_regular(hostile[1]) else tables.BULK_BYTES)
    check(*hostile)


def is_regular(path):
    try:
        return path.is_file()
    except OSError:
        return False


@pytest.mark.parametrize('bulk_bytes', [tables.BULK_BYTES, -1])
def test_rows(hostile, monkeypatch, bulk_bytes):
    entry, path, _ = hostile
    if entry.rows is None:
        return
    monkeypatch.setattr(tables, 'BULK_BYTES', bulk_bytes)
    assert tuple(read(path, HYPOTHESIS).rows()) == entry.rows


def test_by_the_command(hostile):
    entry, path, paths = hostile
    if entry.role in CHALLENGES:
        arguments = [entry.role, paths['truth'], path]
    else:
        arguments = ['evaluate', paths['reference'], paths['hypothesis'], '-K', '1', '--mean-only']
        arguments += [f'--{role}={paths[role]}' for role in ('queries', 'subset') if role in paths]
    if entry.max_bytes is not None:
        arguments += ['--max-bytes', entry.max_bytes]
    done = CliRunner().invoke(
        main, [*map(str, arguments), '--format', 'jsonl'], catch_exceptions=False
    )
    if entry.error is not None:
        assert (done.stdout, done.exit_code) == ('', 1)
        assert done.stderr == f'Error: {message(entry, path, paths)}\n'
    else:
        assert (done.stderr, done.exit_code) == ('', 0)
        result = json.loads(done.stdout)
        assert result['value' if entry.role in CHALLENGES else 'MAP@1'] == entry.value


def test_the_catalogue():
    names = {(entry.role, entry.name) for entry in CATALOGUE}
    assert len(names) == len(CATALOGUE) >= 60
    assert all(entry.why and Path(entry.name).name == entry.name for entry in CATALOGUE)

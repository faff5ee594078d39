"""A name where a file of names is expected is told what to give instead."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from mediaeval_ap import AveragePrecision, PersonDiscovery2015
from mediaeval_ap.cli import main
from mediaeval_ap.errors import ReadError

ROWS = [('x', 'v', '1', 'ann')]
HINT = "^ann_lee: No such file or directory; for one name, give a list: queries=\\['ann_lee'\\]$"


def test_a_name_that_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    average_precision = AveragePrecision(ROWS, 10)
    run = [(*row, 0.5) for row in ROWS]
    for ask in (
        lambda: average_precision.evaluate(run, 'ann_lee'),
        lambda: average_precision.live().evaluate('ann_lee'),
        lambda: list(average_precision.watch(run, 'ann_lee')),
        lambda: average_precision.export_trec(run, 'qrels', 'run', 'ann_lee'),
    ):
        with pytest.raises(ReadError, match=HINT):
            ask()
    assert os.listdir() == []
    discovery = PersonDiscovery2015([('v', '1')], [('v', '1', 'ann')])
    with pytest.raises(ReadError, match=HINT):
        discovery.evaluate([('v', '1', 'ann', 0.5)], queries='ann_lee')


def test_no_hint_where_a_path_is_meant(tmp_path):
    average_precision = AveragePrecision(ROWS, 10)
    for path in (Path('ann_lee'), str(tmp_path)):
        with pytest.raises(ReadError) as caught:
            average_precision.evaluate([(*ROWS[0], 0.5)], path)
        assert 'list' not in str(caught.value)


def test_the_command_takes_a_file():
    files = ['samples/reference.txt', 'samples/hypothesis.txt']
    result = CliRunner().invoke(main, ['evaluate', *files, '--queries', 'ann_lee'])
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr == (
        'Error: ann_lee: No such file or directory; --queries takes a file of names, one per line\n'
    )

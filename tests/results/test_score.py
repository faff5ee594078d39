"""Scores as text: values of every kind, in every format."""

import csv
import io
import json

import numpy as np
import pandas
import pytest

from mediaeval_ap import Score
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.report.formats import render
from mediaeval_ap.results.result import describe
from mediaeval_ap.tables import Source

INPUTS = {'truth': Source('truth.csv', 'ab'), 'predictions': Source('r\x1b.csv', 'cd')}
TABLE = pandas.DataFrame(
    {
        'id': ['a|b', 'é'],
        'truth': ['x', None],
        'confidence': [0.12345, 1.0],
        'correct': [True, False],
        'precision': [1 / 3, np.nan],
        'n': [1, 2],
    }
)
PLAIN = Score('GAP', 2 / 3, {'ties': 'best'}, INPUTS, {'queries': 1})
FULL = Score('LRAP', 0.5, {}, INPUTS, {'queries': 2, 'labels': 3}, TABLE, ['1 of 2 has none'])


def test_table():
    assert render(describe([PLAIN]), 'table') == (
        'r\\x1b.csv (ties best)\n\nMETRIC      1 query\n--------  ---------\nGAP           0.667\n'
    )
    assert render(describe([FULL]), 'table') == (
        'r\\x1b.csv\n\n'
        'id    truth      confidence    correct    precision    n\n'
        '----  -------  ------------  ---------  -----------  ---\n'
        'a|b   x             0.12345        yes        0.333    1\n'
        'é                       1.0                            2\n\n'
        'METRIC      2 queries\n--------  -----------\nLRAP            0.500\n\n'
        '1 of 2 has none\n'
    )


def test_markdown_and_latex():
    assert '**`r\\x1b.csv` (ties best)**\n\n| METRIC' in render(describe([PLAIN]), 'markdown')
    assert '| `a\\|b` | `x`' in render(describe([FULL]), 'markdown')
    assert render(describe([FULL]), 'latex').startswith('% r\\x1b.csv\n\n\\begin{tabular}')


def test_programs_get_every_digit():
    (row,) = csv.DictReader(io.StringIO(render(describe([PLAIN]), 'csv')))
    assert row == {
        'run': 'r\x1b.csv',
        'metric': 'GAP',
        'value': str(2 / 3),
        'ties': 'best',
        'queries': '1',
    }
    assert json.loads(render(describe([PLAIN]), 'jsonl')) == {**row, 'value': 2 / 3, 'queries': 1}
    rows = list(csv.reader(io.StringIO(render(describe([FULL]), 'csv'))))
    assert rows == [
        ['id', 'truth', 'confidence', 'correct', 'precision', 'n'],
        ['a|b', 'x', '0.12345', 'True', str(1 / 3), '1'],
        ['é', '', '1.0', 'False', '', '2'],
    ]
    lines = [json.loads(line) for line in render(describe([FULL]), 'jsonl').splitlines()]
    assert lines[1] == {
        'id': 'é',
        'truth': None,
        'confidence': 1.0,
        'correct': False,
        'precision': None,
        'n': 2,
    }


def test_json():
    described = json.loads(render(describe([FULL]), 'json'))
    assert described.keys() == {'metric', 'value', 'notes', 'table', 'manifest'}
    assert described['table'][0]['precision'] == 1 / 3
    assert described['manifest']['inputs']['truth'] == {'name': 'truth.csv', 'sha256': 'ab'}
    assert described['manifest']['counts'] == {'queries': 2, 'labels': 3}


def test_rows():
    assert (PLAIN.headers, PLAIN.rows) == ([], [])
    assert FULL.headers == list(TABLE.columns)
    assert FULL.rows[1] == ['é', None, 1.0, False, None, 2]


def test_unknown_format():
    with pytest.raises(ParameterError, match="format: found 'xml', expected one of table"):
        render(describe([PLAIN]), 'xml')

"""The JSON of every command about runs is as its schema says."""

import json
from pathlib import Path

import jsonschema
import pytest
from commands import run

ROOT = Path(__file__).parents[2]
SHAPE = json.loads((ROOT / 'docs/reference/schemas/results-1.schema.json').read_text())
COMMANDS = {
    'evaluate': 'reference.txt hypothesis.txt hypothesis.txt --queries queries.txt -K 10,all',
    'evaluate-2015': (
        'discovery_2015/2015.ref discovery_2015/run.label --shots discovery_2015/2015.shot '
        '--evidence-reference discovery_2015/2015.eviref --evidence discovery_2015/run.evidence'
    ),
    'evaluate-trec': 'qrels run.trec -K 1',
    'map': 'fashion_truth.csv fashion_predictions.csv -K 5,12',
    'gap': 'landmarks_truth.csv landmarks_predictions.csv',
    'lrap': 'sounds_truth.csv sounds_scores.csv',
}


@pytest.mark.parametrize('command', COMMANDS)
@pytest.mark.parametrize('options', ['', '--per-query', '--keep-going missing.txt'])
def test_json(command, options, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT / 'samples')
    qrels, trec = tmp_path / 'qrels', tmp_path / 'run.trec'
    qrels.write_text('7 0 d1 1\n')
    trec.write_text('7 Q0 d1 1 0.5 me\n')
    arguments = COMMANDS[command].replace('run.trec', str(trec)).replace('qrels', str(qrels))
    if 'missing' in options and command == 'evaluate-2015':  # each run has its evidence
        arguments += ' --evidence discovery_2015/run.evidence'
    result = run(command, *f'{arguments} {options} --format json'.split())
    written = json.loads(result.stdout)
    jsonschema.Draft202012Validator(SHAPE).validate(written)
    assert result.exit_code == len(written['failed']) == ('missing' in options)
    assert all(('queries' in each) == (options == '--per-query') for each in written['results'])


def test_classes(monkeypatch):
    monkeypatch.chdir(ROOT / 'samples')
    result = run('lrap', *COMMANDS['lrap'].split(), '--per-class', '--format', 'json')
    written = json.loads(result.stdout)
    jsonschema.Draft202012Validator(SHAPE).validate(written)
    assert len(written['results'][0]['classes']) > 1

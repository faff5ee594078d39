"""The command `definitions`."""

import json

from commands import run

from mediaeval_ap import definitions

HITS = """
hits
    AP@k            S(k) / H
    R = 0           0
    repeated shots  not relevant, keeps its rank
    source          torchmetrics retrieval_average_precision, top_k
"""


def test_definitions():
    text = run('definitions').stdout
    assert text.endswith(HITS)
    assert 'mediaeval-2016 (default)\n    AP@k            S(k) / min(R, k, N)\n' in text
    described = json.loads(run('definitions', '--format', 'json').stdout)
    assert described == [definition.to_dict() for definition in definitions.registered()]
    assert [each['name'] for each in described if each['without_relevant'] == 1] == [
        'mediaeval-2016',
        'mediaeval-2016-final',
    ]

"""Qrels and runs in the format of TREC, and a campaign to be exported."""

import pytest

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

QRELS = [('7', 'd1', 1), ('7', 'd2', 0), ('7', 'd3', 2), ('8', 'd1', 1)]
RUN = [('7', 'd2', 0.9), ('8', 'd1', 0.5), ('7', 'd1', 0.5)]

# Of the campaign: two hypotheses of one shot, a repeated row, and texts that have to be encoded.
REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '1', 'ann'), ('x y', 'v/w', '1%', 'bob lee')]
ROWS = [
    ('x', 'v', '2', 'ann', 0.9),
    ('x', 'v', '1', 'ann', 0.5),
    ('x', 'v', '2', 'anne', 0.4),
    ('x y', 'v/w', '1%', 'bob lee', 0.4),
]


def qrels_text(rows):
    return ''.join(f'{topic} 0 {document} {relevance}\n' for topic, document, relevance in rows)


def run_text(rows):
    return ''.join(f'{topic} Q0 {document} 1 {score} me\n' for topic, document, score in rows)


def map_column(k):
    """Return the name that pytrec_eval has for AP at a cutoff."""
    return 'map' if k == 'all' else f'map_cut_{k}'

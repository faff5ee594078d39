"""Hypotheses for live sessions, and the order that a session has them in."""

import pytest

from mediaeval_ap.tables import HYPOTHESIS

quiet = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')

ROW = ('x', 'v', '1', 'ann', 0.5)
WRONG_ROWS = [
    (),
    ('x', 'v', '1', 'ann'),
    (*ROW, 'more'),
    'xvabc',
    dict.fromkeys(ROW),
    7,
    None,
    ('', *ROW[1:]),
    ('x\n', *ROW[1:]),
    (1, *ROW[1:]),
    ([], *ROW[1:]),
    ('x', 'v', None, 'ann', 0.5),
    ('x', 'v', '1', b'ann', 0.5),
    (*ROW[:4], 'high'),
    (*ROW[:4], '0.5'),
    (*ROW[:4], None),
    (*ROW[:4], True),
    (*ROW[:4], float('nan')),
    (*ROW[:4], float('inf')),
    (*ROW[:4], 10**400),
    (*ROW[:4], 2**53 + 1),
]


def texts_of(live, rows):
    """Hypotheses of a live ranking, written out as they were added."""
    hypotheses = live._hypotheses
    order = hypotheses.shots.order()
    columns = (rows[field].tolist() for field in ('confidence', 'shot', 'name'))
    for confidence, shot, name in zip(*columns, strict=True):
        video, corpus = hypotheses.shots.videos.values[order.video[shot]]
        shot_id = hypotheses.shots.ids.values[order.shot[shot]]
        yield corpus, video, shot_id, hypotheses.names.values[name], -confidence


def order_of(live, query):
    """All hypotheses in their order for a query, with their temporal ranks."""
    ranking = live._current_lister().ranking
    (distances,) = ranking.names.distances_from([query])
    rows = ranking._columns.select(ranking.top(distances, len(ranking) + 1))
    return list(zip(texts_of(live, rows), rows['temporal_rank'].tolist(), strict=True))


def order_of_frozen(ranking, query):
    (distances,) = ranking.names.distances_from([query])
    places = ranking.top(distances, len(ranking) + 1)
    columns = ranking.columns_at(places, distances)
    hypotheses = zip(*(list(columns[field]) for field in HYPOTHESIS.fields), strict=True)
    return list(zip(hypotheses, columns['temporal_rank'].tolist(), strict=True))


def campaign(chance, n):
    """Hypotheses with ties of every kind, and a reference that some of them meet."""

    def word():
        return ''.join(chance.choices('abcd', k=chance.randrange(1, 6)))

    hypotheses = [
        ('x', f'v{chance.randrange(9)}', str(chance.randrange(60)), word(), chance.randrange(9) / 8)
        for _ in range(n)
    ]
    reference = [(*row[:3], word()) for row in chance.sample(hypotheses, n // 4)]
    return reference, hypotheses

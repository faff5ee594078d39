"""Runs whose scores hardly order anything are told so, once, and no other run is."""

import random

import pandas
import polars
import pytest
from trec_rows import qrels_text, quiet

from mediaeval_ap import evaluate_trec
from mediaeval_ap.choices import TREC_TIES

TOPICS = [f't{number}' for number in range(5)]
DOCUMENTS = [f'd{number}' for number in range(6)]
QRELS = [(topic, 'd3', 1) for topic in TOPICS] + [('t0', 'd4', 0)]


def rows(score, topics=TOPICS, documents=DOCUMENTS):
    return [
        (topic, document, float(score(rank)))
        for topic in topics
        for rank, document in enumerate(documents, 1)
    ]


def doubts(qrels, run, **settings):
    evaluation = evaluate_trec(qrels, run, 'all', missing='zero', **settings)
    return [str(doubt) for doubt in evaluation.warnings if doubt.kind == 'doubtful-scores']


@pytest.fixture
def written(tmp_path):
    """A function that writes a run, with ranks from the first row or from the last."""
    (tmp_path / 'qrels').write_text(qrels_text(QRELS))

    def write(run, rank=lambda rank: rank):
        lines = [
            f'{topic} Q0 {document} {rank(number % len(DOCUMENTS) + 1)} {score} me\n'
            for number, (topic, document, score) in enumerate(run)
        ]
        (tmp_path / 'run').write_text('# a comment\n' + ''.join(lines))
        return tmp_path / 'qrels', tmp_path / 'run'

    return write


RISING = '5 of 5 topics have scores that rise with the rank; negate them if distances'


@quiet
@pytest.mark.parametrize('bulk', [1, 1 << 20])
def test_scores_that_rise_with_the_rank(written, monkeypatch, bulk):
    monkeypatch.setattr('mediaeval_ap.tables.reading.BULK_BYTES', bulk)
    qrels, run = written(rows(lambda rank: rank // 2))
    assert doubts(qrels, run) == [f'{run}: {RISING}']
    for ranks in (lambda rank: 7 - rank), (lambda rank: 1), (lambda rank: 0):
        assert (
            doubts(*written(rows(lambda rank: rank), ranks)) == []
        )  # sorted worst first, unranked
    assert doubts(*written(rows(lambda rank: -rank))) == []
    one_falls = rows(lambda rank: rank)
    one_falls[7], one_falls[8] = one_falls[8], one_falls[7]
    assert doubts(*written(one_falls)) == []
    assert doubts(*written(rows(lambda rank: rank, TOPICS[:1]))) == []  # one short topic


@quiet
@pytest.mark.parametrize('make', [pandas.DataFrame, polars.DataFrame, dict])
def test_a_column_of_ranks(make):
    """A frame without one has no ranks: its rows may be in any order."""
    columns = dict(
        zip(('qid', 'docno', 'score'), map(list, zip(*rows(float), strict=True)), strict=True)
    )
    assert doubts(QRELS, make(columns)) == []
    ranked = {**columns, 'rank': [int(score) for score in columns['score']]}
    assert doubts(QRELS, make(ranked)) == [f'<run>: {RISING}']
    assert doubts(QRELS, make({**ranked, 'rank': [-rank for rank in ranked['rank']]})) == []
    assert doubts(QRELS, rows(float)) == []


@quiet
def test_a_column_of_ranks_in_csv(tmp_path):
    for header, told in ('qid,docno,rank,score', 1), ('qid,docno,other,score', 0):
        lines = [f'{topic},{text},{score:.0f},{score}' for topic, text, score in rows(float)]
        (tmp_path / 'run.csv').write_text('\n'.join([header, *lines]))
        assert len(doubts(QRELS, tmp_path / 'run.csv')) == told


@quiet
@pytest.mark.parametrize('ties', TREC_TIES)
def test_one_score_for_all_documents(ties):
    told = ties in ('trec_eval', 'trec_eval-9')
    message = (
        '<run>: 5 of 5 topics have one score for all documents; take the mean over all orders by '
        "--ties expected, in Python ties='expected'"
    )
    assert doubts(QRELS, rows(lambda _: 0.5), ties=ties) == [message] * told
    shuffled = random.Random(1).sample(equal := rows(lambda _: 0.5), len(equal))
    assert doubts(QRELS, shuffled, ties=ties) == [message] * told
    close = rows(lambda rank: 0.5 + rank * 1e-12)  # equal in single precision
    assert doubts(QRELS, close, ties=ties) == [message] * (ties == 'trec_eval-9')


@quiet
def test_a_few_topics_of_one_score_are_not_told():
    others = rows(lambda rank: -rank, TOPICS[2:])
    assert doubts(QRELS, rows(lambda _: 0.5, TOPICS[:2]) + others) == []
    assert doubts(QRELS, rows(lambda _: 0.5, documents=['d3'])) == []  # one document is no tie
    assert doubts(QRELS, rows(lambda _: 0.5, TOPICS[:1])) == []
    long = [f'd{number}' for number in range(10)]
    assert len(doubts(QRELS, rows(lambda _: 0.5, TOPICS[:1], long))) == 1
    unjudged = rows(lambda _: 0.5, ['u1', 'u2', 'u3', 'u4'])
    assert doubts(QRELS, unjudged + rows(lambda rank: -rank), unknown='drop') == []


def with_own(run, score, topics=TOPICS):
    return [*run, *((topic, topic, score) for topic in topics)]


@quiet
@pytest.mark.parametrize(
    ('level', 'remedy'),
    [(None, ''), (-1, ', or use --ignore -1'), (0, '')],  # d4 has 0, too
)
def test_topics_that_return_themselves(level, remedy):
    qrels = QRELS + [(topic, topic, level) for topic in TOPICS if level is not None]
    run = with_own(rows(lambda rank: -rank), 1.0)
    told = '<run>: 5 of 5 topics return themselves first; leave them out by '
    told += f'--exclude-self, in Python exclude_self=True{remedy}'
    assert doubts(qrels, run) == [told]
    assert doubts(qrels, run[::-1]) == [told]
    assert doubts(qrels, run, exclude_self=True) == []
    if remedy:
        assert doubts(qrels, run, ignore=level) == []


@quiet
def test_topics_that_do_not_return_themselves_first():
    ranked = rows(lambda rank: -rank)
    relevant = QRELS + [(topic, topic, 1) for topic in TOPICS]
    assert doubts(relevant, with_own(ranked, 1.0)) == []  # the qrels want it
    assert doubts(QRELS, with_own(ranked, -1.5)) == []  # second
    assert doubts(QRELS, with_own(ranked, -1.0)) == []  # tied
    assert doubts(QRELS, with_own(ranked, 1.0, TOPICS[:2])) == []
    others = [(topic, f'{topic}{"x" * 80}', 1.0) for topic in TOPICS]
    assert doubts(QRELS, [*ranked, *others]) == []

"""Qrels and runs are read from every source, and what is wrong is named with its line."""

import gzip
from contextlib import nullcontext

import numpy as np
import pandas
import polars
import pytest
import pytrec_eval
from click.testing import CliRunner
from hanging import no_hang
from hostile.containers import pipe_of
from trec_rows import QRELS, RUN, map_column, qrels_text, run_text

from mediaeval_ap import evaluate_trec
from mediaeval_ap.cli import main
from mediaeval_ap.errors import FormatError, MissingIdsWarning
from mediaeval_ap.tables import layouts, read, reading
from mediaeval_ap.tables.byte_words import WIDEST
from mediaeval_ap.tables.sources import ByteSource
from mediaeval_ap.trec import files
from mediaeval_ap.trec.files import Entries


def test_files_of_every_kind_are_read_alike(folder):
    (folder / 'qrels.gz').write_bytes(gzip.compress((folder / 'qrels').read_bytes()))
    (folder / 'odd').write_bytes(
        b'\xef\xbb\xbf' + (folder / 'run').read_bytes().replace(b' ', b'\t ')
    )
    frame = pandas.DataFrame(RUN, columns=['qid', 'docno', 'score']).assign(rank=1)
    frame.to_parquet('run.parquet')
    with open('run', 'rb') as file:
        for origin in ('run', 'odd', folder / 'run', frame, 'run.parquet', file):
            evaluation = evaluate_trec('qrels.gz', origin, [10])
            assert (evaluation.queries, evaluation.ap.tolist()) == (['7', '8'], [[0.25], [1.0]])


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        (
            'run',
            '\n7 Q0 d1 1 0.5 me\n\n8 Q0 d1 1 0.5 me\n7 Q0 d1 2 0.4 me\n',
            "run, line 5, docno: found 'd1' again for topic '7', expected each document once",
        ),
        (
            'qrels',
            '7 0 d1 1\n7 0 d1 1\n',
            "qrels, line 2, docno: found 'd1' again for topic '7', expected each document once",
        ),
        ('qrels', '7 0 d1 1\n\n7 0 d2 0.5\n', "qrels, line 3, relevance: found '0.5', expected an"),
        ('run', '7 Q0 d1 1 high me\n', "run, line 1, score: found 'high', expected a finite"),
        ('run', '7 Q0 d1 1 0.5\n', 'run, line 1: found 5 fields in .*, expected 6 fields: qid q0'),
        ('run', '', 'run: found an empty file'),
        ('qrels', '7 0 d\xff1 1\n', 'invalid UTF-8 at byte 6'),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder, name, text, message):
    (folder / name).write_bytes(text.encode('latin-1'))
    with pytest.raises(FormatError, match=message):
        evaluate_trec('qrels', 'run')
    result = CliRunner().invoke(main, ['evaluate-trec', 'qrels', 'run'])
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: ')
    assert result.stderr.count('\n') == 1


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('7 Q0 d1 1 nan me\n', "line 1, score: found 'nan', expected a finite"),
        ('\n7 Q0 d1 1 1 me\n7 Q0 d1 2 1 me\n', "line 3, docno: found 'd1' again for topic '7'"),
    ],
)
def test_a_pipe_is_read_once(folder, text, message):
    pipe_of(text.encode())(folder / 'pipe')
    with no_hang(), pytest.raises(FormatError, match=f'^pipe, {message}'):
        evaluate_trec('qrels', 'pipe')


@pytest.mark.parametrize(
    ('score', 'times', 'outcome'),
    [('0.5', 1, None), ('high', 2, "^run, line 3, score: found 'high', expected a finite")],
)
def test_a_large_file_is_read_again_only_to_name_what_is_wrong(
    folder, monkeypatch, score, times, outcome
):
    """And then once."""
    opened = []
    open_source = ByteSource.open

    def counting(source):
        opened.append(source.name)
        return open_source(source)

    monkeypatch.setattr(ByteSource, 'open', counting)
    monkeypatch.setattr(reading, 'BULK_BYTES', 0)
    rows = [('7', 'd1', 0.7), ('8', 'd1', 0.6), ('7', 'd2', score)]
    (folder / 'run').write_text(run_text(rows))
    with nullcontext() if outcome is None else pytest.raises(FormatError, match=outcome):
        evaluate_trec('qrels', 'run')
    assert opened.count('run') == times


def test_a_run_from_a_pipe(folder):
    pipe_of(b'\xef\xbb\xbf' + run_text(RUN).encode())(folder / 'pipe')
    with no_hang():
        assert evaluate_trec('qrels', 'pipe').map.tolist() == evaluate_trec(QRELS, RUN).map.tolist()


def test_a_mark_alone_on_a_line_is_a_blank_line(folder):
    (folder / 'run').write_bytes(b'\xef\xbb\xbf\n' + run_text(RUN[:1] * 2).encode())
    with pytest.raises(FormatError, match=r"^run, line 3, docno: found '.*' again"):
        evaluate_trec('qrels', 'run')


def test_a_file_that_is_cut_meanwhile(folder, monkeypatch):
    """The line of a row is known once it is read."""
    (folder / 'run').write_text(run_text(RUN[:1] * 2))
    refuse_repeated = Entries.refuse_repeated

    def cut(entries):
        (folder / 'run').write_text('')
        refuse_repeated(entries)

    monkeypatch.setattr(Entries, 'refuse_repeated', cut)
    with pytest.raises(FormatError, match=r"^run, line 2, docno: found '.*' again"):
        evaluate_trec('qrels', 'run')


def test_rows_of_a_table_have_a_number():
    with pytest.raises(FormatError, match="<rows>, row 3, docno: found 'd1' again"):
        evaluate_trec(QRELS, [RUN[1], RUN[0], RUN[1]])


def test_the_second_of_many_is_named():
    run = [('7', document, 1.0) for document in ('d1', 'd2', 'd1', 'd2', 'd1')]
    with pytest.raises(FormatError, match="<rows>, row 3, docno: found 'd1' again"):
        evaluate_trec(QRELS, run)


def test_tables_that_were_read_before(folder):
    tables = read('qrels', layouts.QRELS), read('run', layouts.RUN)
    assert evaluate_trec(*tables).to_dict() == evaluate_trec('qrels', 'run').to_dict()


def test_repeated_documents_are_found_where_topics_alternate():
    run = [*RUN[:2], ('7', 'd5', 0.1), ('8', 'd1', 0.2)]
    with pytest.raises(FormatError, match="<rows>, row 4, docno: found 'd1' again for topic '8'"):
        evaluate_trec(QRELS, run)


# Precisions are added in doubles, and expected ones are products of a few quotients.
ROUNDING = 1e-14


LONG = 'x' * WIDEST


@pytest.mark.parametrize('judged_long', [True, False])
@pytest.mark.parametrize('returned_long', [True, False])
def test_large_runs_are_like_small_ones(returned_long, judged_long, tmp_path, monkeypatch):
    """Blocks of lines, topics between one another, ties, very long text: as pytrec_eval."""
    monkeypatch.setattr(files, 'BLOCK_BYTES', 1 << 10)
    random = np.random.default_rng(4)  # fixed: one run, not a search
    pairs = sorted({(int(t), int(d)) for t, d in random.integers(0, (20, 600), (5000, 2))})
    order = random.permutation(len(pairs))
    rows = [(str(pairs[i][0]), f'doc{pairs[i][1]}', int(random.integers(40)) / 8) for i in order]
    judged = [(str(t), f'doc{d}', int(random.integers(3))) for t, d in pairs[::7]]
    # The last block alone has long documents, of which one is in both files.
    rows += [('1', f'{LONG}{number}', 4.0) for number in (0, 1) if returned_long]
    judged += [('1', f'{LONG}{number}', 1) for number in (1, 2) if judged_long]
    (tmp_path / 'run').write_text(run_text(rows))
    (tmp_path / 'qrels').write_text(qrels_text(judged))
    with open(tmp_path / 'qrels') as file:
        qrel = pytrec_eval.parse_qrel(file)
    with open(tmp_path / 'run') as file:
        run = pytrec_eval.parse_run(file)
    cutoffs = [5, 10, 100, 1000, 'all']
    results = pytrec_eval.RelevanceEvaluator(qrel, {'map', 'map_cut'}).evaluate(run)
    evaluation = evaluate_trec(tmp_path / 'qrels', tmp_path / 'run', cutoffs, ties='trec_eval-9')
    for topic, ap in zip(evaluation.queries, evaluation.ap.tolist(), strict=True):
        expected = [results[topic][map_column(k)] for k in cutoffs]
        assert ap == pytest.approx(expected, abs=ROUNDING)


def test_comments_are_in_lines_alone(folder):
    """A topic that begins with # is one in values; in lines there is no way to spell it."""
    judged, run = [('#7', 'd1', 1), ('8', '#d', 1)], [('#7', 'd1', 0.5), ('8', '#d', 0.5)]
    frame = pandas.DataFrame(run, columns=['qid', 'docno', 'score'])
    frame.to_parquet('run.parquet')
    for origin in (run, frame, polars.from_pandas(frame), 'run.parquet'):
        evaluation = evaluate_trec(judged, origin, [1])
        assert (evaluation.queries, evaluation.map.tolist()) == (['#7', '8'], [1.0])
    (folder / 'qrels').write_text(qrels_text(judged))
    (folder / 'run').write_text(run_text(run))
    evaluation = evaluate_trec('qrels', 'run', [1])
    assert (evaluation.queries, evaluation.counts['judgements']) == (['8'], 1)
    assert evaluation.counts['unknown'] == 0


def test_an_indented_comment_is_one_in_a_run_only(folder):
    """As trec_eval 10 has it: it reads a topic #7 here, for which nothing is returned."""
    (folder / 'qrels').write_text('\t#7 0 d1 1\n' + qrels_text(QRELS))
    (folder / 'run').write_text(' #7 Q0 d1 1 0.5 me\n' + run_text(RUN))
    with pytest.warns(MissingIdsWarning, match='1 of 3 topics of qrels are missing'):
        evaluation = evaluate_trec('qrels', 'run', [1], missing='zero')
    assert evaluation.queries == ['#7', '7', '8']
    assert evaluation.counts['hypotheses'] == len(RUN)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
def test_a_relevance_is_an_integer_literal_in_lines_alone(folder):
    rows = [('7', 'd1', 1.0), ('7', 'd2', np.float32(2)), ('8', 'd1', np.int8(-1))]
    assert evaluate_trec(rows, RUN, [1]).n_relevant.tolist() == [2, 0]
    (folder / 'qrels').write_text('7 0 d1 +01\n7 0 d2 -0\n8 0 d1 -1\n')
    assert evaluate_trec('qrels', RUN, [1]).n_relevant.tolist() == [1, 0]
    with pytest.raises(FormatError, match=r'<rows>, row 1, relevance: found 0\.5, expected an int'):
        evaluate_trec([('7', 'd1', 0.5)], RUN)

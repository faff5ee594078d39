"""The commands `evaluate-trec` and `export-trec`, and `evaluate --measures`."""

import pytest
from commands import run
from trec_rows import QRELS, RUN, qrels_text, quiet, run_text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'qrels').write_text(qrels_text(QRELS))
    (tmp_path / 'run').write_text(run_text(RUN))
    return tmp_path


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'reference').write_text('x v 1 ann\nx v 3 ann\n')
    (tmp_path / 'run.txt').write_text('x v 2 ann 0.9\nx v 1 ann 0.5\n')
    return tmp_path


def test_the_command_prints_a_table(folder):
    result = run('evaluate-trec', 'qrels', 'run', '-K', '10', '--per-query', '-o', 'map.csv')
    assert (result.exit_code, result.output) == (0, '')
    assert (folder / 'map.csv').read_text() == (
        'run,definition,query,AP@10,n_relevant,n_queries\n'
        'run,trec,7,0.25,2,\nrun,trec,8,1.0,1,\nrun,trec,all,0.625,3,2\n'
    )
    options = ['--definition', 'kaggle', '--relevance-level', '2', '--ties', 'worst', '-K', '1,2']
    result = run('evaluate-trec', 'qrels', 'run', *options, '--format', 'csv')
    assert result.stdout == (
        'run,definition,query,AP@1,AP@2,n_relevant,n_queries\nrun,kaggle,all,0.0,0.0,1,2\n'
    )
    told = 'qrels: 1 of 2 queries have no relevant shot: each counts 0'
    assert result.stderr == f'Warning: {told}\n'
    (folder / 'run').write_text(run_text(RUN[:1]))
    options = ['--ties', 'expected', '--definition', 'hits']
    result = run('evaluate-trec', 'qrels', 'run', *options)
    assert (result.exit_code, result.stdout) == (2, '')
    assert '--definition hits has no --ties expected\n' in result.stderr
    result = run('evaluate-trec', 'qrels', 'run', '--missing', 'skip')
    assert result.stderr == 'Warning: run: 1 of 2 topics of qrels are missing, and left out\n'


def test_the_command_exports(campaign):
    command = ['export-trec', 'reference', 'run.txt', '--qrels', 'qrels', '--run', 'run']
    result = run(*command, '-n', '1')
    assert (result.exit_code, result.output) == (0, '')
    assert (campaign / 'run').read_text() == 'ann Q0 x/v/2 1 1 mediaeval_ap\n'
    (campaign / 'queries').write_text('zoe\nann\n')
    result = run(*command, '--queries', 'queries', '--tag', 'a b')
    assert (result.exit_code, result.stdout) == (2, '')
    assert "found 'a b', expected one word" in result.stderr
    result = run(*command[:-1], './qrels')
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'refusing to overwrite ./qrels: it is another output\n' in result.stderr


def test_standard_output_is_not_two_files(campaign):
    command = ['export-trec', 'reference.txt', 'run.txt', '--qrels', '-', '--run', 'run']
    result = run(*command)
    assert (result.exit_code, result.stdout) == (2, '')
    assert 'are files, not standard output' in result.stderr
    assert not (campaign / '-').exists()


@quiet
def test_the_command_adds_measures(campaign):
    command = ['evaluate', 'reference', 'run.txt', '-K', '10', '--measures', 'RR R@10']
    result = run(*command, '--format', 'csv')
    assert result.output == (
        'run,definition,query,AP@10,RR,R@10,n_relevant,n_queries,n_queries_RR,n_queries_R@10\n'
        'run,mediaeval-2016,all,0.25,0.5,0.5,2,1,1,1\n'
    )


def test_several_runs_and_ids_of_one_side(folder):
    (folder / 'part').write_text(run_text(RUN[:1]))
    result = run('evaluate-trec', 'qrels', 'run', 'part', '-K', '10', '--format', 'csv')
    assert (result.exit_code, result.stdout) == (1, '')
    assert result.stderr.startswith('Error: run 2 of 2: part')
    command = ['evaluate-trec', 'qrels', 'run', 'part', '-K', '10', '--format', 'csv', '--quiet']
    for missing, n_relevant in ('zero', 3), ('skip', 2):
        result = run(*command, '--missing', missing, '--unknown', 'drop')
        assert (result.exit_code, result.stderr) == (0, '')
        names, counts = zip(
            *((row.split(',')[0], row.split(',')[-2]) for row in result.stdout.splitlines()[1:]),
            strict=True,
        )
        assert (names, counts) == (('run', 'part'), ('3', str(n_relevant)))
    result = run('evaluate-trec', '-', 'run', 'part')
    assert 'can be read once only, and QRELS is read 2 times' in result.stderr


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--ties', 'expected', '--measures', 'P@5'], 'measures'),
        (['--relevance-level', '2', '--measures', 'P@5'], 'expected its rel as well'),
        (['--measures', 'alpha_nDCG@10'], 'ir_measures cannot compute this'),
    ],
)
def test_parameters_that_do_not_go_together_are_errors_of_usage(folder, options, message):
    pytest.importorskip('ir_measures')
    result = run('evaluate-trec', 'qrels', 'run', *options)
    assert (result.exit_code, result.stdout) == (2, '')
    assert message in result.stderr

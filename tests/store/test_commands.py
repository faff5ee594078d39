"""Every command and method that takes a run takes a store."""

import pytest
from challenge_inputs import SAMPLES
from click.testing import CliRunner
from stores import stored

from mediaeval_ap import AveragePrecision, validate
from mediaeval_ap.cli import main
from mediaeval_ap.errors import FormatError, ReadError
from mediaeval_ap.store.store import open_store
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

RUN, JUDGED = SAMPLES / 'hypothesis.txt', SAMPLES / 'reference.txt'
IS_STORE = (
    'is a store, expected a file: only a run to score may be a store (mediaeval-ap index --export '
    'writes its rows)'
)


@pytest.fixture(scope='module')
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp('store') / 'hypothesis.store'
    stored(RUN, path)
    return path


def output_of(run, arguments):
    """What a command writes about a run, but for its name."""
    given = [str(run) if each == 'RUN' else str(each) for each in arguments]
    done = CliRunner().invoke(main, given, input='nicolas_sarkozy\nalain_juppe\n')
    assert done.exit_code == 0, done.output
    return (done.stdout + done.stderr).replace(str(run), 'RUN')


ASKED = '--queries', SAMPLES / 'queries.txt'
COMMANDS = [
    ['evaluate', JUDGED, 'RUN', '-K', '5,all', '--definition', 'trec', *ASKED, '--format', 'json'],
    ['rank', JUDGED, 'RUN', 'nicolas_sarkozy', '--format', 'jsonl'],
    ['explain', JUDGED, 'RUN', *ASKED, '--format', 'json'],
    ['explain', JUDGED, 'RUN', 'nicolas_sarkozy', '--format', 'json'],
    ['stream', JUDGED, 'RUN', '--format', 'jsonl'],
    ['compare', JUDGED, 'RUN', f'other={RUN}', *ASKED, '--format', 'csv'],
]


@pytest.mark.parametrize('arguments', COMMANDS, ids=lambda arguments: ' '.join(map(str, arguments)))
def test_a_command_writes_the_same(store, arguments):
    of_text = output_of(RUN, arguments)
    assert of_text
    assert output_of(store, arguments) == of_text


def test_files_of_trec(store, tmp_path):
    for name, run in (('text', RUN), ('store', store)):
        (tmp_path / name).mkdir()
        files = ['--qrels', tmp_path / name / 'qrels', '--run', tmp_path / name / 'run']
        output_of(run, ['export-trec', JUDGED, 'RUN', *files, *ASKED])
    for file in ('qrels', 'run'):
        assert (tmp_path / 'text' / file).read_bytes() == (tmp_path / 'store' / file).read_bytes()


def test_exported_rows_are_the_run(store, tmp_path):
    path = tmp_path / 'run.parquet'
    open_store(store).to_parquet(path)
    rows = list(read(path, HYPOTHESIS).rows())
    assert sorted(rows) == sorted(read(RUN, HYPOTHESIS).rows())
    confidences = [row[4] for row in rows]
    assert confidences == sorted(confidences, reverse=True)
    assert stored(path, tmp_path / 'again').ranking.shot_at.tolist() == (
        open_store(store).ranking.shot_at.tolist()
    )


def test_a_store_of_an_empty_subset_is_not_exported(tmp_path):
    """As a file without rows is refused as a run."""
    path, parquet = tmp_path / 'run.store', tmp_path / 'run.parquet'
    parquet.write_text('older')
    store = stored([('x', 'v', '1', 'ann', 0.5)], path, [('y', 'w')])
    with pytest.raises(FormatError) as caught:
        store.to_parquet(parquet)
    assert str(caught.value) == (
        f'{path}: found no hypothesis in its subset, expected at least one, as every file of a '
        'run has; score the store itself'
    )
    assert parquet.read_text() == 'older'


@pytest.mark.parametrize(
    'ask', [validate, lambda path: read(path, REFERENCE), lambda path: AveragePrecision(path)]
)
def test_stores_stand_for_runs_alone(store, ask):
    with pytest.raises(ReadError) as caught:
        ask(store)
    assert str(caught.value) == f'{store}: {IS_STORE}'

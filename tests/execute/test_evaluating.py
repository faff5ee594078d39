"""Several processes give what one gives, whatever the run is."""

import os
import warnings

import commands
import pandas
import process_tasks
import pytest
import strategies
from hanging import no_hang
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from process_tasks import Elsewhere

from mediaeval_ap import AveragePrecision, choices, definitions
from mediaeval_ap.errors import Error, FormatError, ParameterError, ProcessError, WriteError
from mediaeval_ap.execute import beginning, evaluating, resuming
from mediaeval_ap.execute.processes import Processes
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.store.writing import write_store
from mediaeval_ap.tables import HYPOTHESIS, SUBSET, read

KINDS = ['rows', 'frame', 'ranking', 'file', 'store', 'pruned']
folder = commands.folder


@pytest.fixture(autouse=True)
def _always_shared(monkeypatch):
    """Share every evaluation, in the smallest blocks; small ones would stay in one process."""
    for name in ('PROBE_SECONDS', 'GAIN_SECONDS', 'LEAST_BLOCK_SECONDS'):
        monkeypatch.setattr(beginning, name, -1e9)


def alone(_):
    """Do in this process what several would do."""
    return Processes(1)


def told(function, *arguments, **settings):
    """What a function returns or raises, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            result = function(*arguments, **settings)
        except Error as error:
            return repr(error), []
    places = {(each.filename, str(each.message)) for each in caught}
    return result, sorted(places)


def run_of(kind, rows, subset, K, path):
    """The rows of a run as something else that is a run."""
    table = read(rows, HYPOTHESIS)
    match kind:
        case 'frame':
            return pandas.DataFrame(rows, columns=HYPOTHESIS.fields)
        case 'ranking':
            return Ranking(table)
        case 'file':
            file = path / 'run.txt'
            file.write_text(''.join(' '.join(map(str, row)) + '\n' for row in rows))
            return file
        case 'store' | 'pruned':
            videos = subset and read(subset, SUBSET)
            counted = table if subset is None else table.select(table.within(videos))
            keep = max(K) if kind == 'pruned' and 'all' not in K else None
            return write_store(Ranking(counted), path / 'run.store', keep=keep, subset=videos)
    return rows


cases = st.tuples(
    strategies.reference_rows,
    strategies.hypothesis_rows,
    strategies.cutoffs,
    strategies.subsets,
    st.sampled_from([each.name for each in definitions.registered()]),
    st.none() | st.lists(strategies.names, min_size=1),
    st.sampled_from(KINDS),
    st.sampled_from(choices.WITHOUT_RELEVANT),
)


def check_the_same(case, path, **settings):
    """Compare all that an evaluation says and warns of with what one process says."""
    reference, rows, K, subset, definition, queries, kind, policy = case
    rows = [(*row[:3], row[3].replace('\xa0', '_'), row[4]) for row in rows]
    K = strategies.allowed(K, definition)
    subset = subset and sorted(subset)
    if subset and not {row[:2] for row in reference} & set(subset):
        reference = [*reference, (*subset[0], '1', 'ab')]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        average_precision = AveragePrecision(
            reference,
            K,
            subset=subset,
            definition=definition,
            queries_without_relevant=policy,
        )
    run = run_of(kind, rows, subset, K, path)
    one, of_one = told(average_precision.evaluate, run, queries, **settings)
    several, of_several = told(average_precision.evaluate, run, queries, jobs=2, **settings)
    assert of_several == of_one
    if isinstance(one, str):
        assert several == one
        return
    assert several.to_json(per_query=True) == one.to_json(per_query=True)
    assert several.ap.tobytes() == one.ap.tobytes()
    assert several.ap.dtype == one.ap.dtype
    assert several.n_relevant.tolist() == one.n_relevant.tolist()
    assert (several.K, several.inputs, several.counts) == (one.K, one.inputs, one.counts)
    assert (several.notes, repr(several)) == (one.notes, repr(one))
    assert list(map(str, several.warnings)) == list(map(str, one.warnings))


@given(cases, st.sampled_from(['', 'P@5 nDCG@3 RR']))
def test_blocks_give_what_the_whole_gives(tmp_path_factory, case, measures):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluating, 'Processes', alone)
        check_the_same(case, tmp_path_factory.mktemp('run'), measures=measures)


@settings(max_examples=5, phases=[Phase.generate])  # each starts a process: few, not shrunk
@given(cases)
def test_other_processes_give_what_one_gives(tmp_path_factory, case):
    with pytest.MonkeyPatch.context() as patch, no_hang():
        patch.setattr(evaluating, 'Processes', Elsewhere)
        check_the_same(case, tmp_path_factory.mktemp('run'), measures='P@5')


def test_blocks_that_are_kept(tmp_path, monkeypatch):
    """The blocks of a folder are the same, whoever computes them."""
    monkeypatch.setattr(resuming, 'Processes', Elsewhere)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    asked = [*average_precision.queries] * 2
    one, of_one = told(average_precision.evaluate, 'samples/hypothesis.txt', asked)
    settings = {'resume': tmp_path / 'blocks', 'jobs': 2}
    with no_hang():
        run = 'samples/hypothesis.txt'
        several, of_several = told(average_precision.evaluate, run, asked, **settings)
    assert several.to_json(per_query=True) == one.to_json(per_query=True)
    assert of_several == of_one
    assert len(list((tmp_path / 'blocks').iterdir())) > 3


@pytest.mark.parametrize(
    ('task', 'error'),
    [
        (process_tasks.write_and_be_killed, ProcessError),
        (process_tasks.write_and_interrupt, KeyboardInterrupt),
    ],
)
def test_no_temporary_file_of_a_block_is_left(tmp_path, monkeypatch, task, error):
    monkeypatch.setattr(resuming, 'Processes', Elsewhere)
    monkeypatch.setattr(resuming, 'write_block', task)
    monkeypatch.setattr(beginning.Clock, 'worth_sharing', lambda *_: True)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    with no_hang(), pytest.raises(error):
        average_precision.evaluate('samples/hypothesis.txt', resume=tmp_path, jobs=2)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != '.json'] == []


@pytest.mark.parametrize(
    ('in_use', 'shared_bytes'),
    [(Processes, 0), (Elsewhere, 0), (Processes, evaluating.WORTH_SHARING_BYTES)],
)
@pytest.mark.parametrize('options', [(), ('--keep-going',), ('--strict',)])
def test_runs_of_the_command(folder, monkeypatch, in_use, shared_bytes, options):
    """Several runs, one of them wrong or without a shot in common, read by any process."""
    monkeypatch.setattr(evaluating, 'Processes', in_use)
    monkeypatch.setattr(evaluating, 'WORTH_SHARING_BYTES', shared_bytes)
    (folder / 'strange.txt').write_text('x z 1 ann 0.5\n')
    for runs in ['run.txt', 'run.txt'], ['strange.txt', 'bad.txt', 'run.txt']:
        command = 'evaluate', 'reference.txt', *runs, '--format', 'json', '--per-query', *options
        one = commands.run(*command)
        with no_hang():
            several = commands.run(*command, '--jobs', '2')
        assert (several.exit_code, several.output) == (one.exit_code, one.output)


def test_queries_of_the_largest_runs_alone_are_shared(folder, monkeypatch):
    """Of as many as there are processes: a store of each of many runs would fill the disk."""
    stored = []

    def write(ranking, *arguments, **options):
        stored.append(ranking.source.name)
        return write_store(ranking, *arguments, **options)

    monkeypatch.setattr(evaluating, 'Processes', alone)
    monkeypatch.setattr(beginning.Clock, 'worth_sharing', lambda _, __, jobs, ___: jobs > 1)
    monkeypatch.setattr(beginning, 'write_store', write)
    text = (folder / 'run.txt').read_text()
    runs = [f'{size}.txt' for size in (3, 1, 4, 2)]
    for run in runs:
        (folder / run).write_text(text + ''.join(f'x z {n} eve 0.1\n' for n in range(int(run[0]))))
    given = 'evaluate', 'reference.txt', *runs, '--format', 'json', '--per-query'
    assert commands.run(*given, '--jobs', '2').output == commands.run(*given).output
    assert stored == ['3.txt', '4.txt']


@pytest.mark.parametrize('jobs', [0, -1, 1025, 1.5, True, None, 'some', '2'])
def test_numbers_of_processes_that_are_none(jobs):
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')])
    with pytest.raises(
        ParameterError, match=r'^jobs: found .*, expected an integer from 1 to 1024'
    ):
        average_precision.evaluate([('x', 'v', '1', 'ann', 0.5)], jobs=jobs)


def test_all_cores(monkeypatch):
    found = []
    monkeypatch.setattr(evaluating, 'Processes', lambda count: found.append(count) or Processes(1))
    monkeypatch.setattr(choices, 'machine_cores', lambda: 3)
    AveragePrecision([('x', 'v', '1', 'ann')]).evaluate([('x', 'v', '1', 'ann', 0.5)], jobs='all')
    assert found == [3]


def store_at(path, run='samples/hypothesis.txt', **options):
    return write_store(Ranking(read(run, HYPOTHESIS)), path, **options)


def test_a_store_that_is_replaced_meanwhile_is_refused(tmp_path, monkeypatch):
    """Blocks of two stores would make one result."""
    path = tmp_path / 'run.store'
    store_at(path)

    def replaced(*_):
        store_at(path, [('x', 'v', '1', 'ann', 0.5)])
        return True

    monkeypatch.setattr(beginning.Clock, 'worth_sharing', replaced)
    monkeypatch.setattr(evaluating, 'Processes', alone)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    with pytest.raises(FormatError, match=rf'^{path}, sha256: found .*; begin it again$'):
        average_precision.evaluate(path, jobs=2)


def test_a_store_of_a_relative_path_is_found_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluating, 'Processes', alone)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    table = read('samples/hypothesis.txt', HYPOTHESIS)
    monkeypatch.chdir(tmp_path)
    store = write_store(Ranking(table), 'run.store')
    one, _ = told(average_precision.evaluate, store)
    (tmp_path / 'elsewhere').mkdir()
    monkeypatch.chdir('elsewhere')
    several, _ = told(average_precision.evaluate, store, jobs=2)
    assert several.to_json(per_query=True) == one.to_json(per_query=True)


@pytest.mark.parametrize('given', ['store', 'path'])
def test_a_store_whose_path_is_not_in_unicode(tmp_path, monkeypatch, given):
    monkeypatch.setattr(evaluating, 'Processes', alone)
    path = tmp_path / os.fsdecode(b'run\xff.store')
    run = {'store': store_at(path), 'path': path}[given]
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    one, _ = told(average_precision.evaluate, run)
    several, _ = told(average_precision.evaluate, run, jobs=2)
    assert several.to_json(per_query=True) == one.to_json(per_query=True)


@pytest.mark.parametrize('jobs', [1, 2])
def test_measures_that_need_more_than_a_store_keeps_are_named(tmp_path, monkeypatch, jobs):
    monkeypatch.setattr(evaluating, 'Processes', alone)
    store = store_at(tmp_path / 'run.store', keep=10)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    with pytest.raises(FormatError) as caught:
        average_precision.evaluate(store, measures='P@5 RR', jobs=jobs)
    assert str(caught.value) == (
        f'{store.path}, measures: found P@5, RR, computed on rankings of 1000 shots, expected '
        'rankings of at most 10, which this store keeps; index the run with --keep 1000 or without '
        '--keep'
    )


def test_without_room_for_a_store_one_process_goes_on(monkeypatch):
    def full(*_, **__):
        raise WriteError('run.store', 'No space left on device')

    monkeypatch.setattr(beginning, 'write_store', full)
    average_precision = AveragePrecision('samples/reference.txt', K=[10])
    several, _ = told(average_precision.evaluate, 'samples/hypothesis.txt', jobs=2)
    one, _ = told(average_precision.evaluate, 'samples/hypothesis.txt')
    assert several.to_json(per_query=True) == one.to_json(per_query=True)


def test_a_process_that_is_killed_ends_the_command(folder, monkeypatch):
    """Also with --keep-going, which is for runs that are wrong."""

    def killed(*_):
        raise ProcessError('a process of this evaluation was ended by SIGKILL')

    monkeypatch.setattr(evaluating, 'begin', killed)
    given = 'evaluate', 'reference.txt', 'run.txt', 'run.txt', '--jobs', '2', '--keep-going'
    result = commands.run(*given)
    told = 'Error: run 1 of 2: a process of this evaluation was ended by SIGKILL\n'
    assert (result.exit_code, result.output) == (1, told.replace('run 1 of 2: ', ''))

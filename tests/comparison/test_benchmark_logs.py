"""What MTEB, lm-evaluation-harness and Inspect write gives the same as a plain table."""

import json
import shutil

import pandas
import pytest

from mediaeval_ap import compare
from mediaeval_ap.errors import Error
from mediaeval_ap.tables.first_look import Kind, kind_of

# Values of eight items; any would do.
VALUES = {'a': [1, 0, 0, 1, 1, 0, 1, 0], 'b': [1, 1, 0, 1, 1, 1, 1, 0]}
MTEB_TASKS = {  # of split and subset
    'NFCorpus': [('test', 'default', 0.3)],
    'STS22.v2': [('test', 'en', 0.4), ('test', 'de', 0.5), ('test', 'es', 0.75)],
    'AmazonCounterfactualClassification': [
        ('test', 'en', 0.1),
        ('test', 'de', 0.2),
        ('validation', 'en', 0.6),
        ('validation', 'de', 0.8),
    ],
}


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
    return path


def mteb_task(task, gain=0.0):
    """A file of MTEB 2.26."""
    scores = {}
    for split, subset, value in MTEB_TASKS[task]:
        score = {
            'main_score': value + gain,
            'ndcg_at_10': value / 2 + gain,
            'scores_per_experiment': [{'accuracy': value}],
            'hf_subset': subset,
            'languages': ['eng-Latn'],
            'mteb_version': '2.26.24',
        }
        scores.setdefault(split, []).append(score)
    return {
        'dataset_revision': 'ec0fa4fe99da2ff19ca1214b7966684033a58814',
        'task_name': task,
        'mteb_version': '2.26.24',
        'scores': scores,
        'evaluation_time': 3.0,
        'kg_co2_emissions': None,
        'date': None,
        'evaluation_phases': None,
    }


def mteb_model(folder, model, gain=0.0, revision='r1'):
    for task in MTEB_TASKS:
        write(folder / model / revision / f'{task}.json', mteb_task(task, gain))
    write(folder / model / revision / 'model_meta.json', {'name': model, 'revision': revision})
    write(folder / model / revision / 'run_settings.jsonl', '{"task": "NFCorpus"}\n')
    return folder / model


def mteb_table():
    """The same as a table."""
    rows = [
        ('-'.join([task, split, subset][: 2 if subset == 'default' else 3]), task, value)
        for task, parts in MTEB_TASKS.items()
        for split, subset, value in parts
    ]
    frame = pandas.DataFrame(rows, columns=['item', 'task', 'a'])
    return frame.assign(b=frame['a'] + 0.125)


def samples(folder, model, task='qa', values=None, filters=('strict-match', 'flexible-extract')):
    """Lines of lm-evaluation-harness 0.4.13; the second filter finds each answer wrong."""
    lines = [
        {
            'doc_id': number,
            'doc': {'question': f'{number}+1?'},
            'target': '1',
            'arguments': {'gen_args_0': {'arg_0': 'Q', 'arg_1': {'until': []}}},
            'resps': [['1']],
            'filtered_resps': ['1'],
            'filter': name,
            'metrics': ['exact_match'],
            'doc_hash': '2f',
            'exact_match': value if name == filters[0] else 0.0,
        }
        for name in filters
        for number, value in enumerate(VALUES[model] if values is None else values)
    ]
    text = ''.join(f'{json.dumps(line)}\n' for line in lines)
    return write(folder / model / f'samples_{task}_2026-11-29T05-09-26.864335.jsonl', text)


def task_results(folder, model, gain=0.0):
    """Means of lm-evaluation-harness 0.4.13 over five tasks and a group of them."""
    tasks = {
        f't{number}': {
            'name': f't{number}',
            'alias': f't{number}',
            'sample_len': 8,
            'acc,none': number / 10 + gain,
            'acc_stderr,none': 0.18,
            'exact_match,strict-match': 0.5,
            'exact_match_stderr,strict-match': 'N/A',
        }
        for number in range(5)
    }
    group = {'name': 'g', 'alias': 'g', 'acc,none': 0.9, 'acc_stderr,none': 0.1}
    content = {
        'results': {'g': group, **tasks},
        'groups': {'g': group},
        'group_subtasks': {'g': [*tasks]},
        'configs': {task: {'task': task} for task in tasks},
        'model_name': f'org/{model}',
    }
    return write(folder / model / 'results_2026-11-29T05-09-26.864335.json', content)


def inspect_log(model, epochs=1, scores=None):
    """A log of Inspect 0.3.285, without what is in `plan`, `results` and `stats`."""
    letters = {0: 'I', 1: 'C'}
    found = [
        {
            'id': number if number % 2 else f's{number}',
            'epoch': epoch,
            'input': '1+1',
            'target': 'x',
            'scores': {
                'includes': {'value': letters[value], 'answer': 'x', 'history': []},
                'both': {'value': {'length': 0.25, 'good': 'P'}, 'history': []},
            },
        }
        for epoch in range(1, epochs + 1)
        for number, value in enumerate(VALUES[model])
    ]
    if scores is not None:
        found[0]['scores'] = scores
    return {
        'version': 2,
        'status': 'success',
        'eval': {'eval_id': '5z', 'task': 'sums', 'model': f'mock/{model}'},
        'plan': {},
        'results': {'total_samples': len(found)},
        'samples': found,
    }


def check_pairs(comparison, expected, names=('a', 'b')):
    """The same difference and p as of a plain table."""
    pair, plain = comparison.pairs[0], expected.pairs[0]
    original = dict(zip(names, 'ab', strict=True))
    assert (original[pair.a], original[pair.b]) == (plain.a, plain.b)
    assert (pair.difference, pair.p) == (plain.difference, plain.p)


def plain_table(items=range(8)):
    return pandas.DataFrame({'item': [f'q{item}' for item in items], **VALUES})


@pytest.mark.parametrize('macro', [None, 'task'])
def test_results_of_mteb(macro, tmp_path):
    paths = [mteb_model(tmp_path, 'a'), mteb_model(tmp_path, 'b', 0.125)]
    expected = compare(mteb_table(), macro=macro)
    for given in tmp_path, paths, [f'{path}/r1' for path in paths]:
        found = compare(given, macro=macro)
        assert (found.metrics, sorted(found.queries)) == (['main_score'], sorted(expected.queries))
        check_pairs(found, expected)
    assert kind_of(paths[0]) is Kind.SCORES


def test_other_measures_of_mteb(tmp_path):
    mteb_model(tmp_path, 'a')
    mteb_model(tmp_path, 'b', 0.125)
    found = compare(tmp_path, measures=['ndcg_at_10', 'main_score'])
    # Half the main score, and the same gain; the tolerance is for sums of doubles.
    halves = mteb_table()['a'].mean() / 2
    means = {(row.run, row.metric): row.map for row in found.leaderboard}
    assert means['b', 'ndcg_at_10'] - means['a', 'ndcg_at_10'] == pytest.approx(0.125)
    assert means['a', 'ndcg_at_10'] == pytest.approx(halves)


def test_several_revisions_of_a_model(tmp_path):
    mteb_model(tmp_path, 'a')
    mteb_model(tmp_path, 'a', 0.125, revision='r2')
    mteb_model(tmp_path, 'b')
    assert sorted(compare(tmp_path).runs) == ['a@r1', 'a@r2', 'b']


def test_samples_of_lm_evaluation_harness(tmp_path):
    files = [samples(tmp_path, model) for model in 'ab']
    for given in tmp_path, files, [tmp_path / 'a', tmp_path / 'b']:
        found = compare(given)
        assert found.metrics == ['exact_match:strict-match', 'exact_match:flexible-extract']
        assert sorted(found.queries) == [f'qa-{number}' for number in range(8)]
        check_pairs(found, compare(plain_table()))
    found = compare(files, measures=['exact_match:flexible-extract'])
    assert {row.map for row in found.leaderboard} == {0}


def test_tasks_of_samples_are_groups(tmp_path):
    for model in 'ab':
        samples(tmp_path, model, filters=['none'])
        samples(tmp_path, model, 'mc', VALUES[model][:3], filters=['none'])
    table = pandas.concat([plain_table().assign(task='qa'), plain_table()[:3].assign(task='mc')])
    table['item'] += table['task']
    found = compare(tmp_path, macro='task')
    assert found.metrics == ['exact_match']
    check_pairs(found, compare(table, macro='task'))


def test_means_of_tasks(tmp_path):
    """Groups and standard errors are left out."""
    files = [task_results(tmp_path, 'a'), task_results(tmp_path, 'b', 0.125)]
    table = pandas.DataFrame({'item': [f't{n}' for n in range(5)], 'a': [n / 10 for n in range(5)]})
    for given in tmp_path, files:
        found = compare(given)
        assert found.metrics == ['acc', 'exact_match:strict-match']
        assert sorted(found.queries) == [*table['item']]
        check_pairs(found, compare(table.assign(b=table['a'] + 0.125)))


def test_samples_count_in_place_of_means(tmp_path):
    """In a folder that has both; another one still has its means."""
    for model in 'ab':
        task_results(tmp_path, model)
        samples(tmp_path, model)
    assert all(query.startswith('qa-') for query in compare(tmp_path).queries)
    task_results(tmp_path, 'c')
    with pytest.raises(Error, match="without a value of some system, as 'qa-0' of 'c'"):
        compare(tmp_path)


@pytest.mark.parametrize('epochs', [1, 2])
def test_logs_of_inspect(epochs, tmp_path):
    """Epochs are seeds, if there are several; letters are 1 and 0, keys are measures."""
    files = [write(tmp_path / f'{model}.json', inspect_log(model, epochs)) for model in 'ab']
    seeds = [plain_table().assign(seed=f'{epoch}') for epoch in range(1, epochs + 1)]
    expected = compare(pandas.concat(seeds) if epochs > 1 else plain_table())
    for given in tmp_path, files:
        found = compare(given)
        assert found.metrics == ['includes', 'both:length', 'both:good']
        assert {*found.queries} == {f'sums-{n if n % 2 else f"s{n}"}' for n in range(8)}
        assert {
            (row.n_seeds, row.map) for row in found.leaderboard if row.metric == 'both:good'
        } == {(epochs, 0.5)}
        check_pairs(found, expected, ('mock/a', 'mock/b'))


@pytest.mark.parametrize('scores', [None, {}, {'includes': {'value': float('nan')}}])
def test_a_sample_without_a_score_is_missing(scores, tmp_path):
    log = inspect_log('a', scores={})
    log['samples'][0]['scores'] = scores
    files = [write(tmp_path / 'a.json', log), write(tmp_path / 'b.json', inspect_log('b'))]
    with pytest.raises(Error, match=r"1 of 8 items without .* 'sums-s0' of 'mock/a'"):
        compare(files)
    found = compare(files, missing='skip')
    check_pairs(found, compare(plain_table()[1:]), ('mock/a', 'mock/b'))


def test_logs_of_one_model_are_called_after_their_files(tmp_path):
    files = [write(tmp_path / f'{name}.json', inspect_log('a')) for name in ('old', 'new')]
    assert sorted(compare(files).runs) == ['new', 'old']


def test_a_repeat_in_a_folder_names_both_files(tmp_path):
    for name in 'old', 'new':
        write(tmp_path / f'{name}.json', inspect_log('a'))
    with pytest.raises(Error, match=r"old\.json: found 'sums-s0' of 'mock/a' again, as in .*new\."):
        compare(tmp_path)


def test_columns_of_samples_as_json_lines(tmp_path):
    """With the columns of item and value, they are lines like others."""
    files = [samples(tmp_path, model, filters=['none']) for model in 'ab']
    found = compare(files, columns={'item': 'doc_id', 'value': 'exact_match'})
    assert sorted(found.queries) == [*map(str, range(8))]


def without(value, *path):
    *folders, last = path
    for name in folders:
        value = value[name]
    del value[last]


@pytest.mark.parametrize(
    ('path', 'field'),
    [
        (('scores',), 'scores'),
        (('task_name',), 'task_name'),
        (('scores', 'test', 0, 'main_score'), 'main_score'),
        (('scores', 'test', 0, 'hf_subset'), 'hf_subset'),
    ],
)
def test_a_field_of_mteb_that_lacks(path, field, tmp_path):
    content = mteb_task('NFCorpus')
    without(content, *path)
    file = write(tmp_path / 'a/r1/NFCorpus.json', content)
    with pytest.raises(Error, match=rf"NFCorpus\.json, '{field}': found nothing"):
        compare(file)


@pytest.mark.parametrize('path', [('samples',), ('eval', 'model'), ('samples', 1, 'id')])
def test_a_field_of_inspect_that_lacks(path, tmp_path):
    content = inspect_log('a')
    without(content, *path)
    with pytest.raises(Error, match=rf"log\.json, '{path[-1]}': found nothing"):
        compare(write(tmp_path / 'log.json', content))


def test_a_log_with_an_error(tmp_path):
    content = inspect_log('a') | {'status': 'error'}
    with pytest.raises(Error, match=r"log\.json, status: found 'error', expected 'success'"):
        compare(write(tmp_path / 'log.json', content))


def test_a_letter_that_is_no_value(tmp_path):
    content = inspect_log('a', scores={'includes': {'value': 'A'}})
    with pytest.raises(Error, match=r"log\.json, includes: found 'A', expected a finite number"):
        compare(write(tmp_path / 'log.json', content))


def test_a_line_of_samples_without_metrics(tmp_path):
    file = samples(tmp_path, 'a')
    first, second, *_ = file.read_text().split('\n')
    file.write_text(f'{first}\n{second.replace("metrics", "others")}\n')
    with pytest.raises(Error, match=r"line 2, 'metrics': found nothing"):
        compare(file)


def test_samples_under_another_name(tmp_path):
    """The task would be that of the name, and the items of two models no longer the same."""
    file = samples(tmp_path, 'a').rename(tmp_path / 'a.jsonl')
    with pytest.raises(Error, match=r'a\.jsonl, line 1, a file name samples_TASK\.jsonl: found'):
        compare(file)


def test_other_files_in_a_folder(tmp_path):
    mteb_model(tmp_path, 'a')
    mteb_model(tmp_path, 'b')
    other = write(tmp_path / 'a/r1/other.json', {'x': 1})
    with pytest.raises(Error, match=r'other\.json: found another file, expected JSON of MTEB'):
        compare(tmp_path)
    other.unlink()
    shutil.copy(tmp_path / 'a/r1/NFCorpus.json', tmp_path / 'a/r1/again.json')
    with pytest.raises(Error, match=r"again\.json: found 'NFCorpus-test' of 'a' again"):
        compare(tmp_path)


def test_a_binary_log_of_inspect(tmp_path):
    path = tmp_path / 'log.eval'
    path.write_bytes(b'PK\x03\x04' + bytes(26) + b'_journal/start.json')
    assert kind_of(path) is Kind.SCORES
    with pytest.raises(Error, match='inspect log convert --to json'):
        compare(path)

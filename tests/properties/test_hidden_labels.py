"""A page with hidden labels depends on means and values by query alone."""

import json
import random
import re
import tempfile
import warnings
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pandas
import pytest
from commands import run
from hypothesis import given, settings
from hypothesis import strategies as st
from page_text import PageText, data_of

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.errors import DataWarning, ParameterError

NAMES = [f'name_{number}' for number in range(60)]  # 50 videos or more would be clusters


def write(path, rows):
    path.write_text(''.join(' '.join(map(str, row)) + '\n' for row in rows))


def write_references(folder, seed):
    """Write two runs and, in folders of their own, two references that give equal values.

    The references agree on the shots that a run returns. The other relevant shots are in other
    videos; where no run has a hit, their number is another, too.
    """
    generator = random.Random(seed)
    runs = {name: [] for name in ('one', 'other')}
    references = {name: [] for name in ('first', 'second')}
    for number, name in enumerate(NAMES):
        videos = {'first': name, 'second': f'second_{max(number, 9)}'}
        returned = [('x', f'returned_{name}', str(shot), name) for shot in range(4)]
        relevant = [row for row in returned if generator.random() < 0.3]
        for rows in runs.values():
            rows += [(*row, generator.random()) for row in generator.sample(returned, 3)]
        n_more = [generator.randint(0, 3)] * 2
        if not relevant and n_more[0]:  # a query without a relevant shot has another value
            n_more = [generator.randint(1, 3), generator.randint(1, 3)]
        for (reference, rows), n in zip(references.items(), n_more, strict=True):
            rows += relevant
            rows += [('x', videos[reference], str(shot), name) for shot in range(n)]
        references['second'].append(('x', 'second', name, 'nobody_asked'))
    for run_name, rows in runs.items():
        write(folder / f'{run_name}.txt', rows)
    for reference, rows in references.items():
        (folder / reference).mkdir()
        write(folder / reference / 'reference.txt', rows)
    write(folder / 'queries.txt', [[name] for name in NAMES])


def everything(folder, reference, **settings):
    """The page, the result as JSON, and the figures."""
    with chdir(folder / reference), warnings.catch_warnings(action='ignore'):
        average_precision = AveragePrecision('reference.txt', K=[1, 2, 10])
        results = {
            path.stem: average_precision.evaluate(path, folder / 'queries.txt')
            for path in sorted(folder.glob('o*.txt'))
        }
        comparison = compare(results, **settings)
    figures = [
        getattr(comparison.plot, name)().to_dict() for name in ('leaderboard', 'distribution')
    ]
    return comparison.to_html(), json.dumps(comparison.to_dict()), figures


@settings(max_examples=4)  # each has 60 queries, and makes two pages, which takes seconds
@given(seed=st.integers(0, 2**32))
def test_references_that_give_equal_values_give_the_same_bytes(seed):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_references(folder, seed)
        first, second = (
            everything(folder, reference, hide_labels=True) for reference in ('first', 'second')
        )
    assert first == second


def test_with_labels_these_references_give_other_pages(tmp_path):
    write_references(tmp_path, 1)
    first, second = (everything(tmp_path, reference) for reference in ('first', 'second'))
    data = [data_of(page) for page, _, _ in (first, second)]
    assert data[0]['values'] == data[1]['values']
    counts = [each['comparison']['manifest']['counts'] for each in data]
    assert counts[0]['units'] != counts[1]['units']  # clusters are videos
    assert first[1] != second[1]


@pytest.mark.parametrize('options', [[], ['--figure', 'all']])
def test_the_command_writes_the_same_bytes(tmp_path, options):
    write_references(tmp_path, 2)
    runs = [str(tmp_path / f'{name}.txt') for name in ('one', 'other')]
    shared = ['--queries', str(tmp_path / 'queries.txt'), '--hide-labels', '-q', *options]
    written = []
    for reference in ('first', 'second'):
        output = tmp_path / reference / ('figures' if options else 'page.html')
        with chdir(tmp_path / reference):
            result = run('report', 'reference.txt', *runs, *shared, '-o', str(output))
            assert result.exit_code == 0, result.output
        files = sorted(output.iterdir()) if options else [output]
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1]
    if not options:
        text = written[0][0].decode()
        data = data_of(text)
        assert data['metrics'] == ['MAP@1000', 'MAP@10', 'MAP@100']
        assert {each['role'] for each in data['manifest']['inputs']} == {'run'}
        assert 'Labels are hidden' in text
        assert 'Relevant' not in PageText(text).cells


@pytest.mark.parametrize('options', [[], ['--figure', 'leaderboard']])
def test_given_names_are_all_that_tells_of_runs(tmp_path, options):
    """Other files of equal values under the same names give the same bytes."""
    write_references(tmp_path, 4)
    written = []
    for suffix in ('', '_again'):
        files = [tmp_path / f'{name}{suffix}.txt' for name in ('one', 'other')]
        if suffix:
            for file, original in zip(files, ('one', 'other'), strict=True):
                rows = (tmp_path / f'{original}.txt').read_text().splitlines()
                file.write_text('\n'.join(rows[::-1]) + '\n')  # other bytes, other hash
        names = tmp_path / 'names.csv'
        names.write_text(f'path,name\n{files[0]},team A\n{files[1]},team B\n')
        arguments = ['--queries', str(tmp_path / 'queries.txt'), '--names', str(names)]
        output = tmp_path / ('figure.svg' if options else 'page.html')
        result = run(
            *('report', str(tmp_path / 'first' / 'reference.txt'), *map(str, files), *arguments),
            *('--hide-labels', '-q', *options, '-o', str(output)),
        )
        assert result.exit_code == 0, result.output
        written.append(output.read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ('settings', 'place'),
    [({'by': 'relevant'}, 'by'), ({'by': 'corpus'}, 'by'), ({'cluster': 'video'}, 'cluster')],
)
def test_what_tells_of_relevant_shots_is_refused(tmp_path, settings, place):
    write_references(tmp_path, 3)
    with pytest.raises(ParameterError, match=f'{place}: found .* hidden labels'):
        everything(tmp_path, 'first', hide_labels=True, **settings)


@pytest.fixture
def of_one_shot():
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1, 10])
    return average_precision.evaluate([('x', 'v', '1', 'ann', 1)])


def all_measures():
    """Every measure of ir_measures: alone, and at cutoffs if it has any."""
    for measure in set(ir_measures.measures.registry.values()):
        yield measure.NAME
        if 'cutoff' in measure.SUPPORTED_PARAMS:
            yield from (f'{measure.NAME}@{k}' for k in (1, 2, 10))


@pytest.mark.parametrize('measure', sorted(all_measures()))
def test_of_all_measures_only_ap_and_ndcg_are_shown(of_one_shot, measure):
    """Those that are sums over ranks, where more than the first one count."""
    result = replace(of_one_shot, measures={measure: np.array([0.5])})
    name, _, k = measure.partition('@')
    if name in ('AP', 'nDCG', 'infAP') and k != '1':
        with pytest.warns(DataWarning, match='^MAP@1: left out, '):
            assert compare([result], hide_labels=True).metrics == [measure, 'MAP@10']
        return
    with pytest.warns(DataWarning, match=f'^{re.escape(measure)}(, MAP@1)?: left out, '):
        assert compare([result], hide_labels=True).metrics == ['MAP@10']
    assert compare([result]).metrics[0] == measure


@pytest.mark.parametrize(
    ('column', 'is_shown'),
    [
        *(
            ('map', True),
            ('map_cut_10', True),
            ('ndcg', True),
            ('ndcg_cut_5', True),
            ('AP@2', True),
        ),
        *(('map_cut_1', False), ('ndcg_cut_1', False), ('P_5', False), ('recip_rank', False)),
        *(('num_rel', False), ('gm_map', False), ('wer', False), ('EwMAP', False)),
    ],
)
def test_score_tables_name_what_they_hold(column, is_shown):
    """By the names of trec_eval or this package; what another number tells is not known."""
    table = pandas.DataFrame({'item': ['a', 'b'], 'system': 'one', column: [0.5, 0.25]})
    table_settings = {'columns': {'value': column}, 'hide_labels': True}
    if is_shown:
        assert compare(table, **table_settings).metrics == [column]
    else:
        with pytest.raises(ParameterError, match=f'hide_labels: found {column}, expected AP or nD'):
            compare(table, **table_settings)


def test_the_shell_is_told_of_cutoff_1_and_the_page_has_no_words_about_hashes(tmp_path):
    write_references(tmp_path, 5)
    paths = [str(tmp_path / name) for name in ('first/reference.txt', 'one.txt', 'other.txt')]
    for K, is_told in (('1,10', True), ('10', False)):
        output = tmp_path / f'{K}.html'
        result = run('report', *paths, '-K', K, '--hide-labels', '-o', str(output))
        assert result.exit_code == 0, result.output
        assert ('Warning: MAP@1: left out, ' in result.stderr) == is_told
        text = output.read_text()
        assert ('MAP@1: left out, ' in text) == is_told
        assert 'SHA-256' not in text
        assert text.count('Inputs: 2<') == 1


def test_values_at_cutoff_1_are_labels():
    result = AveragePrecision([('x', 'v', '1', 'ann')], K=[1]).evaluate([('x', 'v', '1', 'ann', 1)])
    with pytest.raises(ParameterError, match='found MAP@1, expected AP or nDCG at a cutoff above'):
        compare([result], hide_labels=True)

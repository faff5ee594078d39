"""The report of a campaign: its numbers are those of the comparison, the diagnoses, the runs."""

import html
import json
import random
import re
from collections import Counter
from contextlib import nullcontext
from itertools import accumulate

import pytest
from page_text import PageText, data_of
from schemas import follow_schema, schema_of

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.campaign.collected import Rankings
from mediaeval_ap.errors import (
    DataWarning,
    FormatError,
    ParameterError,
    printable,
)
from mediaeval_ap.render.page import COLOURS, fixed_decimals

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
HOSTILE = '<script>alert(1)</script>'
NAMES = ['ann', 'anne', 'bob_lee', 'bob_li', 'cat', HOSTILE, '"onload="x', 'zoë']
REFERENCE = [('x', f'v{i % 5}', str(i), NAMES[i % len(NAMES)]) for i in range(40)]
QUERIES = ['zoë', 'bob_lee', HOSTILE, 'nobody', 'ann', 'cat', '"onload="x', 'bob_li']


def run(seed, digits=20):
    generator = random.Random(seed)
    names = [generator.choice([name, name, generator.choice(NAMES)]) for *_, name in REFERENCE]
    shots = ((*row[:3], name) for row, name in zip(REFERENCE, names, strict=True))
    return [(*shot, round(generator.random(), digits)) for shot in shots]


SUBSET = [('x', f'v{i}') for i in range(5)]
OUTSIDE = [('x', 'another video', '1', 'ann', 0.5)]
RUNS = {'one': run(1), HOSTILE: run(2), 'other': run(3, 2), 'empty': OUTSIDE}


@pytest.fixture(scope='module')
def average_precision():
    return AveragePrecision(REFERENCE, K=[1, 5, 'all'], subset=SUBSET)


@pytest.fixture(scope='module')
def report(average_precision):
    with pytest.warns(DataWarning):  # queries without a relevant shot, for one
        return average_precision.report(RUNS, QUERIES, k=5, near=0.3)


@pytest.fixture(scope='module')
def page(report):
    return report.to_html()


def test_comparison_diagnoses_and_evaluations_are_those_of_their_own_functions(
    average_precision, report
):
    evaluations = {
        name: average_precision.evaluate(rows, QUERIES, name=name) for name, rows in RUNS.items()
    }
    diagnoses = {
        name: average_precision.explain(rows, QUERIES, k=5, near=0.3) for name, rows in RUNS.items()
    }
    criteria = {'reference': REFERENCE, 'subset': SUBSET}
    comparison = compare(evaluations, **criteria)
    assert report.comparison.to_dict() == comparison.to_dict()
    assert report.comparison.runs == list(report.evaluations) == list(report.diagnoses)
    for name in RUNS:
        assert report.evaluations[name].to_dict() == evaluations[name].to_dict()
        assert report.diagnoses[name].to_dict() == diagnoses[name].to_dict() | {'run': name}


def test_teams_are_given_or_begin_the_names(average_precision):
    rows = next(iter(RUNS.values()))
    runs = {'gtm_one': rows, 'gtm_two': rows, '_x': rows}
    made = average_precision.report(runs, ['cat'], teams={'gtm_two': 'Vigo'})
    assert made.to_dict()['teams'] == {'gtm_one': 'gtm', 'gtm_two': 'Vigo', '_x': '_x'}
    for teams, expected in (
        ({'y': 'Vigo'}, "one of 'gtm_one'"),
        ({'_x': ''}, 'non-empty text'),
        ('Vigo', 'a mapping of runs to teams'),
    ):
        with pytest.raises(ParameterError, match=f'^teams: found .* expected {expected}'):
            average_precision.report(runs, ['cat'], teams=teams)


def test_the_board_names_given_teams_and_labels_their_other_runs(average_precision):
    rows = next(iter(RUNS.values()))
    report = average_precision.report(
        {'a': rows, 'b': rows, 'c': rows}, ['cat'], teams={'a': 'Vigo <1>', 'c': 'Vigo <1>'}
    )
    page = report.to_html()
    teams = re.findall('<span class="quiet team">([^<]*)</span>', page.split('</table>')[0])
    assert teams == ['Vigo &lt;1&gt;', 'b', 'Vigo &lt;1&gt;, best run: a']
    assert '<bdi>b</bdi>, <bdi>c</bdi> (same team)' in page  # in the row of a
    assert '(same team)' not in average_precision.report({'a_1': rows, 'a_2': rows}).to_html()


def test_long_names_are_folded_between_their_parts():
    """A long name without a break would make tables wider than the page."""
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], K=[1])
    row = ('x', 'v', '1', 'ann', 0.5)
    runs = {'team-a_run<1': [row], 'b': [row]}
    page = average_precision.report(runs, ['ann']).to_html()
    name = 'team-<wbr>a_<wbr>run&lt;1'
    assert f'scope="row">{name}</th>' in page
    assert f'<h2 class="headline">b and {name} score the same' in page
    assert '<summary>The pair of runs at MAP@1</summary>' in page


def test_too_few_clusters_stand_before_the_order_of_the_runs():
    reference = [('x', f'v{n % 12}', str(n), f'name{n}') for n in range(60)]
    right = [(*row, 0.5) for row in reference]
    average_precision = AveragePrecision(reference, K=[1])
    with pytest.warns(DataWarning, match='12 clusters count as'):
        report = average_precision.report({'all': right, 'few': right[:9]}, cluster='video')
    first, *_ = data_of(report.to_html())['lead']['caveats']
    assert first.startswith('12 clusters count as 12.0 of equal size, and the largest holds 8.33 %')


def test_the_data_of_the_page_are_the_report(report, page):
    data = data_of(page)
    del data['figures']
    assert data == jsoned(report.to_dict())
    (first,) = PageText(page).attributes('data-first')
    assert report.plot.precision_recall().to_dict()['title'] == data['queries'][int(first)]


def jsoned(value):
    """A value as it is after JSON, which has lists for tuples."""
    return json.loads(json.dumps(value))


def test_values_and_losses_are_told_as_they_are(report):
    value = report.to_dict()
    assert value['comparison'] == report.comparison.to_dict()
    for number, name in enumerate(value['runs']):
        frame = report.evaluations[name].to_frame().loc[value['queries']]
        *values, n_relevant = (frame[column].tolist() for column in frame)
        # The last cutoff, which claims are about, comes first.
        assert [value['values'][metric][number] for metric in value['metrics']] == [
            values[-1],
            *values[:-1],
        ]
        assert value['n_relevant'] == n_relevant
        assert value['loss']['runs'][name] == report.diagnoses[name].to_dict()['loss']
        assert value['loss']['metrics'][name]['MAP@5'] == value['loss']['runs'][name]


def test_the_data_are_as_the_schema_says(report):
    value = jsoned(report.to_dict())
    follow_schema(value, 'report-1')
    assert all([value['rankings']['shots'], value['confused'], value['warnings']])  # not empty
    assert set(value) == set(schema_of('report-1')['required'])


def test_a_missing_run_changes_nothing_else():
    """Neither another run's numbers, nor the pool, which does not count the team of the run."""
    evaluator = AveragePrecision(REFERENCE, judged=[row[:3] for row in REFERENCE], K=[5])
    runs = {'one_a': RUNS['one'], 'lost_a': [('x', 'v', '1', 'ann', 'high')]}
    with pytest.raises(FormatError, match='row 1, confidence'):
        evaluator.report(runs, QUERIES)
    made = evaluator.report(runs, QUERIES, keep_going=True)
    page = made.to_html()
    assert '<dd>1 of 2 runs, 8 queries</dd>' in page
    assert 'MAP@5 of 1 of 2 runs, best first; missing: <bdi>lost_<wbr>a</bdi>.' in page
    value = jsoned(made.to_dict())
    follow_schema(value, 'report-1')
    assert value.pop('title') == '1 of 2 runs on <reference>'
    sentence = value['lead']['sentences'].pop()
    assert sentence.endswith('There is no other scored run to compare it with.')
    error = value.pop('missing')['lost_a']
    assert value['lead']['caveats'].pop(0) == f'1 run is missing: lost_a ({error}).'
    assert value['remarks'].pop()['runs'] == ['lost_a']
    del runs['lost_a']
    whole = jsoned(evaluator.report(runs, QUERIES).to_dict())
    del whole['title']
    assert whole['lead']['sentences'].pop() == sentence.replace('other scored', 'other')
    assert value == whole


def test_judgements_are_shown(report):
    """Judged@k of `evaluate`, the document of `pool`, and an order that could turn."""
    assert report.pool is None
    judged = sorted({row[:3] for row in REFERENCE[::2]})
    settings = {'K': [30, 5], 'judged': judged, 'drop_unjudged_rows': True}
    evaluator = AveragePrecision(REFERENCE, **settings)
    runs = {name: RUNS[name] for name in ('one', 'other')}
    made = evaluator.report(runs, QUERIES, near=0.3)
    value = jsoned(made.to_dict())
    follow_schema(value, 'report-1')
    assert value['pool'] == jsoned(evaluator.pool(runs, QUERIES, near=0.3).to_dict())
    for name in runs:
        assert value['judged'][name] == evaluator.evaluate(runs[name], QUERIES).mean_judged
    (text,) = [each for each in value['lead']['caveats'] if 'could change places' in each]
    assert text.startswith(f'{made.comparison.runs[0]} (MAP@5 ')
    page = made.to_html()
    assert 'is certain, for all labels of the unjudged shots in the first 30 ranks;' in page
    cells = PageText(page).cells
    for name in runs:
        assert fixed_decimals(made.pool.bounds[name].low['MAP@5']) in cells
        assert fixed_decimals(value['judged'][name]['Judged@30']) in cells
    condensed = AveragePrecision(REFERENCE, **settings, unjudged='skip').report(runs, QUERIES)
    assert condensed.pool is None
    assert condensed.to_dict()['judged']


def test_rankings_are_those_of_rank(average_precision, report):
    rankings = report.to_dict()['rankings']
    for number, name in enumerate(report.comparison.runs):
        tops, begin = list(accumulate(rankings['tops'][number])), 0
        shots = list(accumulate(rankings['shot'][number]))
        decimals = rankings['decimals'][number]
        assert decimals == {'other': 2, 'empty': 0}.get(name)
        confidences = rankings['confidence'][number]
        if decimals is not None:
            confidences = [each / 10**decimals for each in accumulate(confidences)]
        for place, query in enumerate(report.comparison.queries):
            length = rankings['lengths'][number][place]
            rows, begin = tops[begin : begin + length], begin + length
            with pytest.warns(DataWarning) if name == 'empty' else nullcontext():
                ranking = average_precision.rank(RUNS[name], query, k=1000)
            hits = ranking['rank'][ranking['relevant']].tolist()
            assert list(accumulate(rankings['hits'][number][place])) == hits
            expected = ranking.head(rankings['depth'] if query != 'nobody' else 0)
            assert [rankings['names'][rankings['name'][number][row]] for row in rows] == expected[
                'person_name'
            ].tolist()
            assert [confidences[row] for row in rows] == expected['confidence'].tolist()
            distances = [rankings['distances'][i] for i in rankings['distance'][number][place]]
            assert distances == expected['distance'].tolist()
            told = [rankings['shots'][shots[row]] for row in rows]
            ids = [(*rankings['videos'][video], shot) for video, shot in told]
            columns = expected[['corpus_id', 'video_id', 'shot_id']]
            assert ids == list(columns.itertuples(index=False, name=None))


def test_of_many_rankings_fewer_hypotheses_are_shown(average_precision):
    def depth(n_runs):
        queries = sorted(QUERIES)  # 7 of 8 have a relevant shot
        rankings = Rankings(average_precision.criteria, queries, n_runs)
        return rankings.to_dict([])['depth']

    assert [depth(n) for n in (1, 857, 1000, 10_000)] == [10, 10, 8, 1]


def test_hostile_names_stay_text(page):
    parsed = PageText(page)
    assert len(parsed.inside['script']) == len(['data', 'bundle', 'page.js', 'campaign.js'])
    assert HOSTILE in parsed.cells
    assert HOSTILE not in page


def test_the_reading_of_the_board_does_not_repeat_its_first_row(report, page):
    first, *further = report.to_dict()['lead']['sentences']
    assert f'<p>{first}</p>' not in page
    assert len(further) == sum(f'<p>{html.escape(sentence)}</p>' in page for sentence in further)


@pytest.mark.parametrize('n_runs', [8, 9])
def test_grey_lines_are_explained_where_there_are_some(average_precision, n_runs, monkeypatch):
    monkeypatch.setattr('mediaeval_ap.render.page.javascript_bundle', str)
    runs = {f'team_{number}': RUNS['one'] for number in range(n_runs)}
    report = average_precision.report(runs, QUERIES)
    assert (COLOURS['silver'][0] in str(report.plot.map_by_k().to_dict())) == (n_runs == 9)
    assert ('Grey: further runs of a team' in report.to_html()) == (n_runs == 9)


def test_equal_inputs_give_equal_bytes(average_precision, page):
    with pytest.warns(DataWarning):
        again = average_precision.report(RUNS, QUERIES, k=5, near=0.3)
    assert again.to_html() == page


def test_the_order_of_runs_and_queries_changes_no_number(average_precision, report):
    with pytest.warns(DataWarning):
        turned = average_precision.report(
            dict(reversed(RUNS.items())), QUERIES[::-1], k=5, near=0.3
        ).to_dict()
    value = report.to_dict()
    for name in 'runs', 'queries', 'n_relevant', 'values', 'comparison', 'loss', 'lead':
        assert turned[name] == value[name]


def test_each_run_is_read_once(average_precision):
    """A second reading would find an iterator empty."""
    rows = iter([('x', 'v0', '0', 'ann', 0.5)])
    report = average_precision.report({'once': rows}, ['ann', 'bob_lee'])
    assert report.evaluations['once'].counts['hypotheses'] == 1


SMALL = {
    'one run': ({'one': run(1)}, QUERIES[:2]),
    'one query': (RUNS, ['ann']),
    'one query that nobody is': ({'one': run(1), 'other': run(3)}, ['nobody']),
    'an empty run': ({'empty': OUTSIDE}, ['ann', 'cat']),
    'runs that are equal': ({'one': run(1), 'other': run(1)}, ['ann', 'cat']),
}


@pytest.mark.parametrize(
    ('case', 'definition'),
    [*((case, 'mediaeval-2016') for case in SMALL), ('one query that nobody is', 'trec')],
)
def test_small_campaigns_have_a_page(case, definition, monkeypatch):
    monkeypatch.setattr('mediaeval_ap.render.page.javascript_bundle', str)  # takes long to pack
    runs, queries = SMALL[case]
    average_precision = AveragePrecision(REFERENCE, K=[10], definition=definition, subset=SUBSET)
    report = average_precision.report(runs, queries)
    page = report.to_html()
    assert data_of(page)['runs'] == report.comparison.runs
    assert PageText(page).inside['h2'][0] == report.to_dict()['lead']['headline']
    assert 'nan' not in page.lower().split('page-data')[0].split('</style>')[1].split()


def test_no_folder_is_shown_where_names_of_files_differ(tmp_path, monkeypatch):
    """A published page would show the folders on the disk of its author."""
    monkeypatch.setattr('mediaeval_ap.render.page.javascript_bundle', str)
    (tmp_path / 'reference.txt').write_text('x v 1 ann\n')
    runs = {name: tmp_path / name / 'run.txt' for name in ('a', 'b')}
    for path in runs.values():
        path.parent.mkdir()
        path.write_text('x v 1 ann 0.5\n')
    report = AveragePrecision(tmp_path / 'reference.txt').report(runs, ['ann'])
    page = report.to_html()
    assert '<dt>Reference</dt><dd>reference.txt</dd>' in page
    for name in 'reference.txt', 'a/run.txt', 'b/run.txt':
        assert f'<td>{name}</td>' in page
    assert str(tmp_path) not in page
    assert data_of(page)['manifest']['inputs'][0]['name'] == str(tmp_path / 'reference.txt')


def test_the_cutoff_of_the_loss(average_precision):
    by_100 = AveragePrecision(REFERENCE, K=[100, 1000])
    one = {'one': RUNS['one']}
    cases = (average_precision, None, 'all'), (by_100, None, 100), (by_100, 7, 7)
    for scorer, k, expected in cases:
        assert scorer.report(one, QUERIES, k=k).diagnoses['one'].k == expected


WRONG = {'k': 0, 'level': 5, 'near': 1, 'baseline': 'nobody', 'correction': 'z'}


@pytest.mark.parametrize('name', WRONG)
def test_wrong_settings_are_refused_before_a_run_is_read(average_precision, name):
    """A mistake in a setting would be reported only after all runs were scored."""
    unread = iter([('x', 'v0', '0', 'ann', 0.5)])
    runs = {'one': unread, 'other': []}
    with pytest.raises(ParameterError, match=f'^{name}: found '):
        average_precision.report(runs, ['ann'], **{name: WRONG[name]})
    assert len(list(unread)) == 1


@pytest.mark.parametrize('name', ['loss', 'map_by_k', 'leaderboard', 'distribution'])
def test_figures_show_all_runs(report, name):
    rows = getattr(report.plot, name)().to_dict()['data']['values']
    field = 'series' if name == 'map_by_k' else 'run'
    assert {row[field] for row in rows} == set(RUNS)


def test_confused_names_are_counted_over_all_runs(report):
    rows = report.plot.confused(n=1000).to_dict()['data']['values']  # all of them
    counts = Counter()
    for diagnosis in report.diagnoses.values():
        for each in diagnosis.confused:
            counts[printable(each.query), printable(each.name)] += each.count
    assert {(row['query'], row['name']): row['count'] for row in rows} == counts
    assert [row['count'] for row in rows] == sorted(counts.values(), reverse=True)


def test_precision_and_recall_of_a_query(average_precision, report):
    rows = report.plot.precision_recall('cat').to_dict()['data']['values']
    for name in RUNS.keys() - {'empty'}:
        ranking = average_precision.rank(RUNS[name], 'cat', k=1000)
        hits = ranking[ranking['relevant']]
        curve = [row for row in rows if row['series'] == name]
        assert [row['value'] for row in curve] == pytest.approx(hits['precision'].tolist())
        assert [row['rank'] for row in curve] == hits['rank'].tolist()
        assert [row['x'] for row in curve] == [i / 5 for i in range(1, len(hits) + 1)]


def test_recall_counts_each_shot_once():
    """The run returns shot 1 at ranks 1 and 2, and shot 2 at rank 3."""
    average_precision = AveragePrecision([('x', 'v', '1', 'ann'), ('x', 'v', '2', 'ann')])
    run = [('x', 'v', shot, 'ann', 0.9 - n / 10) for n, shot in enumerate('112')]
    report = average_precision.report({'one': run})
    assert report.to_dict()['rankings']['repeats'] == [[[2]]]
    for plot in (report.plot, average_precision.explain(run).plot):
        rows = plot.precision_recall('ann').to_dict()['data']['values']
        points = [(row['rank'], row['x'], row['value']) for row in rows]
        assert points == [(1, 0.5, 1), (2, 0.5, 1), (3, 1, 1)]


def test_precision_and_recall_are_those_of_the_query_where_the_best_runs_differ_most():
    """AP of the second run: ann 1/2, bob 0 without a hit, cat 1/3; of the first, 1 everywhere."""
    reference = [('x', 'v', str(n), name) for n, name in enumerate(['ann', 'bob', 'cat'])]
    right = [(*row, 0.5) for row in reference]
    wrong = [('x', 'v', '8', name, 0.9) for name in ('ann', 'cat')] + [('x', 'v', '9', 'cat', 0.8)]
    runs = {'best': right, 'second': [right[0], right[2], *wrong]}
    assert titles_of(reference, runs) == ('cat', 'Confused names of 2 runs')
    assert titles_of(reference, {'best': right}) == ('ann', 'Confused names of best')


def titles_of(reference, runs):
    plot = AveragePrecision(reference, definition='trec').report(runs).plot
    return tuple(each().to_dict()['title'] for each in (plot.precision_recall, plot.confused))


@pytest.mark.parametrize(('n_shots', 'query'), [(2, 'cat'), (3, 'dan')])
def test_the_first_query_has_three_relevant_shots_if_any_has(n_shots, query):
    """The runs differ more on cat (one shot, AP 1 and 1/2) than on dan (a wrong shot at rank 2)."""
    reference = [('x', 'v', '0', 'cat'), *(('x', 'w', str(n), 'dan') for n in range(n_shots))]
    right = [(*row, 0.5) for row in reference]
    wrong = [('x', 'v', '9', 'cat', 0.9), ('x', 'v', '9', 'dan', 0.6)]
    runs = {'best': right, 'second': [right[0], (*reference[1], 0.7), *right[2:], *wrong]}
    assert titles_of(reference, runs)[0] == query


@pytest.mark.parametrize('query', ['nobody', 'never asked'])
def test_no_precision_without_relevant_shots(report, query):
    with pytest.raises(ParameterError, match=f'^precision_recall: found {query!r}'):
        report.plot.precision_recall(query)


def test_in_a_notebook_and_a_terminal(report):
    assert report.to_dict()['lead']['headline'] in repr(report)
    html = report._repr_html_()
    assert '<script' not in html
    assert len(html) < 3000  # a table of four runs, not the page


def test_three_real_runs_fit_into_the_page(official_data):
    folder = official_data / '2016'
    average_precision = AveragePrecision(folder / 'reference/reference.2016-10-16.txt')
    runs = sorted((folder / 'submissions').glob('*.txt'))
    with pytest.warns(DataWarning):
        report = average_precision.report(runs, folder / 'reference/queries.txt')
    assert len(report.to_html().encode()) < 1_300_000
    best = ['eumssi_contrastive2', 'gtm-uvigo_primary', 'tokyotech_primary']
    assert report.comparison.runs == best

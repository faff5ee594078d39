"""The campaigns' own data and what the published evaluator gave for it; files for trec_eval.

The folder has the layout of the public evaluation package, with what the evaluator printed beside
it: `2016/expected/NAME.json` for each run. `trec/NAME` holds `qrels`, a `run` full of ties, and
what trec_eval 10.0 prints for them, `trec_eval-10.txt`.
"""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from commands import run_line

from mediaeval_ap import AveragePrecision, TrecTopics, compare, evaluate_trec
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, SUBSET, read
from mediaeval_ap.tables.layouts import SHOT_FIELDS

pytestmark = [
    pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning'),
    pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning'),
]

# The expected figures are written with twelve decimals.
WRITTEN = 1e-12
PUBLISHED = {'ap_may': 'mediaeval-2016', 'ap_september': 'mediaeval-2016-final'}
RUNS = ['samples', 'eumssi_contrastive2', 'gtm-uvigo_primary', 'tokyotech_primary']


@pytest.fixture(params=RUNS)
def run(request, official_data):
    """(reference, subset, hypothesis, queries, expected) of one run."""
    folder = official_data / '2016'
    expected = json.loads((folder / f'expected/{request.param}.json').read_text())
    if request.param == 'samples':
        samples = folder / 'samples'
        queries = list(expected['queries'])  # of which ?unknown? is not asked by default
        return samples / 'reference.txt', None, samples / 'hypothesis.txt', queries, expected
    return (
        folder / 'reference/reference.2016-10-16.txt',
        folder / 'reference/test.eval',
        folder / f'submissions/{request.param}.txt',
        folder / 'reference/queries.txt',
        expected,
    )


def spread(*definitions):
    """Each run by one definition, each definition for some run; the other pairs are slow."""
    return [
        pytest.param(run, each, marks=pytest.mark.slow if each != definitions[at] else ())
        for number, run in enumerate(RUNS)
        for at in [number % len(definitions)]
        for each in definitions
    ]


@pytest.mark.parametrize('published', PUBLISHED)
def test_every_query(run, published):
    reference, subset, hypothesis, queries, expected = run
    average_precision = AveragePrecision(
        reference, expected['K'], subset=subset, definition=PUBLISHED[published]
    )
    evaluation = average_precision.evaluate(hypothesis, queries)
    assert sorted(evaluation.queries) == sorted(expected['queries'])
    assert evaluation.counts['hypotheses'] == expected['n_hypotheses']
    assert evaluation.counts['names'] == expected['n_names']
    figures = [expected['queries'][query] for query in evaluation.queries]
    assert evaluation.n_relevant.tolist() == [each['n_relevant'] for each in figures]
    assert np.abs(evaluation.ap - [each[published] for each in figures]).max() < WRITTEN


@pytest.mark.parametrize(
    ('run', 'definition'), spread('mediaeval-2016', 'kaggle'), indirect=['run']
)
def test_the_parts_of_the_loss_add_up(run, definition):
    """At several cutoffs, for every eighth query; each AP is that of the evaluation to the bit."""
    reference, subset, hypothesis, _, expected = run
    queries = sorted(expected['queries'])[::8]
    K = [1, 10, 100, 1000]
    average_precision = AveragePrecision(reference, K, subset=subset, definition=definition)
    evaluation = average_precision.evaluate(hypothesis, queries)
    for column, k in enumerate(K):
        diagnosis = average_precision.explain(hypothesis, queries, k=k)
        assert diagnosis.queries == evaluation.queries == queries
        assert diagnosis.ap.tolist() == evaluation.ap[:, column].tolist()
        assert np.abs(sum(diagnosis.parts.values()) - (1 - diagnosis.ap)).max() < WRITTEN
        parts = diagnosis.parts.items()
        assert all((each >= 0).all() for part, each in parts if part != 'repeats')


@pytest.mark.parametrize(
    ('run', 'definition'), spread('mediaeval-2016', 'trec', 'kaggle'), indirect=['run']
)
def test_runs_that_grow_come_to_the_same(run, definition):
    """Hypotheses that come in another order, and are asked about meanwhile."""
    reference, subset, hypothesis, queries, expected = run
    average_precision = AveragePrecision(
        reference, expected['K'], subset=subset, definition=definition
    )
    evaluation = average_precision.evaluate(hypothesis, queries)
    rows = list(read(hypothesis, HYPOTHESIS).rows())
    random.Random(1).shuffle(rows)  # fixed: some order, whichever
    live = average_precision.live()
    for part in range(4):
        live.extend(rows[part::4])
        live.send(evaluation.queries[0])
    assert live.evaluate(queries).ap.tolist() == evaluation.ap.tolist()
    for query, ap in list(zip(evaluation.queries, evaluation.ap.tolist(), strict=True))[::20]:
        assert live.send(query)[0] == ap


def test_published_table(official_data):
    """The three queries and four cutoffs that the metric was published with."""
    samples = official_data / '2016/samples'
    evaluation = AveragePrecision(samples / 'reference.txt').evaluate(
        samples / 'hypothesis.txt', samples / 'queries.txt'
    )
    assert evaluation.ap.round(3).tolist() == [
        [0.0, 0.299, 0.213, 0.194],
        [0.0, 0.083, 0.15, 0.15],
        [0.0, 0.0, 0.0, 0.002],
    ]


def test_pairs_are_told_apart_as_by_random_flips(official_data):
    """Of 20,000 flips by numpy, whose p is uncertain by a few of its standard errors."""
    folder = official_data / '2016'
    reference = folder / 'reference/reference.2016-10-16.txt'
    scorer = AveragePrecision(reference, K=[1, 100], subset=folder / 'reference/test.eval')
    queries = folder / 'reference/queries.txt'
    paths = sorted((folder / 'submissions').iterdir())
    results = {each.stem: scorer.evaluate(each, queries) for each in paths}
    comparison = compare(results, cluster='none')
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (20_000, 599))  # fixed: any flips would do
    for pair in comparison.pairs:
        rows = comparison.values[pair.metric]
        a, b = (rows[comparison.runs.index(run)] for run in (pair.a, pair.b))
        # Sums of differences are equal up to the rounding of 599 doubles.
        share = np.mean(np.abs(signs @ (a - b)) >= abs((a - b).sum()) - 1e-9)
        assert abs(share - pair.p) <= 5 * np.sqrt(pair.p * (1 - pair.p) / len(signs)) + 1e-3


WITH_C = {'missing': 'zero', 'unknown': 'drop'}  # trec_eval -c
TREC_COLUMNS = {'map_cut_1': 1, 'map_cut_5': 5, 'map_cut_10': 10, 'map_cut_100': 100, 'map': 'all'}


@pytest.fixture(params=['ties-1', 'ties-2'])
def ties(request, official_data):
    folder = official_data / 'trec' / request.param
    if not folder.exists():
        pytest.skip('needs the files for trec_eval, which no campaign published')
    return folder


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_what_trec_eval_prints(ties):
    """Every value, with the four decimals that are printed: there is nothing else to compare."""
    lines = (ties / 'trec_eval-10.txt').read_text().splitlines()
    printed = {(topic, measure): value for measure, topic, value in map(str.split, lines)}
    evaluation = evaluate_trec(ties / 'qrels', ties / 'run', TREC_COLUMNS.values(), **WITH_C)
    n_relevant = evaluation.n_relevant.tolist()
    ours = {('all', 'num_rel'): str(sum(n_relevant))}
    rows = [*zip(evaluation.queries, evaluation.ap.tolist(), strict=True)]
    for topic, values in [*rows, ('all', evaluation.map.tolist())]:
        for measure, value in zip(TREC_COLUMNS, values, strict=True):
            ours[topic, measure] = f'{value:.4f}'
    for topic, count in zip(evaluation.queries, n_relevant, strict=True):
        ours[topic, 'num_rel'] = str(count)
    assert ours == printed


PAGE = (Path(__file__).parents[2] / 'docs/published-figures.md').read_text()


@pytest.fixture
def pool(official_data, monkeypatch):
    if not (official_data / '2016-pool').exists():
        pytest.skip('needs the reference at both dates')
    monkeypatch.chdir(official_data / '2016-pool')


def test_the_command_of_the_page_about_2016(pool):
    command, shown = re.search(r'```sh\n(.*)\n```\n\n```text\n([^`]*)', PAGE).groups()
    code, printed = run_line(command)
    means = [re.findall('^MAP@.*', each, re.MULTILINE) for each in (printed, shown)]
    assert (code, means[0]) == (0, means[1])
    assert len(means[1]) == 4


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize('row', re.findall(r'^\| (2016-.*) \|$', PAGE, re.MULTILINE))
def test_the_settings_of_the_page_about_2016(pool, row):
    date, subset, setting, *figures, n_queries = row.replace('`', '').split(' | ')
    definition, _, skip = setting.partition(', --queries-without-relevant ')
    evaluation = AveragePrecision(
        f'reference/reference.{date}.txt',
        [1, 10, 100],
        subset=None if subset == 'none' else f'reference/{subset}',
        definition=definition,
        queries_without_relevant=skip or 'count',
    ).evaluate('submissions/tokyotech_primary.txt', 'reference/queries.txt')
    assert [f'{each:.3f}' for each in evaluation.map] == figures
    assert len(evaluation.queries) == int(n_queries)


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_who_found_what_is_as_the_page_about_judging_says(pool):
    average_precision = AveragePrecision(
        'reference/reference.2016-10-16.txt', [100], subset='reference/test.eval'
    )
    runs = sorted(Path('submissions').glob('*.txt'))
    found = average_precision.pool(runs, 'reference/queries.txt')
    said = ' '.join((Path(__file__).parents[2] / 'docs/judging.md').read_text().split())
    without = {each.team: each for each in found.without}
    returned, eumssi, motif = found.returned_by, without['eumssi'], without['motif']
    n_relevant = sum(returned.values())
    assert f'nobody returned {returned[0]} of {n_relevant:,} relevant shots' in said
    assert f'one team alone {returned[1]}.' in said
    second, its = 'eumssi_contrastive2', 'motif_contrastive2'
    ranks = f'from rank {found.ranks[second]} to {eumssi.ranks[second]}'
    assert f'the {eumssi.n_alone} of eumssi alone, its second run falls {ranks}.' in said
    before, after = (f'{each.means[its]["MAP@100"]:.3f}'[1:] for each in (found, motif))
    assert f'the {motif.n_alone} of motif alone,' in said
    assert f'from {before} to {after} under `mediaeval-2016`, as {motif.n_emptied} queries' in said


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
def test_condensed_lists_are_listings_without_unjudged_shots(pool):
    """On shots that are annotated, by the whole listing of a few queries alone."""
    reference = list(read('reference/reference.2016-10-16.txt', REFERENCE).rows())
    judged = {row[:3] for row in reference}
    settings = {'subset': 'reference/test.eval', 'definition': 'kaggle'}
    path, run = 'reference/reference.2016-10-16.txt', 'submissions/motif_primary.txt'
    condensed = AveragePrecision(path, [10, 100], judged=judged, unjudged='skip', **settings)
    queries = condensed.queries[::90]
    evaluation = condensed.evaluate(run, queries)
    for query, ap in zip(queries, evaluation.ap.tolist(), strict=True):
        listing = AveragePrecision(path, **settings).rank(run, query, 10**6)
        shots = list(zip(*(listing[field] for field in SHOT_FIELDS), strict=True))
        relevant = {row[:3] for row in reference if row[3] == query}
        shots, hits, seen = [shot for shot in shots if shot in judged], [], set()
        for rank, shot in enumerate(shots, 1):
            if shot in relevant - seen:
                hits.append((len(hits) + 1) / rank * (rank <= 100))
                seen.add(shot)
        in_subset = set(read('reference/test.eval', SUBSET).rows())
        n_relevant = sum(shot[:2] in in_subset for shot in relevant)
        assert ap[1] == pytest.approx(sum(hits) / min(n_relevant, 100), abs=WRITTEN)


def test_the_board_of_exported_runs_is_that_of_names(official_data, tmp_path):
    """By tests of queries, as qrels tell no videos."""
    folder = official_data / '2016-pool'
    if not folder.exists():
        pytest.skip('needs the folder 2016-pool: the runs that were pooled')
    reference = official_data / '2016/reference/reference.2016-10-16.txt'
    queries = official_data / '2016/reference/queries.txt'
    of_names = AveragePrecision(
        reference, [1, 10], definition='trec', queries_without_relevant='skip'
    )
    campaign = {path.stem: path for path in sorted((folder / 'submissions').iterdir())}
    exported = {}
    for name, path in campaign.items():
        exported[name] = tmp_path / f'{name}.run'
        of_names.export_trec(path, tmp_path / 'qrels', exported[name], queries, k=10)
    by_names = of_names.report(campaign, queries, cluster='none')
    by_topics = TrecTopics(tmp_path / 'qrels', [1, 10], missing='zero').report(exported)
    assert len(campaign) == 9
    assert by_topics.comparison.leaderboard == by_names.comparison.leaderboard
    assert by_topics.comparison.pairs == by_names.comparison.pairs

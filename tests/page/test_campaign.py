"""What the page of a campaign does: it sorts, filters, draws what is chosen, and shows numbers."""

import csv
import io
import json
import re
from operator import eq, gt, lt
from types import SimpleNamespace

import pytest
from page.browsing import DESK, STATES, State, Visit
from page.pages import HOSTILE_NAMES, HOSTILE_RUN, LINKS, TITLE, column
from page_text import data_of

from mediaeval_ap.errors import printable
from mediaeval_ap.render import figures
from mediaeval_ap.render.page import render_chart

PHONE = next(state for state in STATES if state.name == 'phone-light')


@pytest.fixture
def tab(opened, campaign):
    visit = opened(campaign)
    yield visit.tab
    assert visit.faults == []


@pytest.fixture(scope='session')
def data(campaign):
    """The JSON that the page holds."""
    return data_of(campaign.text)


def value_of(text):
    return float(text.replace(',', '').replace('–', '-inf'))


# Numbers


def test_the_table_of_queries_shows_the_ap_of_the_chosen_cutoff(tab, data):
    table = tab.locator('#per-query')
    for metric, values in data['values'].items():
        tab.locator('#metric').select_option(label=metric)
        names = column(table, 1)
        for place, of_run in enumerate(values):
            shown = dict(zip(names, map(float, column(table, 3 + place)), strict=True))
            expected = dict(zip(map(printable, data['queries']), of_run, strict=True))
            # Half of the last of three decimals.
            assert shown == pytest.approx(expected, abs=0.0005 + 1e-9)


def fixed(value, digits=3):
    return '–' if value is None else f'{value:z.{digits}f}'


def of_interval(interval):
    if interval['low'] is None:
        return f'none: {interval["reason"]}'
    return f'{fixed(interval["low"])} to {fixed(interval["high"])}'


def of_p(p):
    return 'below 0.0001' if p < 0.0001 else fixed(p, 4)


def rows_of(table, which=''):
    """The texts of the cells of the rows, without white space around them."""
    return table.locator(f'tbody tr{which}').evaluate_all(
        '(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))'
    )


def test_the_leaderboard_shows_means_intervals_and_ranks_of_the_data(tab, data):
    for metric in data['metrics']:
        tab.locator('#metric').select_option(label=metric)
        board = tab.locator(f'.board[data-metric="{metric}"] table')
        standings = [row for row in data['comparison']['leaderboard'] if row['metric'] == metric]
        expected = []
        for row in standings:
            low, high = row['rank_interval']
            ranks = str(low) if low == high else f'{low} to {high}'
            expected.append(
                [
                    *(ranks, printable(row['run']), fixed(row['map'])),
                    *(of_interval(row['interval']), fixed(row['map_without_floor'])),
                ]
            )
        assert [row[:4] + row[5:] for row in rows_of(board)] == expected
        for row, shown in zip(standings, alike_of(board), strict=True):
            others = [each for each in standings if each['run'] != row['run']]
            sharing = [each for each in others if set(each['group']) & set(row['group'])]
            assert sorted(shown) == sorted(printable(each['run']) for each in sharing)


def alike_of(board):
    """The names of runs in the column of those that do not differ significantly."""
    cells = board.locator('.alike').all()
    return [cell.locator('bdi').all_text_contents() for cell in cells]


def of_pair(row):
    return [
        *(printable(row['a']), printable(row['b']), fixed(row['difference'])),
        *(of_interval(row['interval']), of_p(row['p']), of_p(row['p_adjusted'])),
        *(*(str(row[name]) for name in ('wins', 'ties', 'losses')), fixed(row['dz'], 2)),
    ]


def test_pairs_and_orders_are_those_of_the_data(tab, data):
    pairs, orders = data['comparison']['pairs'], data['comparison']['orders']
    expected = [of_pair(row) for row in pairs if row['metric'] == data['metrics'][0]]
    assert len(expected) == 6
    assert rows_of(tab.locator('#pairs')) == expected
    taus = [f'none: {each["reason"]}' if each['reason'] else fixed(each['tau']) for each in orders]
    expected = [[each['a'], each['b'], tau] for each, tau in zip(orders, taus, strict=True)]
    assert len(expected) == 3
    assert rows_of(tab.locator('section[aria-labelledby="cutoffs"] table')) == expected


def test_the_loss_is_that_of_the_data_at_each_cutoff(tab, data):
    table = tab.locator('#losses')
    titles = [re.sub(r'\W', '', each.lower().replace(' ', '_')) for each in column_heads(table)]
    losses, leaderboard = data['loss']['metrics'], data['comparison']['leaderboard']
    means = [of_metric for of_run in losses.values() for of_metric in of_run.values()]
    parts = titles[2:]
    assert set(parts) == {part for mean in means for part, value in mean.items() if value}
    for metric in data['metrics']:
        tab.locator('#metric').select_option(label=metric)
        maps = {row['run']: row['map'] for row in leaderboard if row['metric'] == metric}
        assert rows_of(table) == [
            [run, *map(fixed, [maps[run], *(losses[run][metric][part] for part in parts)])]
            for run in data['runs']
        ]
        assert column_heads(table)[1].startswith(metric)
        drawn = tab.locator('[data-figure="loss"] .mark-rect path')
        n_bars = sum(map(bool, (losses[run][metric][part] for run in losses for part in parts)))
        drawn.nth(n_bars - 1).wait_for(state='attached')
        assert drawn.count() == n_bars


def column_heads(table):
    return table.locator('thead th').all_text_contents()


CLASSES = {
    '0': lambda ap: ap == 0,
    'above 0 to ¼': lambda ap: 0 < ap <= 0.25,
    'to ½': lambda ap: 0.25 < ap <= 0.5,
    'to ¾': lambda ap: 0.5 < ap <= 0.75,
    'below 1': lambda ap: 0.75 < ap < 1,
    '1': lambda ap: ap == 1,
    'above 1': lambda ap: ap > 1,
}


def test_the_distribution_counts_every_query_at_each_cutoff(tab, data):
    """The last cutoff has a class that the first lacks, as shots may count again."""
    largest = {metric: max(map(max, data['values'][metric])) for metric in data['metrics']}
    assert largest['MAP@1'] == 1 < largest['MAP@100']
    table = tab.locator('#bins')
    assert table.locator('thead th').all_text_contents() == ['Run', *CLASSES]
    for metric in [*data['metrics'], *data['metrics'][::-1]]:
        tab.locator('#metric').select_option(label=metric)
        shown = rows_of(table)
        assert shown == [
            [printable(run), *(str(sum(map(holds, values))) for holds in CLASSES.values())]
            for run, values in zip(data['runs'], data['values'][metric], strict=True)
        ]
        assert {sum(map(int, row[1:])) for row in shown} == {len(data['queries'])}


def ask(tab, query):
    """Choose a query by its name."""
    tab.locator('#query-choice').fill(printable(query))
    tab.keyboard.press('Enter')


def test_the_values_of_the_chosen_query_are_those_of_the_data(tab, data):
    for query in ('bit_cleix', 'nobody_of_the_reference', 'constructor'):
        place = data['queries'].index(query)
        ask(tab, query)
        assert rows_of(tab.locator('#query-values')) == [
            [
                printable(run),
                *(fixed(data['values'][name][number][place]) for name in data['metrics']),
            ]
            for number, run in enumerate(data['runs'])
        ]


def test_confused_names_of_each_run_are_those_of_the_data(tab, data):
    """A run has the name of something that every object of JavaScript has."""
    assert 'constructor' in data['runs']
    table = tab.locator('#confusions')
    for run in [None, *data['runs']]:
        tab.locator('#confused-run').select_option(label=printable(run or 'all runs'))
        expected = []
        for row in data['confused']:
            counts = row['counts']
            shots = counts.get(run, 0) if run else sum(counts.values())
            if shots:
                cells = (row['kind'], fixed(row['distance']), str(shots), str(len(counts)))
                expected.append([printable(row['query']), *cells])
        shown = rows_of(table, ':not([data-out])')
        assert [[query, *rest] for query, _, *rest in shown] == expected
        assert 'function' not in str(shown)


# Text


def test_hostile_names_are_text(tab, campaign):
    """They are in the page as they are, escaped where a terminal would obey them."""
    assert tab.locator('#per-query script, #per-query img, #per-query b').count() == 0
    names = column(tab.locator('#per-query'), 1)
    assert set(map(printable, HOSTILE_NAMES)) <= set(names)
    assert printable(HOSTILE_RUN) in tab.locator('#leaderboard .board').first.inner_text()


def test_title_links_and_introduction_stand_above_the_board(tab, data):
    assert tab.title() == tab.locator('h1').inner_text() == data['title'] == TITLE
    head = tab.locator('.masthead')
    prose = tab.locator('.prose:has(+ #leaderboard)')
    links = {
        'Overview': 'https://example.org/a?b=1&c=2',
        'mailto:task@example.org': 'mailto:task@example.org',
        'picture': 'https://example.org/x.png',  # a link to it, as no picture is loaded
        'quotes': 'https://example.org/%22onclick=%22alert(9)',
        **LINKS,
    }
    href = '(all) => all.map((a) => [a.textContent, a.href])'
    found = [*head.locator('a').evaluate_all(href), *prose.locator('a').evaluate_all(href)]
    assert dict(found) == links
    assert head.locator('a').all_inner_texts() == [*LINKS]
    kinds = '(all) => [...new Set(all.map((each) => each.localName))].sort()'
    tags = 'a code em h2 h3 p pre table tbody td th thead tr'
    assert prose.locator('*').evaluate_all(kinds) == tags.split()
    names = '(all) => [...new Set(all.flatMap((each) => each.getAttributeNames()))]'
    assert set(prose.locator('*').evaluate_all(names)) <= {'href', 'title', 'class'}
    headings = prose.locator(':is(h1, h2, h3)').evaluate_all('(all) => all.map((h) => h.localName)')
    assert headings == ['h2', 'h3']
    compared = f'{len(data["runs"])} runs, {len(data["queries"])} queries'
    assert {compared, 'reference.txt', 'all videos'} <= {*head.locator('dd').all_inner_texts()}


def test_no_character_turns_text_around_or_hides_it(tab):
    texts = tab.evaluate("""() => {
      const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
      const found = [];
      while (walker.nextNode()) {
        const { parentElement, data } = walker.currentNode;
        const isShown = !['SCRIPT', 'STYLE'].includes(parentElement.tagName);
        if (isShown && /[\\p{Cf}\\u2028\\u2029]/u.test(data)) {
          found.push(`${parentElement.localName}: ${data.slice(0, 80)}`);
        }
      }
      return found;
    }""")
    assert texts == []


def test_every_remark_is_at_the_foot_with_its_runs_and_queries(tab, data):
    expected, before = [], None
    for remark in data['remarks']:
        runs = remark['runs']
        named = 'all runs' if runs == data['runs'] else ', '.join(map(printable, runs))
        counts = '–' if remark['queries'] is None else f'{remark["queries"]} of {remark["of"]}'
        what = [] if remark['what'] == before else [printable(remark['what'])]
        expected.append([*what, named, counts])
        before = remark['what']
    assert rows_of(tab.locator('footer #remarks')) == expected
    assert len({row[-2] for row in expected}) > 1


def test_caveats_stand_under_the_board(tab, data):
    caveats = data['lead']['caveats']
    assert tab.locator('.board ~ * .caveats li').all_inner_texts() == list(map(printable, caveats))
    assert len(caveats) == 2  # an AP above 1, and the floor


@pytest.mark.parametrize('width', [DESK, PHONE.width])
@pytest.mark.parametrize('page', ['campaign', 'scores'])
def test_the_board_is_above_the_fold(opened, request, page, width):
    """Of a page without an introduction, which stands above it."""
    tab = opened(request.getfixturevalue(page), State('fold', width)).tab
    row = tab.locator('.board tbody tr').nth(2).bounding_box()
    assert row['y'] + row['height'] - tab.locator('.prose').bounding_box()['height'] <= 800


# Tables


def is_number(text):
    return re.fullmatch('[-–0-9.,]+', text)


def is_plain(text):
    """Return True for text that every alphabet sorts alike."""
    return text.isascii() and re.fullmatch('[a-z][^A-Z]*', text)


def test_every_table_sorts_by_each_of_its_columns(opened, campaign):
    visit = opened(campaign)
    visit.open_details()
    for table in visit.tab.locator('table.sortable').filter(visible=True).all():
        for place, head in enumerate(table.locator('thead th').all(), 1):
            if head.get_attribute('data-sort') is None:
                continue
            directions = []
            for _ in range(2):
                head.locator('button').click()
                directions.append(head.get_attribute('aria-sort'))
                assert table.locator('[aria-sort$=ending]').count() == 1
                values = column(table, place)
                if all(map(is_number, values)):
                    values = list(map(value_of, values))
                else:
                    values = list(filter(is_plain, values))
                assert values == sorted(values, reverse=directions[-1] == 'descending')
            assert sorted(directions) == ['ascending', 'descending']
    assert visit.faults == []


def test_a_leaderboard_begins_by_its_mean_and_turns_around_by_rank(tab, data):
    """Runs that share a rank change places, too."""
    board = tab.locator('.board:not([hidden]) table')
    heads = board.locator('thead th')
    sorted_heads = board.locator('th[aria-sort$=ending]')
    assert sorted_heads.all_inner_texts() == [data['metrics'][0]]
    assert sorted_heads.get_attribute('aria-sort') == 'descending'
    ranks = column(board, 1)
    assert len(set(ranks)) < len(ranks)
    orders = []
    for direction in ('ascending', 'descending', 'ascending'):
        heads.first.locator('button').click()
        assert heads.first.get_attribute('aria-sort') == direction
        orders.append(column(board, 2))
    assert orders[0] == orders[1][::-1] == orders[2]


def test_a_filter_keeps_the_rows_that_hold_its_text(tab, campaign):
    """Case, accents and spaces do not count."""
    table = tab.locator('#per-query')
    box = tab.get_by_label('Show queries with')
    box.fill('BIT_')
    assert sorted(column(table, 1)) == sorted(each for each in campaign.queries if 'bit_' in each)
    for text, query in ('<script>', HOSTILE_NAMES[0]), ('  Alain JUPPÉ', 'alain_juppe'):
        box.fill(text)
        assert column(table, 1) == [query]
    box.fill('')
    assert len(column(table, 1)) == len(campaign.queries)


def test_confused_names_are_filtered_and_counted_by_run(tab, data):
    run = 'misspelt.txt'
    tab.locator('#confused-run').select_option(label=run)
    tab.get_by_label('Show names with').fill('bit_')
    of_run = [row for row in data['confused'] if row['counts'].get(run)]
    found = [row for row in of_run if 'bit_' in row['query'] + row['name']]
    assert 0 < len(found) < len(of_run) < len(data['confused'])
    output = tab.locator('output[for="confusions-filter"]')
    assert output.inner_text() == f'{len(found)} rows of {len(of_run)}'
    visible = tab.locator('#confusions tbody tr').filter(visible=True)
    assert visible.count() == len(found)
    tab.get_by_label('Show names with').fill('no such name')
    assert (output.inner_text(), visible.count()) == ('nothing matches', 0)


def test_every_header_that_sorts_shows_how(opened, campaign):
    visit = opened(campaign)
    visit.open_details()
    tab = visit.tab
    heads = tab.locator('th[data-sort]')
    tab.locator('#losses th button').first.click()
    states = [each.get_attribute('aria-sort') for each in heads.all()]
    assert set(states) == {'none', 'ascending', 'descending'}
    marks = heads.locator('button').evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each, '::after').content)"
    )
    signs = {'none': '"\xa0↕"', 'ascending': '"\xa0↑"', 'descending': '"\xa0↓"'}
    assert marks == [signs[each] for each in states]
    assert visit.faults == []


def test_a_table_stays_sorted_at_another_cutoff(tab):
    table = tab.locator('#per-query')
    table.locator('thead button').nth(2).click()
    for metric in ('MAP@1', 'MAP@100'):
        tab.locator('#metric').select_option(label=metric)
        values = list(map(float, column(table, 3)))
        assert values == sorted(values, reverse=True)


def test_numbers_have_three_decimals_and_no_sign_of_zero(tab):
    halves = [0.0625, 0.1875, 0.3125, -0.4375, -0.0001, 0.0005, 1]
    shown = tab.evaluate('(all) => all.map((each) => Page.fixed(each))', halves)
    assert shown == list(map(fixed, halves))


def test_each_table_is_saved_as_csv_from_the_data(opened, campaign, data):
    visit = opened(campaign)
    visit.open_details()
    tab = visit.tab
    tab.locator('#metric').select_option(label='MAP@1')
    ask(tab, 'bit_cleix')
    saved = {}
    for table in tab.locator('table:not(.prose table)').all():
        if table.is_visible():
            if len(saved) == 9:  # Chromium drops the eleventh of a burst, without a second between
                tab.wait_for_timeout(1500)
            with tab.expect_download() as download:
                (table.locator('xpath=..') if table.get_attribute('role') else table).locator(
                    '.csv'
                ).click()
            name = download.value.suggested_filename.removesuffix('.csv')
            text = download.value.path().read_bytes().decode()
            assert text.count('\n') == text.count('\r\n')
            saved[name] = list(csv.reader(io.StringIO(text, newline='')))
    ids = 'bins confusions inputs losses orders pairs per-query points query-values ranking remarks'
    assert sorted(saved) == sorted(['leaderboard', *ids.split()])
    runs, queries, values = data['runs'], data['queries'], data['values']['MAP@1']
    head, *rows = saved['per-query']
    assert head == ['query', 'R', *runs]
    assert [row[0].lstrip("'") for row in rows] == [each.lstrip("'") for each in queries]
    assert [list(map(float, row[2:])) for row in rows] == list(map(list, zip(*values, strict=True)))
    head, *rows = saved['leaderboard']
    standings = [row for row in data['comparison']['leaderboard'] if row['metric'] == 'MAP@1']
    for row, standing in zip(rows, standings, strict=True):
        found = dict(zip(head, row, strict=True))
        assert float(found['map']) == standing['map']
        assert found['interval_low'] == json.dumps(standing['interval']['low'])
    head, *rows = saved['losses']
    parts = data['loss']['metrics'][runs[0]]['MAP@1']
    assert list(map(float, rows[0][2:])) == [parts[each] for each in head[2:]]
    inputs = [each['sha256'] or '' for each in data['manifest']['inputs']]
    assert [sha256 for *_, sha256 in saved['inputs'][1:]] == inputs
    assert len(saved['ranking']) == tab.locator('#ranking tbody tr').count() + 1
    assert len(saved['confusions']) == len(data['confused']) + 1


def test_a_field_of_csv_is_no_formula(tab):
    fields = {
        **{f'{sign}1+1': f"'{sign}1+1" for sign in '=+-@＝\t'},
        '\n=1': '"\'\n=1"',
        '=1,"x"': '"\'=1,""x"""',
        None: '',
        **{each: each for each in ('a=1', "it's", 'zoë')},
        **{number: json.dumps(number) for number in (-0.5, 0.1 + 0.2, 3)},
    }
    shown = tab.evaluate('(all) => all.map((each) => Page.field(each))', [*fields])
    assert shown == [*fields.values()]


def test_a_hash_is_short_and_copied_whole(browser, campaign, data):
    with Visit(browser, permissions=['clipboard-read', 'clipboard-write']) as visit:
        tab = visit.open(campaign.url)
        visit.open_details()
        cells = tab.locator('#inputs .hash')
        hashes = [each['sha256'] for each in data['manifest']['inputs']]
        titles = [each.get_attribute('title') for each in cells.locator('span').all()]
        assert titles == [each for each in hashes if each]
        cells.first.locator('button').click()
        cells.first.get_by_text('Copied').wait_for()
        assert tab.evaluate('navigator.clipboard.readText()') == hashes[0]
        assert cells.first.locator('span').inner_text() == f'{hashes[0][:12]}…'
        tab.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
        cells.last.locator('button').click()  # as on a page without https
        cells.last.get_by_text(hashes[-1]).wait_for()
        assert visit.faults == []


# Choices and figures


def test_the_two_chosen_runs_are_drawn_and_counted(tab, data):
    first, second = tab.locator('#run-a'), tab.locator('#run-b')
    values = data['values'][data['metrics'][0]]
    for a, b in ((0, 1), (2, 1), (0, 2)):
        first.select_option(value=str(a))
        second.select_option(value=str(b))
        pairs = list(zip(values[a], values[b], strict=True))
        summary = tab.locator('#two-runs-summary').inner_text()
        compared = [sum(map(each, values[a], values[b])) for each in (gt, lt, eq)]
        assert [int(each) for each in re.findall(r'\b(\d+) quer', summary)] == compared
        queries_at = {pair: [] for pair in pairs}
        for query, pair in zip(data['queries'], pairs, strict=True):
            queries_at[pair].append(printable(query))
        named = [
            found[0] if len(found) == 1 else f'{len(found)} queries'
            for found in queries_at.values()
        ]
        assert sorted(column(tab.locator('#points'), 4)) == sorted(named)


def test_the_axes_of_two_runs_end_at_the_largest_value_of_the_cutoff(tab, data):
    """Where shots count again, an AP can be above 1; at cutoff 1 none can."""
    largest = {metric: max(map(max, data['values'][metric])) for metric in data['metrics']}
    for metric in ('MAP@1', 'MAP@100', 'MAP@1'):
        tab.locator('#metric').select_option(label=metric)
        name = metric.replace('MAP', 'AP')
        figure = tab.locator('[data-figure="scatter"]')
        figure.get_by_text(f'{name} of ').first.wait_for()
        labels = figure.locator('.role-axis-label text').all_text_contents()
        ends = max(map(float, filter(None, labels)))
        assert largest[metric] - 0.5 <= ends <= largest[metric]
    assert largest['MAP@1'] == 1 < largest['MAP@100']


def symbols(tab, figure):
    return tab.locator(f'[data-figure="{figure}"] .mark-symbol path')


def test_a_click_in_the_figure_lists_its_queries(tab):
    mark = symbols(tab, 'scatter').last
    mark.scroll_into_view_if_needed()
    mark.click(force=True)
    heading = tab.locator('#coinciding h3').inner_text()
    assert tab.locator('#coinciding li').count() == int(re.match(r'\d+', heading)[0])


@pytest.mark.parametrize(
    'figure', ['loss', 'map_by_k', 'scatter', 'distribution', 'precision_recall']
)
def test_a_mark_shows_a_tooltip(tab, figure, campaign):
    place = tab.locator(f'[data-figure="{figure}"]')
    place.scroll_into_view_if_needed()
    place.locator('.mark-symbol path, .mark-rect path').first.hover(force=True)
    tip = tab.locator('#vg-tooltip-element.visible')
    tip.wait_for()
    assert tip.inner_text().strip()
    if figure == 'scatter':
        assert any(printable(query) in tip.inner_text() for query in campaign.queries)


def test_the_chosen_query_shows_its_ranking(tab, data, campaign):
    query = 'nicolas_sarkozy'
    run = data['runs'][1]
    ask(tab, query)
    tab.locator('#run-choice').select_option(label=printable(run))
    shown = tab.locator('#ranking tbody tr')
    ranking = campaign.average_precision.rank(campaign.runs[run], query, shown.count())
    table = tab.locator('#ranking')
    assert column(table, 1) == [str(rank) for rank in ranking['rank']]
    assert column(table, 2) == ['yes' if each else 'no' for each in ranking['relevant']]
    assert column(table, 3) == [printable(each) for each in ranking['person_name']]
    assert column(table, 4) == [f'{each:.3f}' for each in ranking['distance']]
    assert list(map(float, column(table, 5))) == list(ranking['confidence'])
    assert column(table, 6) == [
        ' '.join(each) for each in ranking[['corpus_id', 'video_id', 'shot_id']].values
    ]


def test_a_repeat_is_counted_as_one_and_adds_no_recall(tab):
    """The run returns two relevant shots four times each, and the third under another name."""
    ask(tab, '<!--')
    for select in ('#run-choice', '#other-choice'):
        tab.locator(select).select_option(label='constructor')
    expected = '<!--: 3 relevant shots. constructor: 9 hits, 6 of them repeats.'
    assert tab.locator('#query-summary').inner_text() == expected
    marks = symbols(tab, 'precision_recall')
    marks.nth(8).wait_for(state='attached')
    assert marks.count() == 9
    labels = [mark.get_attribute('aria-label') for mark in marks.all()]
    recalls = [float(re.search(r'recall: ([\d.]+)', label)[1]) for label in labels]
    assert recalls == pytest.approx([1 / 3] + [2 / 3] * 7 + [1])
    ends = tab.locator('[data-figure="precision_recall"] .role-axis-label text')
    assert max(map(float, ends.all_text_contents())) == 1


def test_a_line_is_seen_below_an_equal_one(tab):
    """Both runs return the same two shots first."""
    ask(tab, '<!--')
    tab.locator('#run-choice').select_option(label='sample.txt')
    tab.locator('#other-choice').select_option(label='constructor')
    figure = tab.locator('[data-figure="precision_recall"]')
    figure.locator('.mark-line path').nth(1).wait_for(state='attached')
    dashes = figure.locator('.mark-line path').evaluate_all(
        '(all) => all.map((path) => getComputedStyle(path).strokeDasharray)'
    )
    assert dashes == ['1px, 0px', '4px, 4px']  # from below
    legend = figure.locator('.legend li').evaluate_all(
        """(all) => all.map((item) => [item.textContent,
          item.querySelector('line').getAttribute('stroke-dasharray')])"""
    )
    assert dict(legend) == {'sample.txt': '', 'constructor': '4 4'}


def test_the_saved_data_are_those_of_the_page(tab, data):
    with tab.expect_download() as download:
        tab.locator('#download').click()
    assert json.loads(download.value.path().read_text(encoding='utf-8')) == data


# Addresses


CHOICES = {
    '#metric': '1',  # MAP@1; the first is what claims are about
    '#run-a': '2',
    '#run-b': '3',
    '#run-choice': '1',
    '#other-choice': '2',
    '#confused-run': '2',
}


def choices(tab):
    return {each: tab.locator(each).input_value() for each in [*CHOICES, '#query-choice']}


def seen(tab):
    """The controls, and the tables that follow from them."""
    tables = ['#losses', '#points', '#bins', '#query-values', '#ranking', '#confusions']
    return choices(tab), [rows_of(tab.locator(each)) for each in tables]


@pytest.mark.parametrize('name', ['bit_cleix', HOSTILE_NAMES[0], '__proto__', HOSTILE_NAMES[-1]])
def test_an_address_opens_what_was_chosen(opened, campaign, name):
    tab = opened(campaign).tab
    for select, value in CHOICES.items():
        tab.locator(select).select_option(value=value)
    ask(tab, name)
    assert choices(tab) == {**CHOICES, '#query-choice': printable(name)}
    expected = seen(tab)
    copied = opened(SimpleNamespace(url=tab.url)).tab
    assert copied.url == tab.url
    assert seen(copied) == expected


def test_back_and_forward_show_what_was_chosen(tab):
    states = [(tab.url, seen(tab))]
    for select, value in CHOICES.items():
        tab.locator(select).select_option(value=value)
        states.append((tab.url, seen(tab)))
    tab.locator('nav a[href="#confused"]').click()
    assert tab.url.partition('#')[2].startswith('confused?cutoff=1&')
    assert seen(tab) == states[-1][1]
    for url, before in states[::-1]:
        tab.go_back()
        assert seen(tab) == before
        assert tab.url.partition('#')[2] == url.partition('#')[2]
    tab.go_forward()
    assert seen(tab) == states[1][1]


SECTIONS = ['two-runs', 'query', 'queries', 'query?cutoff=1&run=nobody']


@pytest.mark.parametrize('state', [STATES[0], PHONE], ids=lambda state: state.name)
@pytest.mark.parametrize(
    ('page', 'section'),
    [*(('campaign', each) for each in SECTIONS), ('official', 'queries')],  # many rows above it
)
def test_an_address_lands_at_its_section(opened, request, page, state, section):
    url = f'{request.getfixturevalue(page).url}#{section}'
    tab = opened(SimpleNamespace(url=url), state).tab
    place = section.partition('?')[0]
    top = f"""() => Math.abs(document.getElementById('{place}').getBoundingClientRect().top
      - parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)) < 2"""
    tab.wait_for_function(top, timeout=5000)
    tab.wait_for_timeout(300)
    assert tab.evaluate(top)


def test_an_unknown_choice_of_an_address_is_left_out(tab, opened, campaign):
    url = f'{campaign.url}#query?query=never+asked&cutoff=7&run=%00&a=&constructor=x'
    assert seen(opened(SimpleNamespace(url=url)).tab) == seen(tab)


def test_a_query_is_found_by_a_part_of_its_name(tab):
    box = tab.locator('#query-choice')
    for text, expected in {'CLEIX': 'bit_cleix', 'Nicolas-Sarkozý': 'nicolas_sarkozy'}.items():
        ask(tab, text)
        assert box.input_value() == expected
        assert tab.locator('#query-summary').inner_text().startswith(f'{expected}: ')
    ask(tab, 'no such name')
    assert tab.locator('output[for="query-choice"]').inner_text() == 'nothing matches'
    assert tab.locator('#query-summary').inner_text().startswith('nicolas_sarkozy: ')
    box.fill('bit-CLÉ')  # a browser suggests an option whose value or label holds the text
    options = tab.locator('#query-names option').evaluate_all(
        '(all) => all.map((option) => [option.value, option.label])'
    )
    assert options == [['bit_cleix', 'bit-CLÉ']]


# Widths, phones and paper


@pytest.mark.parametrize('state', [STATES[0], PHONE], ids=lambda state: state.name)
def test_sticky_heads_of_tables_stay_below_the_links(opened, campaign, state):
    tab = opened(campaign, state).tab
    tab.set_viewport_size({'width': state.width, 'height': 400})
    box = tab.locator('.scrolls:has(> #per-query)')
    box.evaluate('(box) => { box.scrollTo(9999, 9999); box.scrollIntoView(); scrollBy(0, 100); }')
    tab.wait_for_timeout(300)
    on_top = """() => [...document.querySelectorAll('.sections, .sections a')].filter((each) => {
      const { left, top, width, height } = each.getBoundingClientRect();
      const x = left + width / 2;
      const seen = document.elementFromPoint(x, top + height / 2);
      return x < innerWidth && !seen.closest('.sections');
    }).length"""
    assert tab.evaluate(on_top) == 0
    assert tab.locator('.sections').bounding_box()['y'] == 0


@pytest.mark.parametrize('width', [DESK, 768, PHONE.width])
def test_names_of_runs_stay_in_sight_where_all_queries_are_shown(opened, campaign, width):
    """A box that does not scroll would catch the sticky row of heads."""
    tab = opened(campaign, State('all queries', width)).tab
    tab.set_viewport_size({'width': width, 'height': 600})
    tab.locator('.all:has(+ .scrolls > #per-query) input').check()
    last_row = tab.locator('#per-query tbody tr').last
    last_row.evaluate("(row) => row.scrollIntoView({ block: 'end' })")
    head = tab.locator('#per-query thead th').last.bounding_box()
    bar = tab.locator('.sections').bounding_box()
    assert bar['y'] + bar['height'] - 1 <= head['y']
    assert head['y'] + head['height'] <= last_row.bounding_box()['y']


def test_a_row_keeps_its_colours_below_the_pointer(tab):
    row = tab.locator('#per-query tbody tr', has=tab.locator('.q9')).first
    styles = """(row) => ['Color', 'Image'].map((name) => [...row.cells].map((cell) =>
      getComputedStyle(cell)[`background${name}`]))"""
    colours, images = row.evaluate(styles)
    row.hover()
    assert row.evaluate(styles)[0] == colours
    assert row.evaluate(styles)[1] != images


def test_labels_of_image_files_stay_inside(browser):
    """Widths are measured in one font, and drawn in another where that is not installed."""
    names = ['hcmus-uit-uiuc_primary', 'nathanael_de_rincquesen as dominique_perrault']
    chart = figures.leaderboard(names, [0.5, 0.4], [0.4, 0.3], [0.6, 0.5])
    with Visit(browser) as visit:
        visit.tab.set_content(render_chart(chart, 'svg'))
        faults = visit.bad_labels()  # of contrast, too: these have no page behind them
        assert [fault for fault in faults if 'leaves the figure' in fault] == []


LINES = """(all) => all.flatMap((each) => {
  const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
  const lines = [];
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    lines.push([walker.currentNode.data, range.getClientRects().length]);
  }
  return lines;
})"""


@pytest.mark.parametrize('width', [768, 641, PHONE.width])
def test_names_are_folded_between_their_parts_only(opened, campaign, width):
    tab = opened(campaign, State('narrow', width)).tab
    names = tab.locator('.board tbody th, .alike bdi, #query-values tbody th')
    broken = [text for text, n_lines in names.evaluate_all(LINES) if n_lines > 1]
    assert [text for text in broken if ' ' not in text] == []
    heads = tab.locator('.turned').evaluate_all(LINES)
    assert [text for text, n_lines in heads if n_lines > 1] == []


def test_a_box_fades_where_it_goes_on_below(tab):
    box = tab.locator('.scrolls:has(> #per-query)')
    assert 'goes-down' in box.get_attribute('class')
    box.evaluate('(box) => box.scrollTo(0, box.scrollHeight)')
    tab.wait_for_function("!document.querySelector('.scrolls:has(> #per-query).goes-down')")


@pytest.mark.parametrize('page', ['campaign', 'scores'])
def test_a_page_is_loaded_once_its_figures_are_drawn(browser, request, page):
    """A browser without a window prints a page as soon as it is loaded."""
    with Visit(browser) as visit:
        count = "document.querySelectorAll('.canvas > svg').length"
        visit.tab.add_init_script(f"addEventListener('load', () => {{ window.drawn = {count}; }})")
        visit.tab.goto(request.getfixturevalue(page).url)
        n_figures = visit.tab.locator('[data-figure]').count()
        assert visit.tab.evaluate('window.drawn') == n_figures > 0


def test_on_a_phone_a_ranking_is_stacked_and_long_tables_show_all_on_demand(opened, campaign):
    tab = opened(campaign, PHONE).tab
    assert tab.evaluate('document.documentElement.scrollHeight') <= 9000
    cells = tab.locator('#ranking tbody tr').first.locator('td')
    assert cells.count() == 6
    for cell in cells.all():
        box = cell.bounding_box()
        assert box['width'] > 0
        assert 0 <= box['x'] <= box['x'] + box['width'] <= PHONE.width
    rows = tab.locator('#per-query tbody tr')
    assert rows.filter(visible=True).count() == 5 < rows.count()
    tab.get_by_label('Show all', exact=False).last.check()
    assert rows.filter(visible=True).count() == rows.count()


def test_the_page_is_printed_on_a_few_sheets_with_heads_of_tables(opened, campaign):
    tab = opened(campaign).tab
    tab.emulate_media(media='print')
    sheets = tab.pdf(prefer_css_page_size=True)
    assert 1 <= sheets.count(b'/Type /Page\n') <= 12
    heads = tab.locator('thead').evaluate_all(
        '(all) => all.map((e) => getComputedStyle(e).display)'
    )
    assert set(heads) == {'table-header-group'}


# Keyboard


def test_a_ranking_opens_and_closes_by_keyboard(tab):
    row = tab.locator('#per-query tbody tr').nth(3)
    query = row.locator('th').inner_text()
    row.locator('button').focus()
    tab.keyboard.press('Enter')
    assert tab.evaluate('document.activeElement.id') == 'query'
    assert tab.locator('#query-choice').input_value() == query
    back = tab.locator('#back button')
    back.focus()
    tab.keyboard.press('Enter')
    assert tab.evaluate('document.activeElement.textContent') == query


def test_the_tab_key_stops_once_at_a_list_and_arrows_move_in_it(tab):
    buttons = tab.locator('#points tbody button')
    headings = []
    buttons.first.focus()
    for _ in range(2):
        headings.append(tab.locator('#coinciding h3').inner_text())
        tab.keyboard.press('ArrowDown')
    assert tab.evaluate('document.activeElement.textContent') == buttons.nth(2).inner_text()
    assert headings[0] != headings[1]
    tab.keyboard.press('ArrowUp')
    tab.keyboard.press('Tab')
    assert tab.evaluate("document.activeElement.closest('#points')") is None
    tab.get_by_label('Show queries with').fill('bit_')
    stop = tab.locator('#per-query tbody button[tabindex="0"]')
    assert stop.count() == 1
    assert stop.is_visible()


FOCUSABLE = 'a[href], button:not([tabindex="-1"]), input, select, summary, [tabindex="0"]'
MARK_FOCUSABLE = f"""() => {{
  const all = [...document.querySelectorAll('{FOCUSABLE}')]
    .filter((each) => each.checkVisibility({{ visibilityProperty: true }}) && !each.disabled);
  all.forEach((each, index) => {{ each.dataset.order = index; }});
  return all.length;
}}"""
LOOK_AT_FOCUS = """() => {
  const each = document.activeElement;
  if (each === document.body) return null;
  const box = each.getBoundingClientRect();
  const inside = (value, length) => Math.min(Math.max(value, 1), length - 1);
  const [x, y] = [box.left + box.width / 2, box.top + Math.min(box.height / 2, 12)];
  const at = document.elementFromPoint(inside(x, innerWidth), inside(y, innerHeight));
  const before = window.focusedBefore;
  window.focusedBefore = each;
  const faults = [];
  const { outlineStyle, outlineWidth } = getComputedStyle(each);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 1) faults.push('no outline');
  if (!each.contains(at) && !at?.contains(each)) faults.push('covered');
  const follows = Node.DOCUMENT_POSITION_FOLLOWING;
  if (before?.isConnected && !(before.compareDocumentPosition(each) & follows)) {
    faults.push('out of order');
  }
  const name = each.textContent.trim().slice(0, 40) || each.id;
  return [each.dataset.order, faults.map((fault) => `${each.localName} ${name}: ${fault}`)];
}"""


@pytest.mark.parametrize('state', [STATES[0], PHONE], ids=lambda state: state.name)
def test_tab_reaches_everything_in_order_and_shows_where_it_is(opened, campaign, state):
    """Elements that only appear when another has the focus are reached, too."""
    tab = opened(campaign, state).tab
    expected = set(map(str, range(tab.evaluate(MARK_FOCUSABLE))))
    reached, faults = set(), []
    for _ in range(5 * len(expected)):
        tab.keyboard.press('Tab')
        looked = tab.evaluate(LOOK_AT_FOCUS)
        if looked is None:  # behind the last one
            break
        reached.add(looked[0])
        faults += looked[1]
    assert looked is None
    assert expected <= reached
    assert faults == []


# Without


def test_without_javascript_the_lead_and_the_leaderboard_are_there(browser, campaign, data):
    with Visit(browser, java_script_enabled=False) as visit:
        visit.tab.goto(campaign.url)
        assert visit.tab.locator('h2.headline').inner_text() == data['lead']['headline']
        board = visit.tab.locator('.board table').first
        assert board.is_visible()
        assert board.locator('tbody tr').count() == len(data['runs'])
        scripted = 'select, input:not([type="checkbox"])'  # "show all" needs no script
        assert visit.tab.locator(scripted).filter(visible=True).count() == 0


def test_a_page_of_topics_shows_no_names(opened, topics):
    """Nor their distances; the ranking is that of the topic."""
    tab = opened(topics).tab
    assert tab.locator('#confused').count() == 0
    table = tab.locator('#ranking')
    shown = [each.inner_text() for each in table.locator('th').all() if each.is_visible()]
    assert shown == ['Rank', 'Relevant', 'Confidence', 'Shot']
    query = tab.locator('#query-choice').input_value()
    run = tab.locator('#run-choice option:checked').inner_text()
    top = topics.average_precision.rank(topics.runs[run], query)
    assert column(table, 6) == list(map(printable, top['docno']))

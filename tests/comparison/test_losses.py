"""Score tables of losses: with the sign turned, all is as it is where more is better."""

import json

import numpy as np
import pandas
import pytest
from compared_runs import evaluation, several
from schemas import follow_schema

from mediaeval_ap import compare
from mediaeval_ap.errors import DataWarning, ParameterError

ITEMS = [f'i{place:02}' for place in range(60)]
SHIFTS = {'a': 0, 'b': 0.006, 'c': -0.02, 'd': 0.05, 'e': 0.0}


def table(shifts=SHIFTS):
    """Losses of systems on 60 items, half of which are multiples of a tenth: there are ties."""
    random = np.random.default_rng(11)  # fixed: any values would do
    base = random.uniform(0.1, 0.4, len(ITEMS))
    frame = pandas.DataFrame({'item': ITEMS})
    for system, shift in shifts.items():
        values = base + shift + random.normal(0, 0.02, len(ITEMS))
        values[::2] = values[::2].round(1)
        frame[system] = values
    return frame


def with_groups(frame):
    return frame.assign(cluster=[f'c{place // 2}' for place in range(60)])


def with_seeds(frame):
    again = frame.assign(**{system: frame[system] + 0.01 for system in 'ab'})
    again['c'] = frame['c'].round(2)
    return pandas.concat([frame.assign(seed='1'), again.assign(seed='2')])


def with_holes(frame):
    frame.loc[[3, 8], ['a', 'd']] = None
    return frame


CASES = {
    'plain': ({}, None),
    'baseline': ({'baseline': 'a'}, None),
    'limit of 0': ({'baseline': 'a', 'fail_if_worse': 0}, None),
    'a limit': ({'baseline': 'a', 'fail_if_worse': 0.01, 'power': 0.02}, None),
    'not worse': ({'baseline': 'a', 'require_not_worse': 0.01, 'power': 0.01}, None),
    'better': ({'baseline': 'a', 'require_better': True, 'fail_if_worse': 0.04}, None),
    'macro': ({'macro': 'cluster', 'cluster': 'none', 'baseline': 'a'}, with_groups),
    'clusters': ({'by': 'cluster', 'baseline': 'b', 'fail_if_worse': 0.01}, with_groups),
    'seeds': ({'baseline': 'b', 'require_not_worse': 0.01, 'power': 0.01}, with_seeds),
    'skipped': ({'missing': 'skip', 'power': 0.1}, with_holes),
}
SIGNED = ('map', 'difference', 'dz')


def turned(value):
    """The same rows with means, differences and intervals times -1."""
    if isinstance(value, list):
        return [turned(one) for one in value]
    if not isinstance(value, dict):
        return value
    if {'low', 'high'} <= value.keys() and value['low'] is not None:
        return {**value, 'low': -value['high'], 'high': -value['low']}
    return {
        name: -one if name in SIGNED and one is not None else turned(one)
        for name, one in value.items()
    }


def flat(value, path=''):
    """Each leaf of a structure by its path; numbers to be compared are floats."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            key: leaf for name, one in pairs for key, leaf in flat(one, f'{path}/{name}').items()
        }
    return {path: value}


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')  # few clusters
@pytest.mark.parametrize('case', CASES)
def test_losses_are_compared_as_their_negatives(case):
    """Order, ranks, letters, p, wins, intervals, verdicts, powers and gate, in all tables."""
    settings, change = CASES[case]
    frame = table() if change is None else change(table())
    losses = compare(frame, range=(0, 1), lower_is_better=True, **settings)
    negative = frame.assign(**{system: -frame[system] for system in SHIFTS})
    gains = compare(negative, range=(-1, 0), **settings)
    assert losses.runs == gains.runs
    tables = 'leaderboard', 'pairs', 'orders', 'by', 'by_pairs', 'verdicts'
    for name in tables:
        assert flat(losses.to_dict()[name]) == flat(turned(gains.to_dict()[name]))
    assert losses.to_dict()['power'] == [
        {**row, 'difference': -row['difference']} for row in turned(gains.to_dict()['power'])
    ]
    if losses.gate is not None:
        assert losses.gate.outcome == gains.gate.outcome
        names = [words.partition(':')[0] for words in (losses.gate.words, gains.gate.words)]
        assert names[0] == names[1]
    headlines = [repr(one).splitlines()[0] for one in (losses, gains)]
    assert headlines[0] == headlines[1]
    means = frame.groupby('item')[[*SHIFTS]].mean().dropna().mean()
    assert {row.run: row.map for row in losses.leaderboard} == pytest.approx(dict(means))


def three(n_items=8):
    """WER of three systems: base has 0.1 more on each item than good, and 0.1 less than bad."""
    base = [0.20 + place / 100 for place in range(n_items)]
    columns = {'base': base, 'bad': [x + 0.1 for x in base], 'good': [x - 0.1 for x in base]}
    rows = [
        (f'u{place}', system, value)
        for system, values in columns.items()
        for place, value in enumerate(values)
    ]
    return pandas.DataFrame(rows, columns=['item', 'system', 'WER'])


WER = {'columns': {'value': 'WER'}, 'lower_is_better': True}


def test_three_systems_by_word_error_rate():
    """All eight differences have one sign, so p is 2 / 2**8, times 3 by Holm."""
    found = compare(three(), **WER)
    assert found.runs == ['good', 'base', 'bad']
    ranks = [(row.rank, row.group, row.rank_interval) for row in found.leaderboard]
    assert ranks == [(1, 'a', (1, 1)), (2, 'b', (2, 2)), (3, 'c', (3, 3))]
    assert [row.map for row in found.leaderboard] == pytest.approx([0.135, 0.235, 0.335])
    pairs = [('good', 'base'), ('good', 'bad'), ('base', 'bad')]
    assert [(row.a, row.b) for row in found.pairs] == pairs
    assert {(row.wins, row.losses) for row in found.pairs} == {(8, 0)}
    assert [row.difference for row in found.pairs] == pytest.approx([-0.1, -0.2, -0.1])
    assert {row.p_adjusted for row in found.pairs} == {6 / 2**8}
    headline, *_ = repr(found).splitlines()
    assert headline == 'good is better than every other system (largest p = 0.0234, Holm)'
    against = repr(compare(three(), **WER, baseline='base')).splitlines()[0]
    p = '0.0156, Holm)'
    assert against == f'good is better than base (p = {p}; bad is worse (p = {p}'


def test_the_difference_in_the_headline_is_the_one_in_the_table():
    two = three().query('system != "bad"')
    found = compare(two, **WER)
    (pair,) = found.pairs
    assert pair.interval.high < 0
    bounds = f'[{pair.interval.low:.3f}, {pair.interval.high:.3f}]'
    headline, *rest = repr(found).splitlines()
    assert headline.startswith(f'good is better than base: difference -0.100 {bounds}, p = ')
    assert any(f'-0.100 {bounds.replace(" ", "")}' in line for line in rest)
    equal = compare(two.assign(WER=lambda frame: frame['WER'].max() - frame['WER']), **WER)
    assert repr(equal).startswith('base is better than good: difference -0.100 ')
    alike = two[two['item'] < 'u5']  # 2 / 2**5 is above .05
    assert repr(compare(alike, **WER)).startswith('good leads base: difference -0.100 [')


def test_rules_of_the_gate_are_in_the_units_of_the_loss():
    base = {**WER, 'baseline': 'base'}
    rules = 'worse: all above 0.01; not worse: all below 0.01; lower is better)'
    assert rules in repr(compare(three(), **base, fail_if_worse=0.01))
    assert 'interval; better: all below 0; lower' in repr(
        compare(three(), **base, require_better=True)
    )
    close = table({'old': 0, 'new': 0.006})
    words = compare(close, baseline='old', fail_if_worse=0.01, lower_is_better=True).gate.words
    assert '; for a power of 80 %, 0.00' in words


def test_every_output_says_that_lower_is_better():
    found = compare(three(), **WER, baseline='base')
    page = found.to_html()
    for text in repr(found), found.to_markdown(), found.to_latex(), found.caption(), page:
        assert 'ower is better' in text
        assert 'more is better' not in text.lower()
    assert '<p>A negative difference means that the first system is better.' in page
    assert ' Above the diagonal the first system is better.' in page
    assert 'aria-sort="ascending">WER<' in page
    written = found.to_dict()
    follow_schema(written, 'comparison-3')
    assert written['manifest']['parameters']['lower_is_better'] is True


def test_without_the_option_nothing_speaks_of_it():
    for found in compare(table()), compare(several([0.5, 1], [0, 1])):
        assert 'lower' not in json.dumps(found.to_dict()) + repr(found)
        assert 'lower_is_better' not in found.parameters


NAMES = (
    'WER', 'wer', 'CER', 'eer', 'loss', 'val_loss', 'Val-Loss', 'log loss', 'loss.mean', 'error',
    'error_rate', 'err', 'top-1 err', 'latency', 'latency_p99', 'time_ms', 'ms', 'p99.ms',
    'perplexity', 'word_perplexity', 'PPL', 'mae', 'RMSE', 'test_mse',
)  # fmt: skip
OTHER_NAMES = (
    'value', 'F1', 'accuracy', 'terror', 'lossless', 'blossom', 'timestamp', 'ms_marco', 'forms',
    'MS MARCO', 'wers', 'ERR@20', 'emaer', 'answer', '1-WER', '1 - CER', 'neg_log_loss',
    'neg_mean_squared_error', 'Negative loss', 'supple', 'glossary_score', 'merror',
)  # fmt: skip


def notes_on(frame, **settings):
    return [note for note in compare(frame, **settings).notes if 'lower' in note]


@pytest.mark.parametrize('name', [*NAMES, *OTHER_NAMES])
def test_columns_called_like_losses_are_noted(name):
    """As the column of values of a long table, and as the only one of each of two files."""
    long = three().rename(columns={'WER': name})
    one = pandas.DataFrame({'item': ITEMS[:8], name: range(8)})
    note = f'More is better here; if values of {name} are losses: --lower-is-better, in Python '
    expected = [f'{note}lower_is_better=True'] * (name in NAMES)
    columns = {'value': name}
    assert notes_on(long, columns=columns) == expected
    assert notes_on(long, columns=columns, lower_is_better=True) == []
    if name != 'value':
        assert notes_on({'a': one, 'b': one}) == expected


def test_all_compared_columns_must_be_called_like_losses():
    wide = table({'wer_a': 0, 'wer_b': 0.1, 'recall': 0.2})
    assert notes_on(wide) == []
    (note,) = notes_on(wide, systems=['wer_a', 'wer_b'])
    assert 'if values of wer_a, wer_b are losses' in note
    assert notes_on(wide.drop(columns='recall'))
    assert notes_on(wide, systems=['wer_a', 'recall']) == []
    named = three().rename(columns={'WER': 'value'}).replace({'base': 'mae', 'good': 'mse'})
    assert notes_on(named.query('system != "bad"')) == []  # what they were trained on


def test_measures_that_are_chosen_and_called_like_losses_are_noted():
    long = table().melt('item', var_name='name').rename(columns={'item': 'qid'})
    frame = pandas.concat([long.assign(measure=name) for name in ('wer', 'acc')])
    (note,) = notes_on(frame, measures=['wer'])
    assert 'if values of wer are losses' in note
    assert [notes_on(frame, measures=names) for names in (['wer', 'acc'], None)] == [[], []]


@pytest.mark.parametrize(
    'gate', [{'fail_if_worse': 0.01}, {'require_not_worse': 0.01}, {'require_better': True}]
)
@pytest.mark.parametrize('systems', [['wer_a', 'wer_b'], ['wer_a', 'recall']])
@pytest.mark.parametrize('lower_is_better', [False, True])
def test_a_gate_on_columns_called_like_losses_warns(gate, systems, lower_is_better):
    """As its exit status is read without the table, and may say the opposite."""
    wide = table({'wer_a': 0, 'wer_b': 0.1, 'recall': 0.2})
    settings = {'systems': systems, 'lower_is_better': lower_is_better}
    assert compare(wide, **settings).warnings == ()
    if lower_is_better or 'recall' in systems:
        assert compare(wide, baseline='wer_a', **settings, **gate).warnings == ()
    else:
        with pytest.warns(DataWarning, match='if values of wer_a, wer_b are losses') as caught:
            compare(wide, baseline='wer_a', **settings, **gate)
        assert [warning.message.kind for warning in caught] == ['doubtful-scores']


def test_zero_for_items_without_a_value_is_refused():
    """Else the system that failed would be the best."""
    frame = with_holes(table())
    with pytest.raises(
        ParameterError, match="missing: found 'zero', expected 'skip', as 0 would be"
    ):
        compare(frame, missing='zero', lower_is_better=True)
    assert len(compare(frame, missing='skip', lower_is_better=True).queries) == 58


def test_results_are_never_losses(tmp_path):
    """Nor are the tables by query that commands write of them."""
    results = several([0.5, 1, 0.25], [0, 1, 0.75])
    reason = 'lower_is_better: found results, of which more is better, expected score tables'
    with pytest.raises(ParameterError, match=reason):
        compare(results, lower_is_better=True)
    path = tmp_path / 'own.csv'
    evaluation([0.5, 1, 0.25], 'own').to_csv(path, per_query=True)
    assert compare(path).metrics == ['AP@1']
    with pytest.raises(ParameterError, match=reason):
        compare(path, lower_is_better=True)

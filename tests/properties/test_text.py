"""Text of whatever class is its characters: every door gives the same bits as for plain text."""

import json
import math
from enum import Enum
from functools import cache
from unittest.mock import Mock

import numpy as np
import pandas
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from live_sessions import check_live

from mediaeval_ap import (
    AveragePrecision,
    challenges,
    definitions,
    metrics,
    validate,
)
from mediaeval_ap.choices import TIES, check_policy, check_tag, is_text, plain_text
from mediaeval_ap.errors import FormatError, ParameterError
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


class Unequal(str):
    """Text that is equal to nothing, and has methods of its own."""

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 7

    def __str__(self):
        return 'printed'

    __repr__ = __str__

    def __format__(self, spec):
        return 'printed'

    def __len__(self):
        return 0

    def __bool__(self):
        return False

    def __iter__(self):
        return iter('other')

    def strip(self, characters=None):
        return 'other'

    def encode(self, encoding='utf-8', errors='strict'):
        return b'other'


@cache
def member(text):
    """A member of an enumeration of texts, which prints its own name."""
    return Enum('Named', {'MEMBER': text}, type=str).MEMBER


CLASSES = [member, np.str_, Unequal]
every_class = pytest.mark.parametrize('text', CLASSES, ids=lambda text: text.__name__)
some = strategies.examples(1 / 3)  # each example goes through many doors


def dressed(text, rows):
    """Rows, or what else holds text, with each text in a class."""
    if isinstance(rows, str):
        return text(rows)
    if isinstance(rows, list | tuple):
        return type(rows)(dressed(text, each) for each in rows)
    return rows


@every_class
@given(st.text())
def test_plain_text(text, characters):
    plain = plain_text(text(characters))
    assert type(plain) is str
    assert plain.encode('utf-8', 'surrogatepass') == characters.encode('utf-8', 'surrogatepass')
    assert is_text(text(characters)) == is_text(characters)


def test_what_only_says_that_it_is_text():
    """Its class is what a value says of itself."""
    mock = Mock(spec=str)
    assert isinstance(mock, str)
    assert plain_text(mock) is None
    assert not is_text(mock)


def answers(text, reference, hypotheses, queries, K, definition, subset):
    """What every door of a campaign's run makes of it."""
    average_precision = AveragePrecision(
        dressed(text, reference), K, subset=dressed(text, subset), definition=text(definition)
    )
    run = dressed(text, hypotheses)
    asked = dressed(text, queries)
    evaluation = average_precision.evaluate(run, asked)
    yield evaluation.queries, evaluation.ap.tolist(), evaluation.n_relevant.tolist()
    yield evaluation.map.tolist()
    session = average_precision(run)
    yield [session.send(query) for query in asked]
    yield average_precision.rank(run, asked[0], 5).to_dict('list')
    live = average_precision.live()
    live.add(hypotheses[0])
    for row in run:
        live.add(row)
    live.remove(run[0])
    live.extend(run[1:])
    for row in run[1:]:
        live.update(row, confidence=0.25)
    check_live(live)
    yield len(live), run[0] in live, [live.send(query) for query in asked]
    yield sorted(live.snapshot().table.rows())
    yield live.evaluate(asked).ap.tolist()


@every_class
@some
@given(
    strategies.reference_rows,
    strategies.hypothesis_rows,
    strategies.cutoffs,
    st.sampled_from(definitions.names()),
    strategies.names,
)
def test_a_run_of_a_campaign(text, reference, hypotheses, K, definition, stranger):
    queries = [*sorted({row[3] for row in reference}), stranger]
    subset = [('x', 'v'), ('y', 'w'), reference[0][:2]]
    given_ = reference, hypotheses, queries, strategies.allowed(K, definition), definition, subset
    assert list(answers(text, *given_)) == list(answers(str, *given_))


def frame(text, columns):
    """A table of which names of columns and texts are of a class."""
    names = pandas.Index(dressed(text, list(columns)), dtype=object)
    rows = list(zip(*(dressed(text, values) for values in columns.values()), strict=True))
    table = pandas.DataFrame(rows, columns=names, dtype=object)
    numbers = [i for i, values in enumerate(columns.values()) if isinstance(values[0], float)]
    for i in numbers:
        table.isetitem(i, table.iloc[:, i].astype(float))
    return table


@every_class
@some
@given(strategies.reference_rows, strategies.hypothesis_rows)
def test_tables(text, reference, hypotheses):
    for rows, layout in (reference, REFERENCE), (hypotheses, HYPOTHESIS):
        plain = read(rows, layout)
        columns = dict(zip(layout.fields, zip(*rows, strict=True), strict=True))
        for origin in (dressed(text, rows), frame(text, columns)):
            table = read(origin, layout)
            assert list(table.rows()) == list(plain.rows())
            for field in layout.texts:
                assert table[field].values == plain[field].values
                assert set(map(type, table[field].values)) == {str}
                assert table[field].codes.tolist() == plain[field].codes.tolist()


@pytest.mark.parametrize('text', [member, np.str_])  # pandas cannot tell categories that lie
def test_categories(text):
    rows = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob'), ('x', 'v', '3', 'ann')]
    frame = pandas.DataFrame(rows, columns=list(REFERENCE.fields), dtype=object)
    categories = pandas.CategoricalDtype(pandas.Index([text('bob'), text('ann')], dtype=object))
    codes = pandas.Categorical.from_codes([1, 0, 1], dtype=categories)
    assert list(read(frame.assign(person_name=codes), REFERENCE).rows()) == rows
    queries = {'y_true': ['ann', 'bob', 'ann'], 'y_pred': codes, 'confidence': [0.5] * 3}
    value = metrics.global_average_precision(**queries)
    assert value == 1.0


@every_class
@pytest.mark.parametrize('ties', ['expected', 'worst'])
def test_metrics(text, ties):
    def scored(text):
        truth, predictions = dressed(text, [['a'], ['b', 'ab']]), dressed(text, [['a'], ['7', 'b']])
        ap, _ = metrics.MeanAveragePrecision(k=3).update(truth, predictions)
        ranks = metrics.ReciprocalRank().update(dressed(text, ['a', 'b']), predictions)
        return (
            ap.tolist(),
            ranks.tolist(),
            metrics.global_average_precision(
                y_true=dressed(text, ['a', 'a', 'c', 'b']),
                y_pred=dressed(text, ['a', 'b', None, 'a']),
                confidence=[0.5, 0.5, 0.25, 0.5],
                ties=text(ties),
                return_frame=True,
            ),
        )

    (*values, (value, table)), (*expected, (of_plain, plain)) = scored(text), scored(str)
    assert (values, value) == (expected, of_plain)
    assert table.to_dict('list').items() == plain.to_dict('list').items()


@every_class
def test_challenges(text):
    def scored(text):
        users = frame(text, {'customer_id': ['1', '2'], 'prediction': ['a b', 'c']})
        lists = frame(text, {'customer_id': ['2', '1'], 'prediction': ['x c', 'b']})
        policies = {'missing': text('zero'), 'unknown': text('drop')}
        yield challenges.evaluate_map(users, lists, definition=text('trec'), **policies)
        whales = frame(text, {'Image': ['1', '2'], 'Id': ['a', 'b']})
        yield challenges.evaluate_first_hit(whales, whales.iloc[:, [1, 0]].iloc[:, ::-1])
        truth = frame(text, {'id': ['1', '2'], 'landmark_id': ['a', 'b']})
        sure = frame(text, {'id': ['2', '1'], 'landmarks': ['b .5', 'b .5']})
        yield challenges.evaluate_gap(truth, sure, ties=text('best'), **policies)
        heard = frame(text, {'fname': ['1', '2'], 'labels': ['a,b', 'b']})
        scores = frame(text, {'fname': ['2', '1'], 'a': [0.5, 0.25], 'b': [0.25, 0.5]})
        yield challenges.evaluate_lrap(heard, scores, unknown=text('error'))

    for score, plain in zip(scored(text), scored(str), strict=True):
        assert json.dumps(score.to_dict()) == json.dumps(plain.to_dict())


@every_class
def test_names_of_parameters(text, tmp_path):
    assert definitions.get(text('trec')) is definitions.get('trec')
    policy = check_policy('ties', text('best'), TIES)
    assert type(policy) is str
    assert policy == 'best'
    assert type(check_tag(text('mine'))) is str
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')])
    run = [('x', 'v', '1', 'ann', 0.5)]
    average_precision.export_trec(run, tmp_path / 'qrels', tmp_path / 'run', tag=text('mine'))
    assert (tmp_path / 'run').read_text() == 'ann Q0 x/v/1 1 1 mine\n'
    assert validate(str(tmp_path / 'run'), rules=text('none')) == validate(
        str(tmp_path / 'run'), rules='none'
    )
    for wrong in ('', 'trec ', 'other'):
        with pytest.raises(ParameterError):
            definitions.get(text(wrong))
        with pytest.raises(ParameterError):
            check_policy('ties', text(wrong), TIES)
    with pytest.raises(ParameterError):
        AveragePrecision([('x', 'v', '1', 'ann')], K=text('10'))


@every_class
@pytest.mark.parametrize('wrong', ['', ' ann', 'ann\n', 'a\0b', '\ud800'])
def test_text_of_a_class_is_refused_as_plain_text_is(text, wrong):
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')])
    live = average_precision.live()
    with pytest.raises(FormatError):
        live.add(('x', 'v', '1', text(wrong), 0.5))
    with pytest.raises(FormatError):
        live.extend([('x', 'v', '1', text(wrong), 0.5)])
    with pytest.raises(ParameterError):
        live.send(text(wrong))
    assert not len(live)


def test_numbers_are_kept_as_doubles():
    """A number of another class is the double that it is, in whatever row."""
    live = AveragePrecision([('x', 'v', '1', 'ann')]).live()
    live.add(('x', 'v', '1', 'ann', np.float32(0.1)))
    live.add(('x', 'v', '1', 'ann', 1))
    ((*_, one), (*_, other)) = sorted(live.snapshot().table.rows())
    assert math.isclose(one, 0.1, rel_tol=1e-7)  # single precision holds seven digits
    assert (one, other) == (float(np.float32(0.1)), 1.0)

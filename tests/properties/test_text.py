"""Text of whatever class is its characters: every door gives the same bits as for plain text."""

from enum import Enum
from functools import cache

import numpy as np
import pandas
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, definitions, metrics
from mediaeval_ap.choices import TIES, check_policy, check_tag, is_text, plain_text
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.tables import HYPOTHESIS, REFERENCE, read

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')


@cache
def member(text):
    """A member of an enumeration of texts, which prints its own name."""
    return Enum('Named', {'MEMBER': text}, type=str).MEMBER


CLASSES = [member, np.str_]
every_class = pytest.mark.parametrize('text', CLASSES, ids=lambda text: text.__name__)


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


@every_class
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
def test_names_of_parameters(text, tmp_path):
    assert definitions.get(text('trec')) is definitions.get('trec')
    policy = check_policy('ties', text('best'), TIES)
    assert type(policy) is str
    assert policy == 'best'
    assert type(check_tag(text('mine'))) is str
    for wrong in ('', 'trec ', 'other'):
        with pytest.raises(ParameterError):
            definitions.get(text(wrong))
        with pytest.raises(ParameterError):
            check_policy('ties', text(wrong), TIES)
    with pytest.raises(ParameterError):
        AveragePrecision([('x', 'v', '1', 'ann')], K=text('10'))

"""What was judged: rankings without the rest, and how much of each is judged."""

import io
from pathlib import Path

import numpy as np
import oracle
import pandas
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision, Evaluation, compare, definitions, index, read_results
from mediaeval_ap.errors import FormatError, ParameterError

pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
ROUNDING = 1e-12  # P(i), the sum and the quotient round once each, as in tests/properties
NOTES = {
    'nonrelevant': 'Returned shots that are not judged count as not relevant',
    'skip': 'Returned shots that are not judged leave the ranking (condensed lists)',
}
shots = st.tuples(strategies.corpora, strategies.videos, strategies.shots)


@st.composite
def judgements(draw):
    """A reference, and what was judged: shots with all its rows, or pairs of shot and name."""
    reference = draw(strategies.reference_rows)
    others = draw(st.lists(st.tuples(shots, strategies.names), max_size=8))
    if draw(st.booleans()):
        return reference, [*{row[:3] for row in reference}, *(shot for shot, _ in others)]
    relevant = set(reference)
    pairs = [(*row, 1) for row in relevant]
    pairs += [(*shot, name, 0) for shot, name in others if (*shot, name) not in relevant]
    return reference, draw(st.permutations(pairs))


@pytest.mark.parametrize('unjudged', NOTES)
@pytest.mark.parametrize('definition', definitions.names())
@given(
    judgements(),
    strategies.hypothesis_rows,
    strategies.cutoffs,
    strategies.subsets,
    strategies.names,
)
@strategies.examples(1 / 5)
def test_condensed_lists(definition, unjudged, judged, hypotheses, K, subset, stranger):
    reference, judged = judged
    K = strategies.allowed(K, definition)
    assume(subset is None or any(row[:2] in subset for row in reference))
    average_precision = AveragePrecision(
        reference, K, definition=definition, subset=subset, judged=judged, unjudged=unjudged
    )
    queries = [*average_precision.queries, stranger]
    evaluation = average_precision.evaluate(hypotheses, queries)
    counted = [row for row in hypotheses if subset is None or row[:2] in subset]
    session, live = average_precision(hypotheses), average_precision.live(hypotheses)
    for row, query in enumerate(queries):
        skipped = judged if unjudged == 'skip' else None
        expected, n_relevant = oracle.evaluate(
            reference, hypotheses, query, K, definition, subset, skipped
        )
        assert evaluation.ap[row].tolist() == pytest.approx(
            list(map(float, expected)), abs=ROUNDING
        )
        answer = (evaluation.ap[row].tolist(), n_relevant)
        assert session.send(query) == live.send(query) == answer
        shares = oracle.judged_shares(counted, query, K, definition, judged)
        expected = [np.nan if share is None else float(share) for share in shares]
        assert np.array_equal(evaluation.judged[row], expected, equal_nan=True)
    (again,) = read_results(_as_file(evaluation))
    assert again.to_dict() == evaluation.to_dict()
    assert NOTES[unjudged] in evaluation.notes


def _as_file(evaluation):
    return io.StringIO(evaluation.to_json())


@pytest.mark.parametrize('definition', definitions.names())
@given(judgements(), strategies.hypothesis_rows, st.integers(1, 9))
@strategies.examples(1 / 5)
def test_a_condensed_list_is_explained(definition, judged, hypotheses, k):
    """The parts add up, and what other definitions say is what they say of condensed lists."""
    reference, judged = judged
    settings = {'judged': judged, 'unjudged': 'skip'}
    average_precision = AveragePrecision(reference, k, definition=definition, **settings)
    assume(average_precision.queries)
    diagnosis = average_precision.explain(hypotheses, k=k)
    evaluation = average_precision.evaluate(hypotheses)
    assert diagnosis.ap.tolist() == evaluation.ap[:, 0].tolist()
    assert sum(diagnosis.parts.values()) == pytest.approx(1 - diagnosis.ap, abs=ROUNDING)
    for query in diagnosis.queries:
        found = diagnosis.of(query)
        condensed = oracle.condensed(oracle.ranked(hypotheses, query), query, judged)
        shown = [(each.corpus, each.video, each.shot) for each in found.ranking]
        drops = oracle.REPEATS[definition] == 'dropped'
        if not drops:
            assert shown == [each[:3] for each in condensed][:k]
        ranks = {}
        listed = list(dict.fromkeys(each[:3] for each in condensed))
        for rank, each in enumerate(listed if drops else condensed, 1):
            ranks.setdefault(each[:3], rank)
        for shot in found.relevant:
            assert shot.rank == ranks.get((shot.corpus, shot.video, shot.shot))
        for each in found.definitions:
            values, _ = oracle.evaluate(
                reference, hypotheses, query, [k], each.definition, judged=judged
            )
            assert each.ap == pytest.approx(float(values[0]), abs=ROUNDING)


REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '3', 'bob')]
RUN = [('x', 'v', shot, 'ann', 0.9 - int(shot) / 10) for shot in '0123']
SHOTS = [('x', 'v', '1'), ('x', 'v', '3'), ('x', 'v', '0')]
FORMS = {
    'shots': ('x v 1\nx v 3\nx v 0\n', ['corpus_id', 'video_id', 'shot_id']),
    'pairs': (
        'x v 1 ann 1\nx v 3 bob 1\nx v 0 ann 0\n',
        ['corpus_id', 'video_id', 'shot_id', 'person_name', 'relevance'],
    ),
    'qrels': (
        '# by hand\nann 0 x/v/1 1\nbob 0 x/v/3 1\nann 0 x/v/0 0\n',
        ['qid', 'iteration', 'docno', 'relevance'],
    ),
}


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('kind', ['text', 'rows', 'frame', 'parquet'])
def test_three_forms_are_told_by_their_columns(form, kind, tmp_path):
    text, columns = FORMS[form]
    rows = [line.split() for line in text.splitlines() if line[0] != '#']
    frame = pandas.DataFrame(rows, columns=columns)
    path = tmp_path / 'judged'
    if form != 'shots':
        rows = [(*row[:-1], int(row[-1])) for row in rows]
        frame['relevance'] = frame['relevance'].astype(int)
    match kind:
        case 'text':
            path.write_text(f'\n{text}')
        case 'parquet':
            frame.assign(more=1).to_parquet(path)
        case 'frame':
            path = frame.assign(more=1)
        case 'rows':
            path = iter(rows)
    settings = {'K': [1, 2, 4], 'definition': 'trec'}
    evaluate = AveragePrecision(REFERENCE, judged=path, unjudged='skip', **settings).evaluate
    expected = AveragePrecision(REFERENCE, judged=rows, unjudged='skip', **settings).evaluate(RUN)
    found = evaluate(RUN)
    assert found.ap.tolist() == expected.ap.tolist()
    assert found.judged.tolist() == expected.judged.tolist()
    ann, bob = found.ap[:, 2].tolist()
    assert (ann, bob) == ((0.5, 1 / 3) if form == 'shots' else (0.5, 1.0))


@pytest.mark.parametrize(
    ('judged', 'message'),
    [
        (SHOTS[:1], r"^<reference>, row 2, shot_id: found 'x/v/3', expected a shot that <judged"),
        ([*SHOTS[:2], ('x', 'v')], r'row 3: found 2 fields in .*, expected 3 fields: corpus_id'),
        ([(*REFERENCE[0], 1)], r"row 2, shot_id: found 'x/v/3', .* lists for 'bob'; drop such"),
        ([(*REFERENCE[0], 1), (*REFERENCE[1], 0)], r'row 2, relevance: found 0, expected 1, as'),
        (
            [*((*row, 1) for row in REFERENCE), ('x', 'v', '1', 'bob', 1)],
            r'row 3, relevance: found 1, expected 0, as <reference> has no such row$',
        ),
        (
            [*((*row, 1) for row in REFERENCE), (*REFERENCE[0], 0)],
            r'row 3, relevance: found 0, expected 1, as row 1 has for the same shot and name$',
        ),
        (
            [*((*row, 1) for row in REFERENCE), ('x', 'v', '1', 'bob', 2)],
            r'row 3, relevance: found 2, expected 0 or 1$',
        ),
        ([('ann', '0', 'x/v', 1)], r"docno: found 'x/v', expected corpus/video/shot, as export-t"),
    ],
)
def test_judgements_that_contradict_the_reference_are_errors(judged, message):
    with pytest.raises(FormatError, match=message):
        AveragePrecision(REFERENCE, judged=judged)


def test_unjudged_rows_of_the_reference_can_be_dropped():
    average_precision = AveragePrecision(
        REFERENCE, K=[4], judged=SHOTS[:1], drop_unjudged_rows=True
    )
    assert average_precision.queries == ['ann']
    evaluation = average_precision.evaluate(RUN)
    assert evaluation.counts['reference_rows_dropped'] == 1
    assert '1 row of the reference about shots that are not judged: dropped' in evaluation.notes
    assert evaluation.inputs['judged'].name == '<judged list>'
    assert evaluation.parameters == {'unjudged': 'nonrelevant'}


@pytest.mark.parametrize('judged', [[('y', 'v', '1')], [('x', 'v', '2', 'ann', 0)]])
def test_a_reference_of_which_all_rows_are_dropped(judged):
    """Nobody begins with ? there."""
    average_precision = AveragePrecision(REFERENCE, K=[4], judged=judged, drop_unjudged_rows=True)
    with pytest.raises(ParameterError) as caught:
        average_precision.evaluate(RUN)
    dropped = 'no row of this reference is judged: all are dropped; give the queries to ask for'
    assert str(caught.value) == f'<reference>: {dropped}'
    assert average_precision.evaluate(RUN, ['ann']).counts['reference_rows_dropped'] == 2


def test_placeholders_need_no_judgement_of_pairs():
    reference = [*REFERENCE, ('x', 'v', '9', '?unknown?')]
    judged = [(*row, 1) for row in REFERENCE]
    assert AveragePrecision(reference, judged=judged).queries == ['ann', 'bob']


@pytest.mark.parametrize('setting', [{'unjudged': 'skip'}, {'drop_unjudged_rows': True}])
def test_settings_without_judgements_are_errors(setting):
    with pytest.raises(ParameterError, match='give judged=… with '):
        AveragePrecision(REFERENCE, **setting)
    with pytest.raises(ParameterError, match=r"^unjudged: found 'drop', expected one of nonrel"):
        AveragePrecision(REFERENCE, judged=SHOTS, unjudged='drop')


def test_where_nothing_is_returned_no_share_is_judged():
    scorer = AveragePrecision(REFERENCE, K=[4], judged=SHOTS, subset=[('x', 'v')])
    evaluation = scorer.evaluate([('y', 'v', '1', 'ann', 0.5)], ['ann'])
    assert np.isnan(evaluation.judged).tolist() == [[True]]


def test_an_empty_reference_is_a_campaign_that_begins():
    evaluation = AveragePrecision([], K=[4], judged=[]).evaluate(RUN, ['ann'])
    assert (evaluation.ap.tolist(), evaluation.judged.tolist()) == ([[1.0]], [[0.0]])
    with pytest.raises(FormatError, match='no rows'):
        AveragePrecision([])


@pytest.mark.parametrize('unjudged', NOTES)
def test_blocks_processes_and_stores_give_the_same(unjudged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('run.txt').write_text(''.join(f'{" ".join(map(str, row))}\n' for row in RUN))
    average_precision = AveragePrecision(REFERENCE, K=[1, 4], judged=SHOTS, unjudged=unjudged)
    whole = average_precision.evaluate('run.txt')
    parts = [average_precision.evaluate('run.txt', [query]) for query in whole.queries]
    kept = average_precision.evaluate('run.txt', resume='blocks')
    index('run.txt', 'run.store')
    stored = average_precision.evaluate('run.store')
    for other in Evaluation.concat(parts), kept, stored:
        assert other.ap.tolist() == whole.ap.tolist()
        assert other.judged.tolist() == whole.judged.tolist()
    others = AveragePrecision(REFERENCE, K=[1, 4], judged=SHOTS[:2], unjudged=unjudged)
    with pytest.raises(FormatError, match=r'plan.json, judged: found .*this folder holds another'):
        others.evaluate('run.txt', resume='blocks')


def test_runs_are_compared_by_what_was_judged():
    first = AveragePrecision(REFERENCE, K=[4], judged=SHOTS, unjudged='skip').evaluate(RUN)
    other = AveragePrecision(REFERENCE, K=[4], judged=SHOTS).evaluate(RUN)
    with pytest.raises(ParameterError, match=r'unjudged: found .nonrelevant. for .b., expected'):
        compare({'a': first, 'b': other})
    compared = compare({'a': first, 'b': first})
    assert NOTES['skip'] in compared.notes
    assert compared.metrics == ['MAP@4']
    assert compared.inputs['judged'].name == '<judged list>'

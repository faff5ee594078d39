"""The protocol of 2015: names chosen, average precision, correctness and their means."""

import json
from fractions import Fraction

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from mediaeval_ap import PersonDiscovery2015
from mediaeval_ap.cli import main
from mediaeval_ap.discovery_2015 import closest_names
from mediaeval_ap.errors import DataWarning, FormatError, NoOverlapWarning, ParameterError
from mediaeval_ap.tables import read
from mediaeval_ap.tables.layouts import SHOTS_2015

# Queries without a relevant shot, and runs without one of the reference, are meant here.
QUIET = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
SHOTS = [(video, shot) for video in ('v', 'w') for shot in ('2', '10', 'a')]
ALL = [(*shot, '0', '1', '0', '24') for shot in SHOTS]
shots = st.sampled_from(SHOTS)
names = st.text('ab_', min_size=1, max_size=6)
sources = st.sampled_from(['image', 'audio', 'both'])
confidences = st.sampled_from([0.0, 0.25, 0.5, 0.5000000001, 1.0])
references = st.lists(st.tuples(shots, names).map(lambda row: (*row[0], row[1])), min_size=1)
labels = st.lists(
    st.tuples(shots, names, confidences).map(lambda row: (*row[0], *row[1:])), min_size=1
)
evidence = st.lists(
    st.tuples(names, shots, sources).map(lambda row: (row[0], *row[1], row[2])),
    min_size=1,
    unique_by=lambda row: row[0],
)
known = st.lists(st.tuples(shots, names, sources).map(lambda row: (*row[0], *row[1:])), min_size=1)


@QUIET
@given(
    references,
    labels,
    st.lists(names, min_size=1, unique=True),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction(19, 20), Fraction(1)]),
    st.none() | st.sets(shots, min_size=1),
    st.none() | st.tuples(evidence, known),
)
def test_like_the_rules_as_they_are_written(reference, run, queries, least, consensus, both):
    said, seen = both or (None, None)
    discovery = PersonDiscovery2015(
        SHOTS, reference, evidence_reference=seen, consensus=consensus, ratio=float(least)
    )
    evaluation = discovery.evaluate(run, said, queries)
    # A ratio and the bound are quotients that are rounded once: they compare as the fractions do.
    rules = reference, run
    expected = [
        oracle.evaluate_2015(*rules, query, least, consensus, said, seen) for query in queries
    ]
    assert evaluation.names == [name for name, _, _ in expected]
    # Precisions are added in doubles: as many roundings as hits, six at most.
    assert evaluation.ap.tolist() == pytest.approx([float(ap) for _, ap, _ in expected], abs=1e-15)
    for query, name, share in zip(queries, evaluation.names, evaluation.ratios, strict=True):
        assert share == (0 if name is None else float(oracle.ratio(query, name)))
    n = len(queries)
    assert evaluation.map == pytest.approx(float(sum(ap for _, ap, _ in expected) / n), abs=1e-15)
    if both is None:
        assert evaluation.correct is evaluation.mean_correctness is evaluation.ewmap is None
        return
    correct = [each for _, _, each in expected]
    assert evaluation.correct.tolist() == correct
    assert evaluation.mean_correctness == pytest.approx(sum(correct) / n, abs=1e-15)
    weighted = sum(ap * each for _, ap, each in expected) / n
    assert evaluation.ewmap == pytest.approx(float(weighted), abs=1e-15)


def test_a_shot_list_that_was_read_before(tmp_path):
    """A table of shots that was read before, with all of its fields, was once refused."""
    (tmp_path / 'all').write_text(''.join(f'{" ".join(shot)} 0 1 0 24\n' for shot in SHOTS))
    shots = read(tmp_path / 'all', SHOTS_2015)
    run = [('v', '2', 'ann', 1.0)]
    assert PersonDiscovery2015(shots, [('v', '2', 'ann')]).evaluate(run).map == 1.0


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.NoOverlapWarning')
@pytest.mark.parametrize('ratio', [np.float32(0.95), Fraction(19, 20)])
def test_a_ratio_is_a_double_of_whatever_type_it_is_given(ratio):
    """A ratio of another type was once kept, which JSON cannot hold."""
    query, name = 'a' * 20, 'a' * 19 + 'b'  # close by 38/40, which as a double is 0.95
    run = [('v', '1', name, 0.5)]
    evaluations = [
        PersonDiscovery2015([('v', '1')], [('v', '1', query)], ratio=each).evaluate(run)
        for each in (ratio, float(ratio))
    ]
    written, expected = (json.dumps(each.to_dict()) for each in evaluations)
    assert written == expected


def test_rows_of_shots_may_be_whole():
    run = [('v', '2', 'ann', 1.0)]
    for shots in (ALL, iter(ALL), [list(shot) for shot in ALL], iter(SHOTS)):
        assert PersonDiscovery2015(shots, [('v', '2', 'ann')]).evaluate(run).map == 1.0
    with pytest.raises(FormatError, match='row 2: found 3 fields'):
        PersonDiscovery2015([*SHOTS[:1], ('v', '1', '0')], [('v', '2', 'ann')])


def test_nobody_to_ask_for():
    discovery = PersonDiscovery2015(SHOTS, [('v', '2', '?'), ('v', '10', '?unknown?')])
    run = [('v', '2', 'ann', 1.0), ('v', '2', '?', 1.0)]
    with pytest.raises(ParameterError, match=r'^<reference>: every name of .* begins with \?, and'):
        discovery.evaluate(run)
    assert discovery.evaluate(run, queries=['?']).n_relevant.tolist() == [1]
    with pytest.warns(NoOverlapWarning, match='0 of 1 queries occur in <reference>'):
        assert discovery.evaluate(run, queries=['ann']).ap.tolist() == [1.0]


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.WithoutRelevantWarning')
def test_a_query_asked_twice_counts_twice():
    discovery = PersonDiscovery2015(SHOTS, [('v', '2', 'ann')])
    run = [('v', '2', 'ann', 1.0), ('v', '2', 'bob', 1.0)]
    with pytest.warns(DataWarning) as caught:
        evaluation = discovery.evaluate(run, queries=['ann', 'zoe', 'ann'])
    assert caught[0].filename == __file__
    assert evaluation.ap.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ('where', 'rows', 'message'),
    [
        ('reference', [('v', '3', 'ann')], "row 1, shot_id: found '3' of 'v', expected a shot of"),
        ('consensus', [('v', '2'), ('x', '2')], "row 2, shot_id: found '2' of 'x'"),
        ('evidence_reference', [('v', '7', 'ann', 'image')], "row 1, shot_id: found '7' of 'v'"),
        (
            'evidence_reference',
            [('v', '2', 'ann', 'seen')],
            "row 1, source: found 'seen', expected one of image, audio, both",
        ),
        ('labels', [('v', '02', 'ann', 0.5)], "row 1, shot_id: found '02' of 'v'"),
        ('evidence', [('ann', 'w', 'b', 'image')], "row 1, shot_id: found 'b' of 'w'"),
        ('evidence', [('ann', 'w', 'a', '')], 'row 1, source: found'),
        (
            'evidence',
            [('ann', 'w', 'a', 'image'), ('ann', 'w', 'a', 'audio')],
            "row 2, person_name: found 'ann' again, expected each name once",
        ),
    ],
)
def test_what_is_wrong_is_named(where, rows, message):
    given = {
        'reference': [('v', '2', 'ann')],
        'consensus': SHOTS,
        'evidence_reference': [('v', '2', 'ann', 'image')],
        'labels': [('v', '2', 'ann', 0.5)],
        'evidence': [('ann', 'v', '2', 'image')],
        where: rows,
    }
    run, said = given.pop('labels'), given.pop('evidence')
    with pytest.raises(FormatError) as caught:
        PersonDiscovery2015(SHOTS, **given).evaluate(run, said)
    assert message in str(caught.value)


def test_evidence_and_its_reference_go_together():
    run = [('v', '2', 'ann', 0.5)]
    discovery = PersonDiscovery2015(SHOTS, [('v', '2', 'ann')])
    with pytest.raises(ParameterError, match='Give evidence and evidence_reference together, or'):
        discovery.evaluate(run, [('ann', 'v', '2', 'image')])
    seen = [('v', '2', 'ann', 'image')]
    discovery = PersonDiscovery2015(SHOTS, [('v', '2', 'ann')], evidence_reference=seen)
    with pytest.raises(ParameterError, match='Give evidence and evidence_reference together, or'):
        discovery.evaluate(run)


def arguments(paths):
    """Return the arguments and options of the command for the file of each role."""
    given = dict(paths)
    reference, run = given.pop('reference'), given.pop('labels')
    return [reference, run, *(part for name in given for part in (f'--{name}', given[name]))]


@pytest.fixture
def files(official_data):
    of_roles = {'shots': 'shot', 'reference': 'ref', 'evidence-reference': 'eviref'}
    named = {role: f'2015.{suffix}' for role, suffix in of_roles.items()}
    named |= {role: f'2015.{role}' for role in ('queries', 'consensus')}
    named |= {'labels': 'baseline.label', 'evidence': 'baseline.evidence'}
    return arguments({role: str(official_data / '2015' / file) for role, file in named.items()})


# What the published scripts give for the public baseline run, written with twelve decimals.
FIGURES = {'MAP': 0.748925483993, 'mean correctness': 0.916908212560, 'EwMAP': 0.746348994460}


def test_the_public_baseline_has_its_published_figures(files):
    options = ['--format', 'json', '--per-query']
    done = CliRunner().invoke(main, ['evaluate-2015', *files, *options], catch_exceptions=False)
    (printed,) = json.loads(done.stdout)['results']
    assert len(printed['queries']) == 2070
    assert printed['means'] == pytest.approx(FIGURES, abs=1e-12)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = {
        'shots': ALL,
        'reference': [('v', '2', 'ann'), ('v', '10', 'bob')],
        'labels': [('v', '2', 'ann', '0.5'), ('v', 'a', 'bob', '0.9'), ('v', '10', 'bob', '0.4')],
        'evidence-reference': [('v', '2', 'ann', 'image'), ('v', '10', 'bob', 'both')],
        'evidence': [('ann', 'v', '2', 'audio'), ('bob', 'v', '10', 'audio')],
    }
    for name, rows in tables.items():
        (tmp_path / name).write_text(''.join(f'{" ".join(row)}\n' for row in rows))
    return arguments({name: name for name in tables})


def test_the_command_prints_queries_and_means(folder):
    result = CliRunner().invoke(main, ['evaluate-2015', *folder, '--per-query'])
    assert result.exit_code == 0
    lines = [' '.join(line.split()) for line in result.output.splitlines() if '---' not in line]
    assert lines == [
        *('labels (ratio 0.95)', '', 'query name ratio AP correct EwAP n_relevant'),
        *('ann ann 1.000 1.000 0.000 1', 'bob bob 1.000 0.500 yes 0.500 1', ''),
        *('METRIC 2 queries', 'MAP 0.750', 'mean correctness 0.500', 'EwMAP 0.250'),
    ]


def test_each_run_has_its_evidence(folder, tmp_path):
    """Ann is seen in the reference, and not heard; bob is both."""
    (tmp_path / 'better').write_text('ann v 2 image\nbob v 10 audio\n')
    command = ['evaluate-2015', 'reference', 'labels', 'labels', *folder[2:], '--format', 'json']
    result = CliRunner().invoke(main, [*command, '--evidence', 'better'])
    assert result.exit_code == 0
    scored = json.loads(result.stdout)['results']
    assert [each['means']['EwMAP'] for each in scored] == [0.25, 0.75]
    result = CliRunner().invoke(main, command)
    assert (result.exit_code, result.stdout) == (2, '')
    assert '--evidence: found 1, expected one for each RUN: 2\n' in result.stderr


def test_notes_tell_of_queries_that_are_unlike_the_others(folder, tmp_path):
    (tmp_path / 'queries').write_text('ann\nzoe\n')
    result = CliRunner().invoke(main, ['evaluate-2015', *folder, '--queries', 'queries'])
    assert result.stdout.endswith(
        '\n\n1 of 2 queries have nothing relevant: each counts 1, and an empty run has MAP 0.500\n'
        '1 of 2 queries have no close name in the run\n'
    )
    assert result.stderr == (
        "Warning: reference: 1 of 2 queries are not names in the reference: 'zoe'\n"
        'Warning: reference: 1 of 2 queries have nothing relevant: each counts 1, and an empty run '
        'has MAP 0.500\n'
    )


def test_placeholders_and_queries_without_a_relevant_shot_are_counted():
    reference = [('v', '2', '?unknown?'), ('v', '10', 'bob'), ('v', '10', '?')]
    discovery = PersonDiscovery2015(SHOTS, reference)
    run = [('v', '10', 'bob', 1.0)]
    assert discovery.evaluate(run).queries == ['bob']
    counts = discovery.evaluate(run).counts
    assert (counts['placeholders'], counts['queries_without_relevant']) == (2, 0)
    asked = discovery.evaluate(run, queries=['bob', '?'])
    assert (asked.counts['placeholders'], asked.n_relevant.tolist()) == (0, [1, 1])


@pytest.mark.parametrize(
    ('arguments', 'code', 'message'),
    [
        (['--evidence', 'evidence'], 2, '--evidence and --evidence-reference go together'),
        (['--ratio', '1.5'], 2, 'expected a number from 0 to 1'),
        (['--consensus', 'labels'], 1, 'Error: labels, line 1: found 4 fields'),
    ],
)
def test_errors_of_the_command(folder, arguments, code, message):
    result = CliRunner().invoke(main, ['evaluate-2015', *folder[:4], *arguments])
    assert result.exit_code == code
    assert message in result.output


@given(
    st.lists(st.text('ab', min_size=1, max_size=5), min_size=1, max_size=6),
    st.sets(st.text('abc', min_size=1, max_size=5), min_size=1, max_size=9),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(1)]),
    st.integers(1, 20),
)
@example(['abba', 'bbbb', 'aaaa', 'b'], {'abbaa', 'bbba', 'aabba', 'b'}, Fraction(1, 2), 5)
@example(['abb', 'bba'], {'abba', 'bba', 'aab'}, Fraction(1, 2), 1)
def test_closest_names_whatever_a_block_holds(queries, names, least, cells):
    """Fewer cells than names, too: then a block is one query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('mediaeval_ap.discovery_2015.BLOCK_CELLS', cells)
        chosen, ratios = closest_names(queries, sorted(names), float(least))
    for query, name, ratio in zip(queries, chosen, ratios.tolist(), strict=True):
        share, best = min((-oracle.ratio(query, each), each) for each in names)
        assert (name, ratio) == ((best, float(-share)) if -share > least else (None, 0.0))

"""A session is saved and restored; a damaged file is an error."""

import dataclasses
import json
import random

import pyarrow.parquet
import pytest
import strategies
from live_sessions import ROW, campaign, check_live, order_of, quiet

from mediaeval_ap import AveragePrecision, definitions
from mediaeval_ap.errors import (
    FormatError,
    ParameterError,
    ReadError,
    UnknownQueriesWarning,
    WriteError,
)
from mediaeval_ap.tables import REFERENCE


@pytest.mark.parametrize(
    ('definition', 'subset'),
    [('mediaeval-2016', [('x', 'v'), ('x', 'w')]), *((name, None) for name in definitions.names())],
)
@quiet
def test_a_restored_session_is_equal(definition, subset, tmp_path):
    chance = random.Random(6)  # fixed: one session, not a search
    reference, hypotheses = campaign(chance, 200)
    hypotheses += [('y', 'v0', '1', 'ab', -0.0), ('x', 'v', 'é', 'nan', 1e-300), ROW, ROW]
    reference.append(ROW[:4])
    K = strategies.allowed([7, 'all', 3], definition)
    average_precision = AveragePrecision(
        [*reference, reference[0]], K, definition=definition, subset=subset
    )
    live = average_precision.live(hypotheses)
    live.save(tmp_path / 'live.parquet')
    restored = AveragePrecision.restore(tmp_path / 'live.parquet')
    assert len(restored) == len(live)
    assert restored.evaluate().to_dict() == live.evaluate().to_dict()
    for query in [*average_precision.queries[:9], 'zz']:
        assert restored.send(query) == live.send(query)
        assert order_of(restored, query) == order_of(live, query)
    for session in (live, restored):  # also what does not count is there
        session.discard(('y', 'v0', '1', 'ab', 0.0))
        session.discard(ROW)
    assert restored.evaluate().ap.tolist() == live.evaluate().ap.tolist()
    check_live(restored)


def test_an_empty_session_is_saved_and_restored(tmp_path):
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10]).live().save(path)
    restored = AveragePrecision.restore(path)
    assert len(restored) == 0
    restored.add(ROW)
    assert restored.send('ann') == ([1.0], 1)


def test_a_session_of_version_0_2_is_restored(tmp_path):
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10]).live([ROW]).save(path)

    def as_written_before(metadata):
        del metadata['queries_without_relevant'], metadata['elsewhere']
        return {**metadata, 'format': 1}

    saved_with(path, as_written_before)
    restored = AveragePrecision.restore(path)
    assert repr(restored) == repr(AveragePrecision([ROW[:4]], [10]).live([ROW]))


def test_a_restored_session_knows_the_names_outside_the_subset(tmp_path):
    path = tmp_path / 'live.parquet'
    reference = [ROW[:4], ('x', 'elsewhere', '1', 'bob')]
    average_precision = AveragePrecision(reference, [10], subset=[ROW[:2]])
    average_precision.live([ROW]).save(path)
    assert average_precision.evaluate(path).map.tolist() == [1.0]  # the file is a run, too
    restored = AveragePrecision.restore(path)
    assert restored.send('bob').n_relevant == 0  # without the warning that there is no such name
    with pytest.warns(UnknownQueriesWarning, match="nearest: 'bob'"):
        restored.send('bop')


def test_definitions_of_ones_own_are_restored(tmp_path, monkeypatch):
    own = dataclasses.replace(definitions.get('trec'), name='own', denominator=('k',))
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10], definition=own).live([ROW]).save(path)
    assert AveragePrecision.restore(path).evaluate().definition == own
    monkeypatch.setattr(definitions, '_REGISTRY', {'own': dataclasses.replace(own, depth=('R',))})
    with pytest.raises(FormatError, match=r'metadata: found .definition own is S'):
        AveragePrecision.restore(path)


def saved_with(path, change):
    """A saved session whose metadata somebody changed."""
    table = pyarrow.parquet.read_table(path)
    metadata = json.loads(table.schema.metadata[b'mediaeval_ap.live'])
    text = json.dumps(change(metadata)) if callable(change) else change
    table = table.replace_schema_metadata({b'mediaeval_ap.live': text})
    pyarrow.parquet.write_table(table, path)


ELSEWHERE = {'columns': {'corpus_id': ['x'], 'video_id': ['w']}, 'name': 's', 'sha256': None}


COLUMNS_OF_TEXT = dict.fromkeys(REFERENCE.fields, 'xv')


def with_reference(**changes):
    return lambda metadata: {**metadata, 'reference': {**metadata['reference'], **changes}}


def with_definition(**changes):
    return lambda metadata: {**metadata, 'definition': {**metadata['definition'], **changes}}


@pytest.mark.parametrize(
    ('change', 'found'),
    [
        ('{', 'Expecting property name'),
        (lambda metadata: {**metadata, 'format': 4}, 'format 4, not 3'),
        (
            lambda metadata: {**metadata, 'queries_without_relevant': 'drop'},
            "queries_without_relevant: found .*'drop",
        ),
        (lambda metadata: {**metadata, 'reference': {}}, 'columns'),
        (lambda metadata: {**metadata, 'subset': {'columns': {'corpus_id': ['x']}}}, 'video_id'),
        (lambda metadata: {**metadata, 'subset': ELSEWHERE}, 'no row of the reference'),
        (lambda metadata: {**metadata, 'K': None}, 'K: '),
        (lambda metadata: {**metadata, 'K': [5, 5]}, 'K: found 5 twice'),
        (
            lambda metadata: {
                **metadata,
                'K': ['all'],
                'definition': {**metadata['definition'], 'name': 'own', 'denominator': ['k']},
            },
            'own divides by k',
        ),
        (with_reference(name=5), 'name'),
        (with_reference(name='\ud800'), 'JSON, reference.name: found half of a char'),
        (with_reference(sha256=7), 'digest'),
        (with_reference(columns=COLUMNS_OF_TEXT), 'in place of a list'),
        (with_reference(columns={field: [7] for field in COLUMNS_OF_TEXT}), 'corpus_id'),
        (with_definition(name=7), 'name: found 7'),
        (with_definition(depth='k'), 'in place of a list'),
        (with_definition(more=1), 'unexpected keyword'),
        (lambda metadata: {**metadata, 'K': {'1': 1}}, 'K: '),
        ('{"format": 1, "K": [' + '1' * 5000 + ']}', 'too many digits'),
        ('{"format": ' + '[' * 500 + ']' * 500 + '}', 'format'),
    ],
)
def test_damaged_metadata_are_an_error(change, found, tmp_path):
    path = tmp_path / 'live.parquet'
    AveragePrecision([ROW[:4]], [10]).live([ROW]).save(path)
    saved_with(path, change)
    with pytest.raises(FormatError, match=f'live.parquet, metadata: found .*{found}'):
        AveragePrecision.restore(path)


def test_files_of_another_kind_are_an_error(tmp_path):
    path = tmp_path / 'run.parquet'
    pyarrow.parquet.write_table(pyarrow.table({'a': [1]}), path)
    with pytest.raises(FormatError, match='found no saved session'):
        AveragePrecision.restore(path)
    path.write_bytes(b'PAR1')
    with pytest.raises(ReadError, match='not readable as Parquet'):
        AveragePrecision.restore(path)
    with pytest.raises(ReadError, match='No such file'):
        AveragePrecision.restore(tmp_path / 'nothing')


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / 'live.parquet'
    live = AveragePrecision([ROW[:4]], [10]).live([ROW])
    live.save(path)
    before = path.read_bytes()
    live.add(ROW)
    with pytest.raises(WriteError, match='Not a directory'):
        live.save(path / 'below')
    with pytest.raises(WriteError, match='no path holds a NUL'):
        live.save('a\0b')
    monkeypatch.setattr('mediaeval_ap.live.saved.LARGEST_METADATA', 100)
    with pytest.raises(WriteError, match='too large to be saved'):
        live.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_path_is_not_restored():
    with pytest.raises(ParameterError, match="found b'run', expected a path or an open file"):
        AveragePrecision.restore(b'run')

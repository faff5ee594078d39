"""Names of runs: short, distinct for distinct paths, and the same in any order."""

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_kinds import challenge

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, challenges, evaluate_trec
from mediaeval_ap.errors import ParameterError
from mediaeval_ap.results.run_names import run_names

NAMES = {
    'runs/a.txt': 'a',
    'runs/a.v1.txt.gz': 'a.v1',
    'run.store/': 'run',
    '.txt': '.txt',
    'a_0.5 b_0.5': 'a_0.5 b_0.5',
    'a.v1.txt b.v1.txt': 'a.v1 b.v1',
    'runs/a.txt runs/b.csv': 'a b',
    'runs/a.txt old/a.txt.gz b.csv': 'a.txt a.txt.gz b',
    'x/run.txt y/run.txt y/run.csv z.txt': 'x/run y/run.txt run.csv z',
    'a/run.txt b/run.txt c/other.txt': 'a/run b/run other',
    'x/a/run.txt y/a/run.txt b/run.txt': 'x/a/run y/a/run b/run',
    'run a/run /a/run': 'run a/run /a/run',
    'runs/a.txt -': 'a <stdin>',
    'a.txt a.txt b.txt': 'a a b',
    'team=runs/a.txt runs/b.txt': 'team b',
    'b=runs/a.txt runs/b.txt': 'b b.txt',
    'b=x b.txt=y runs/b.txt': 'b b.txt runs/b',
}
PARTS = st.sampled_from(['a', 'b', 'a.txt', 'b.txt', 'a.txt.gz', '.txt', '..', 'a.1', '-'])
PATHS = st.lists(
    st.builds(
        lambda root, parts: root + '/'.join(parts),
        st.sampled_from(['', '/']),
        st.lists(PARTS, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


def names_of(text):
    named = [each.rpartition('=') for each in text.split()]
    return run_names([path for *_, path in named], [name for name, *_ in named])


@pytest.mark.parametrize('paths', NAMES)
def test_names(paths):
    assert names_of(paths) == NAMES[paths].split()


@pytest.mark.parametrize('paths', ['a=x a=y', 'b=x b.txt=y b.txt'])
def test_equal_names_are_refused(paths):
    with pytest.raises(ParameterError, match=r"^runs: found '.*' twice, expected each name once$"):
        names_of(paths)


@given(PATHS, st.randoms())
def test_names_are_the_ends_of_paths_and_tell_them_apart(paths, random):
    names = dict(zip(paths, run_names(paths), strict=True))
    assert len(set(names.values())) == len({PurePath(path) for path in paths})
    for path, name in names.items():
        assert name == '<stdin>' if path == '-' else name in str(PurePath(path))
    shuffled = random.sample(paths, len(paths))
    assert dict(zip(shuffled, run_names(shuffled), strict=True)) == names


@given(PATHS, PATHS)
def test_a_run_that_collides_with_none_keeps_its_name(paths, others):
    """The file names of the others do not matter: next year's baseline has the name of this one."""
    stems = {path: run_names([f'/{PurePath(path).name}'])[0] for path in [*paths, *others]}
    for path, name in zip(paths, run_names([*paths, *others]), strict=False):
        same = {PurePath(other) for other, stem in stems.items() if stem == stems[path]}
        if len(same) == 1 and path != '-':
            assert name == stems[path]


def test_results_take_a_name():
    ann = ('v', '1', 'ann')
    average_precision = AveragePrecision([('x', *ann)], [1])
    discovery = PersonDiscovery2015([ann[:2]], [ann])
    for named in (
        average_precision.evaluate([('x', *ann, 0.5)], name='a_1'),
        average_precision.explain([('x', *ann, 0.5)], name='a_1'),
        discovery.evaluate([(*ann, 0.5)], name='a_1'),
        evaluate_trec({'7': {'d': 1}}, {'7': {'d': 0.5}}, 1, name='a_1'),
        *average_precision.explain_at([('x', *ann, 0.5)], name='a_1'),
        average_precision.live([('x', *ann, 0.5)]).evaluate(name='a_1'),
        challenge(challenges.evaluate_map, 'fashion', name='a_1'),
        challenge(challenges.evaluate_first_hit, 'whales', name='a_1'),
        challenge(challenges.evaluate_gap, 'landmarks', name='a_1'),
        challenge(challenges.evaluate_lrap, 'sounds', name='a_1'),
    ):
        assert named.run == named.to_dict()['run'] == 'a_1'
    assert average_precision.evaluate([('x', *ann, 0.5)]).run == '<hypothesis>'
    with pytest.raises(ParameterError, match=r"^name: found '', expected non-empty text"):
        average_precision.evaluate([('x', *ann, 0.5)], name='')

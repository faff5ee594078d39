"""The data goes one way: nothing imports what stands to its right."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mediaeval_ap

PACKAGE = Path(mediaeval_ap.__file__).parent
LAYERS = [
    {'errors', 'text'},
    {'definitions', 'files', 'keys', 'policies', 'progress', 'tables'},
    {'names', 'order', 'shots', 'validation'},
    {'nearest'},
    {'ranking'},
    {'relevance'},
    {'overlap'},
    {'metrics'},
    {'scoring'},
    {'session'},
    {'evaluation'},
    {'evaluation_2015', 'task'},
    {'live', 'trec'},
    {'challenges', 'discovery_2015', 'evaluator'},
    {'report'},
    {'cli'},
    {'__main__'},
]
DEPTH = {room: depth for depth, rooms in enumerate(LAYERS) for room in rooms}
INNER = {
    'tables': [
        'layouts',
        'columns',
        'format',
        'causes',
        'lines',
        'strict',
        'decompression',
        'sources',
        'following',
        'bulk',
        'arrow',
        'pages',
        'parquet',
        'rows',
        'csv_text',
        'records',
        '__init__',
        'arriving',
        'places',
        'lenient',
    ],
    'metrics': [
        'accumulator',
        'threads',
        'exact_sums',
        'labels',
        'numbers',
        'matching',
        'ranked_hits',
        'label_ranks',
        'tied_ranks',
        'at_k',
        'first_hit',
        'label_ranking',
        'one_list',
        '__init__',
    ],
    'challenges': [
        'words',
        'alignment',
        'global_list',
        'label_scores',
        'ranked_lists',
        '__init__',
    ],
    'live': [
        'growing',
        'known_shots',
        'hypotheses',
        'live_ranking',
        'standing',
        'watching',
        'saved',
        'session',
        '__init__',
    ],
    'cli': [
        'edge',
        'options',
        'campaign',
        'discovery_2015',
        'siblings',
        'trec',
        'validating',
        'watching',
        '__init__',
    ],
    'trec': ['entries', 'evaluating', 'exporting', 'measures', '__init__'],
    'validation': [
        'kinds',
        'campaigns',
        'problems',
        'rows',
        'near_names',
        'hypotheses',
        'person_names',
        'evidence',
        'comparisons',
        '__init__',
    ],
    'report': [
        'grids',
        'answers',
        'definitions',
        'discovery_2015',
        'evaluations',
        'points',
        'problems',
        'rankings',
        'scores',
        '__init__',
    ],
}
MODULES = sorted(PACKAGE.rglob('*.py'))


def imports(path):
    """Modules of the package that a module imports, at its top or in a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        assert not getattr(node, 'level', 0), 'imports within the package are absolute'
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('mediaeval_ap'):
            if node.module == 'mediaeval_ap':
                yield from (f'mediaeval_ap.{alias.name}' for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith('mediaeval_ap'))


@pytest.mark.parametrize('path', MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_run_forward(path):
    room, *inner = path.relative_to(PACKAGE).with_suffix('').parts
    if room == '__init__':  # names everything, imports nothing before it is used
        return
    for module in imports(path):
        target, *target_inner = module.split('.')[1:]
        if target == '__version__':
            continue
        if target != room:
            assert DEPTH[target] < DEPTH[room], f'{path.name} imports {module}'
        elif inner and target_inner:
            order = INNER[room]
            assert order.index(target_inner[0]) < order.index(inner[0]), f'{inner[0]}: {module}'


def test_every_module_has_its_place():
    rooms = {path.relative_to(PACKAGE).with_suffix('').parts[0] for path in MODULES}
    assert rooms - {'__init__'} == set(DEPTH)
    for package, modules in INNER.items():
        assert sorted(modules) == sorted(path.stem for path in (PACKAGE / package).glob('*.py'))


def test_every_room_is_in_the_design():
    page = (PACKAGE.parent / 'docs/design.md').read_text()
    rooms = re.findall(r'^\| `([a-z_0-9]+)(?:\.py|/)` \|', page, re.MULTILINE)
    assert sorted(rooms) == sorted(set(DEPTH) - {'__main__'})


def modules_after(code):
    """The modules that a fresh interpreter has loaded after some code."""
    script = f'import sys\n{code}\nprint(*sys.modules, file=sys.stderr)'
    done = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_importing_the_package_imports_nothing_else():
    loaded = modules_after('import mediaeval_ap')
    assert not loaded & {'numpy', 'pandas', 'pyarrow', 'rapidfuzz', 'click'}
    assert not {name for name in loaded if name.startswith('mediaeval_ap.')}


def test_table_path_needs_neither_pandas_nor_pyarrow(tmp_path):
    reference, run = tmp_path / 'reference.txt', tmp_path / 'run.txt'
    reference.write_text('x v 1 ann\n')
    run.write_text('x v 1 ann 0.5\n')
    loaded = modules_after(
        'from mediaeval_ap.cli import main\n'
        f'main(["evaluate", {str(reference)!r}, {str(run)!r}], standalone_mode=False)'
    )
    assert 'mediaeval_ap.evaluator' in loaded
    assert not loaded & {'pandas', 'pyarrow', 'tqdm'}


def test_help_needs_no_numpy():
    loaded = modules_after('from mediaeval_ap.cli import main')
    assert not loaded & {'numpy', 'pandas', 'pyarrow', 'rapidfuzz'}


def test_trec_files_need_no_pandas(tmp_path):
    """Which pyarrow's own ways from and to arrays import first, and which takes longer than all."""
    qrels, run = tmp_path / 'qrels', tmp_path / 'run'
    qrels.write_text('7 0 d1 1\n')
    run.write_text('7 Q0 d1 1 0.5 me\n')
    loaded = modules_after(
        f'from mediaeval_ap import evaluate_trec\nevaluate_trec({str(qrels)!r}, {str(run)!r})'
    )
    assert 'pyarrow' in loaded
    assert 'pandas' not in loaded

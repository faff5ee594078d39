"""Imports go down: no package imports one of a higher layer, and no circle of modules exists."""

import ast
import html
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest
from project.house import DRAWN, LAYER, MODULES, PACKAGE, ROOMS, graph_of_rooms, imports, picture

from mediaeval_ap.cli import main


def test_imports_go_down():
    for module in MODULES.keys() - {'__init__'}:
        layer = LAYER[module.split('.')[0]]
        upwards = [each for each in imports(MODULES[module]) if LAYER[each.split('.')[0]] > layer]
        assert upwards == [], f'{module} imports {upwards}'


def order_of(graph):
    """The nodes of a graph, each behind those that it needs."""
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f'a circle of imports: {" → ".join(error.args[1])}')


def test_no_circle_of_modules():
    graph = {module: set(imports(path)) for module, path in MODULES.items()}
    assert set(order_of(graph)) >= MODULES.keys()


def test_no_circle_of_rooms():
    assert set(order_of(graph_of_rooms())) == set(ROOMS)


def test_the_picture_of_the_design_is_that_of_the_imports():
    assert f'```mermaid\n{picture()}```' in (PACKAGE.parent / 'docs/design.md').read_text()


def test_the_drawn_picture_has_the_same_rooms_and_arrows():
    arrows = [line.strip().replace('-->', '->') for line in picture().splitlines() if '-->' in line]
    drawn = {html.unescape(each) for each in re.findall('<title>(.*)</title>', DRAWN.read_text())}
    layers = {f'cluster_layer{number}' for number in LAYER.values()}
    assert drawn == {*ROOMS, *(arrow.replace(' ', '') for arrow in arrows), *layers, 'layers'}


def test_every_room_has_a_layer():
    assert sorted(LAYER) == ROOMS


# The public names, and those of a package whose names are imported when they are first used.
ALLOWED_NAMES = ('__all__', '(__getattr__, __dir__, __all__)')


def test_packages_hold_nothing_but_imports():
    for path in PACKAGE.rglob('*/__init__.py'):
        for node in ast.parse(path.read_text()).body[1:]:
            assert isinstance(node, ast.Import | ast.ImportFrom) or (
                isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ALLOWED_NAMES
            ), path


# What takes long to import, or comes with an extra; it is imported where it is used.
HEAVY = {'pandas', 'pyarrow', 'scipy', 'altair', 'jinja2', 'vl_convert', 'dask'}
COMMANDS = sorted(main.commands)


def modules_after(code):
    """The modules that a fresh interpreter has loaded after some code."""
    script = f'import sys\n{code}\nprint(*sys.modules, file=sys.stderr)'
    done = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_importing_the_package_imports_nothing_else():
    loaded = modules_after('import mediaeval_ap')
    assert not loaded & {*HEAVY, 'numpy', 'rapidfuzz', 'click'}
    assert not {name for name in loaded if name.startswith('mediaeval_ap.')}


@pytest.mark.parametrize('command', ['evaluate', 'explain'])
def test_table_path_needs_nothing_heavy(command, tmp_path):
    reference, run = tmp_path / 'reference.txt', tmp_path / 'run.txt'
    reference.write_text('x v 1 ann\n')
    run.write_text('x v 1 ann 0.5\n')
    loaded = modules_after(
        'from mediaeval_ap.cli import main\n'
        f'main([{command!r}, {str(reference)!r}, {str(run)!r}], standalone_mode=False)'
    )
    assert 'mediaeval_ap.average_precision' in loaded
    assert not loaded & {*HEAVY, 'tqdm'}


def test_help_needs_no_numpy():
    """The help of the command, and of each of its commands, one after another."""
    loaded = modules_after(
        'from mediaeval_ap.cli import main\n'
        f'for command in [[], *([each] for each in {COMMANDS})]:\n'
        '    main([*command, "--help"], standalone_mode=False)'
    )
    assert 'mediaeval_ap.cli.evaluate' in loaded
    assert not loaded & {*HEAVY, 'numpy', 'rapidfuzz'}


def test_trec_files_need_nothing_heavy(tmp_path):
    """Nor do comments, blank lines and more spaces than one."""
    qrels, run = tmp_path / 'qrels', tmp_path / 'run'
    qrels.write_text('7 0 d1 1\n')
    run.write_text('# mine\n\n7  Q0 d1 1 5e-1 me\r\n')
    loaded = modules_after(
        f'from mediaeval_ap import evaluate_trec\nevaluate_trec({str(qrels)!r}, {str(run)!r})'
    )
    assert 'mediaeval_ap.trec.entries' in loaded
    assert not loaded & {*HEAVY}

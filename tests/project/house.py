"""The layers of the package, and its imports as they stand in the code.

Draw them: `python tests/project/house.py` prints the picture of `docs/design.md`, in Mermaid, and
draws that of the site by Graphviz.
"""

import ast
import re
import subprocess
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / 'mediaeval_ap'
DRAWN = PACKAGE.parent / 'docs/images/layers.svg'
LAYERS = [
    set('arrays atomic_files choices cores definitions errors progress render'.split()),
    {'tables'},
    {'metrics', 'ranking'},
    {'evaluation', 'results', 'store', 'validation'},
    {'campaign', 'challenges', 'comparison', 'diagnosis', 'execute', 'judging', 'live', 'trec'},
    {'average_precision', 'discovery_2015', 'evaluator', 'saved_results', 'trec_topics'},
    {'compat'},
    {'cli'},
    {'__main__'},
]
LAYER = {room: layer for layer, rooms in enumerate(LAYERS) for room in rooms}


def module_of(path):
    return '.'.join(path.relative_to(PACKAGE).with_suffix('').parts).removesuffix('.__init__')


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob('*.py'))}
ROOMS = sorted({module.split('.')[0] for module in MODULES} - {'__init__'})


@cache
def imports(path):
    """The modules that a module imports: at its top, in a function, or for types alone."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        assert not node.level, f'{path}, line {node.lineno}: a relative import'
        base, _, module = (node.module or '').partition('.')
        for alias in node.names if base == 'mediaeval_ap' else ():
            inner = f'{module}.{alias.name}'.lstrip('.')
            if inner in MODULES or module:
                found.append(inner if inner in MODULES else module)
    return found


def graph_of_rooms():
    """The rooms (packages, and modules beside them), each with those that it imports."""
    graph = {room: set() for room in ROOMS}
    for module, path in MODULES.items():
        room = module.split('.')[0]
        if room != '__init__':
            graph[room] |= {each.split('.')[0] for each in imports(path)} - {room}
    return graph


def without_shortcuts(graph):
    """The arrows of a graph that no longer way stands for."""
    below = {}
    for room in TopologicalSorter(graph).static_order():
        below[room] = set().union(*({each} | below[each] for each in graph[room]))
    return {
        room: {each for each in needed if not any(each in below[other] for other in needed)}
        for room, needed in graph.items()
    }


def picture():
    """The layers, highest first, with an arrow from each room to those that it stands on."""
    lines = ['flowchart TB']
    for layer, rooms in reversed(list(enumerate(LAYERS))):
        lines.append(f'    subgraph layer{layer} [" "]')
        lines += [f'        {room}' for room in sorted(rooms)]
        lines.append('    end')
    for room, needed in sorted(without_shortcuts(graph_of_rooms()).items()):
        lines += [f'    {room} --> {each}' for each in sorted(needed)]
    return '\n'.join(lines) + '\n'


def as_svg():
    """The same, drawn by Graphviz (`dot`), with colours for pages on white and on black."""
    style = 'shape=box style=rounded color="#808080" fontcolor="#808080" fontname="sans-serif"'
    graph = picture().partition('\n')[2].replace('-->', '->').replace('    end\n', '    }\n')
    graph = re.sub(r'subgraph (\w+) \[" "\]', r'subgraph cluster_\1 { color="#80808060"', graph)
    head = f'bgcolor=transparent node [{style}] edge [color="#808080"]'
    digraph = f'digraph layers {{\n{head}\n{graph}}}\n'
    return subprocess.run(
        ['dot', '-Tsvg'], input=digraph, capture_output=True, check=True, text=True
    ).stdout


if __name__ == '__main__':
    print(picture(), end='')
    DRAWN.write_text(as_svg())

"""What the package promises about its public names."""

import ast
import importlib
import inspect
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import mediaeval_ap

NAMESPACES = [
    *('challenges', 'definitions', 'errors', 'metrics', 'tables'),
    'compat.ir_measures',
]


def test_no_other_attribute():
    with pytest.raises(AttributeError, match='nothing'):
        _ = mediaeval_ap.nothing
    assert dir(mediaeval_ap) == sorted(mediaeval_ap.__all__)


def public_objects():
    """Every public class and function, once."""
    names = {name: getattr(mediaeval_ap, name) for name in mediaeval_ap.__all__}
    for namespace in NAMESPACES:
        module = importlib.import_module(f'mediaeval_ap.{namespace}')
        names |= {f'{namespace}.{name}': getattr(module, name) for name in module.__all__}
    functions_and_classes = {
        value: name
        for name, value in names.items()
        if inspect.isroutine(value) or inspect.isclass(value)
    }
    return [pytest.param(value, id=name) for value, name in functions_and_classes.items()]


def imported(path):
    """The packages that a module imports or requires, without those of Python and its own."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ('require', 'errors.require'):
            names = [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
        else:
            continue
        yield from {name.split('.')[0] for name in names} - sys.stdlib_module_names - {PACKAGE.name}


PACKAGE = Path(mediaeval_ap.__file__).parent


def test_what_is_imported_is_declared():
    """As a dependency, or in an extra of the package itself; others are of its workshop."""
    project = tomllib.loads((PACKAGE.parent / 'pyproject.toml').read_text())['project']
    declared = list(project['dependencies'])
    for extra in 'cluster', 'compare', 'report', 'trec':
        declared += project['optional-dependencies'][extra]
    declared = {re.match('[A-Za-z0-9-]+', each)[0].lower() for each in declared}
    if 'python-levenshtein' in declared:  # its module comes with the package that it requires
        declared.add('levenshtein')
    distributions = packages_distributions()
    found = {name for path in PACKAGE.rglob('*.py') for name in imported(path)}
    assert {'numpy', 'scipy', 'altair', 'ir_measures'} <= found
    for name in found - {'_typeshed'}:  # only type checkers know it
        by = {each.lower().replace('_', '-') for each in distributions[name]}
        assert by & declared, f'{name} is imported, and not declared'


@pytest.mark.parametrize('value', public_objects())
def test_public_names_are_documented(value):
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        assert '>>> ' in value.__doc__, 'an example'
    # By the names in the class: Python 3.14 keeps a function `annotate` as `__annotate_func__`.
    methods = vars(value) if inspect.isclass(value) else {value.__name__: value}
    for name, function in methods.items():
        if name.startswith('_') or not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        documentation = inspect.getdoc(function)
        for parameter in signature.parameters.keys() - {'self'}:
            documented = re.search(
                rf'^(.*, )?\**{parameter}(, .*)?( : .+)?$', documentation, re.MULTILINE
            )
            assert documented, f'{function.__qualname__}: {parameter}'
        if signature.return_annotation != 'None':
            assert re.search('^(Returns|Yields)\n-', documentation, re.MULTILINE), function

"""What the package promises about its public names."""

import importlib
import inspect
import re

import pytest

import mediaeval_ap

NAMESPACES = ['challenges', 'definitions', 'errors', 'metrics', 'tables']


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


def methods(cls):
    """The public methods that a class defines itself."""
    return [
        value
        for name, value in vars(cls).items()
        if inspect.isfunction(value) and not name.startswith('_')
    ]


@pytest.mark.parametrize('value', public_objects())
def test_public_names_are_documented(value):
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        assert '>>> ' in value.__doc__, 'an example'
    for function in methods(value) if inspect.isclass(value) else [value]:
        signature = inspect.signature(function)
        documentation = inspect.getdoc(function)
        for name in signature.parameters.keys() - {'self'}:
            documented = re.search(
                rf'^(.*, )?\**{name}(, .*)?( : .+)?$', documentation, re.MULTILINE
            )
            assert documented, f'{function.__qualname__}: {name}'
        if signature.return_annotation != 'None':
            assert re.search('^(Returns|Yields)\n-', documentation, re.MULTILINE), function

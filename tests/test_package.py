"""The package's own promises about its names."""

import importlib
import inspect
import pkgutil
import re

import click
import pytest

import mediaeval_ap

MODULES = [
    module.name
    for module in pkgutil.walk_packages(mediaeval_ap.__path__, 'mediaeval_ap.')
    if not module.name.endswith('__main__')
]


@pytest.mark.parametrize('name', ['mediaeval_ap', *MODULES])
def test_all_is_sorted_and_there(name):
    module = importlib.import_module(name)

    def key(name):
        return not name.isupper(), not name[0].isupper(), name

    assert module.__all__ == sorted(module.__all__, key=key)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, each) for each in module.__all__)


def test_no_other_attribute():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mediaeval_ap.nothing
    assert dir(mediaeval_ap) == mediaeval_ap.__all__


def public_objects():
    """Every public class and function, once, where it is defined."""
    for name in MODULES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if getattr(value, '__module__', None) == name:
                yield pytest.param(value, id=f'{name}.{public}')


def methods(cls):
    """The public methods that a class defines itself."""
    return [
        value
        for name, value in vars(cls).items()
        if inspect.isfunction(value) and not name.startswith('_')
    ]


@pytest.mark.parametrize('value', list(public_objects()))
def test_public_names_are_documented(value):
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    if not (is_error or isinstance(value, click.Command)):
        assert '>>> ' in value.__doc__, 'an example'
    functions = methods(value) if inspect.isclass(value) else [value]
    for function in filter(inspect.isfunction, functions):
        signature = inspect.signature(function)
        documentation = inspect.getdoc(function)
        for name in signature.parameters.keys() - {'self'}:
            documented = re.search(
                rf'^(.*, )?\**{name}(, .*)?( : .+)?$', documentation, re.MULTILINE
            )
            assert documented, f'{function.__qualname__}: {name}'
        if signature.return_annotation != 'None':
            assert re.search('^(Returns|Yields)\n-', documentation, re.MULTILINE), function

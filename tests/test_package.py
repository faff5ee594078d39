"""The package's own promises about its names."""

import importlib
import pkgutil

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
    key = lambda name: (not name.isupper(), not name[0].isupper(), name)  # noqa: E731
    assert module.__all__ == sorted(module.__all__, key=key)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, each) for each in module.__all__)


def test_no_other_attribute():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mediaeval_ap.nothing  # noqa: B018
    assert dir(mediaeval_ap) == mediaeval_ap.__all__

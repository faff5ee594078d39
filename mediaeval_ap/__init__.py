"""Evaluate person discovery: rank shots for a name and report average precision at K.

`__init__.pyi` lists the public names. Each is imported at its first use, so that the command can
handle signals and show its help before numpy is loaded.
"""

TYPE_CHECKING = False  # importing typing would delay the moment when the command handles signals
if TYPE_CHECKING:
    from typing import Any

__version__ = '0.2.0'


def __getattr__(name: str) -> 'Any':
    from lazy_loader import attach_stub

    find, _, names = attach_stub(__name__, __file__)
    return ['__version__', *names] if name == '__all__' else find(name)


def __dir__() -> list[str]:
    return __getattr__('__all__')

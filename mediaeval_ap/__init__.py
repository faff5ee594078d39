"""Evaluate person discovery: rank shots for a name and report average precision at K.

`__init__.pyi` lists the public names. Each is imported when it is first used, so that the command
can take signals, and show its help, before numpy is loaded.
"""

TYPE_CHECKING = False  # as of typing, without its import: the command takes signals after this one
if TYPE_CHECKING:
    from typing import Any

__version__ = '0.2.0'


def __getattr__(name: str) -> 'Any':
    from lazy_loader import attach_stub

    find, _, names = attach_stub(__name__, __file__)
    return ['__version__', *names] if name == '__all__' else find(name)


def __dir__() -> list[str]:
    return __getattr__('__all__')

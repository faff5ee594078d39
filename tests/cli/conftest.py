"""The folder that tests of commands work in."""

from commands import folder

__all__ = ['folder']

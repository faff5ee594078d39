"""The campaign that tests of blocks work in."""

from block_folders import campaign

__all__ = ['campaign']

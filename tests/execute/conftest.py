"""The campaign that tests of blocks work in."""

import pytest
from block_folders import campaign

from mediaeval_ap import AveragePrecision

__all__ = ['campaign']


@pytest.fixture
def average_precision(campaign):
    return AveragePrecision('reference.txt', [5], definition='trec')

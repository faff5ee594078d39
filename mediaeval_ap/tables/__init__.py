"""Tables of references, hypotheses, subsets and queries: text, frames and rows to columns.

==================  ==================================================================
constant            value
==================  ==================================================================
``REFERENCE``       the layout ``corpus_id video_id shot_id person_name``
``HYPOTHESIS``      the same with ``confidence``
``SUBSET``          the layout ``corpus_id video_id``
``QUERIES``         the layout ``person_name``
``STANDARD_INPUT``  the path that stands for standard input: ``'-'``
==================  ==================================================================
"""

from mediaeval_ap.tables.layouts import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, Layout
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.sources import STANDARD_INPUT
from mediaeval_ap.tables.table import Column, Source, Table
from mediaeval_ap.tables.text.format import parse_line

__all__ = [
    'HYPOTHESIS',
    'QUERIES',
    'REFERENCE',
    'STANDARD_INPUT',
    'SUBSET',
    'Column',
    'Layout',
    'Source',
    'Table',
    'parse_line',
    'read',
]

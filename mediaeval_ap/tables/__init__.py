"""Tables of references, hypotheses, subsets and queries: text, frames and rows to columns."""

from mediaeval_ap.choices import MAX_BYTES
from mediaeval_ap.tables.byte_sources import STANDARD_INPUT
from mediaeval_ap.tables.growing_files import arriving
from mediaeval_ap.tables.layouts import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, Layout
from mediaeval_ap.tables.line_format import parse_line
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.table import Column, Source, Table

__all__ = [
    'HYPOTHESIS',
    'MAX_BYTES',
    'QUERIES',
    'REFERENCE',
    'STANDARD_INPUT',
    'SUBSET',
    'Column',
    'Layout',
    'Source',
    'Table',
    'arriving',
    'parse_line',
    'read',
]

"""Tables of references, hypotheses, subsets and queries: text, frames and rows to columns."""

from mediaeval_ap.tables.layouts import HYPOTHESIS, QUERIES, REFERENCE, SUBSET, Layout
from mediaeval_ap.tables.line_format import Wrong, is_finite_decimal, no_rows, parse_line
from mediaeval_ap.tables.lines import numbered
from mediaeval_ap.tables.reading import BULK_BYTES, error_at, has_all_fields, is_rows, read
from mediaeval_ap.tables.sources import MAX_BYTES, STANDARD_INPUT, standard_input
from mediaeval_ap.tables.table import Column, Source, Table

__all__ = [
    'BULK_BYTES',
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
    'Wrong',
    'error_at',
    'has_all_fields',
    'is_finite_decimal',
    'is_rows',
    'no_rows',
    'numbered',
    'parse_line',
    'read',
    'standard_input',
]

"""Tables of references, hypotheses, subsets and queries, read from text, frames or rows.

==================  ==================================================================
constant            value
==================  ==================================================================
``REFERENCE``       the layout ``corpus_id video_id shot_id person_name``
``HYPOTHESIS``      the same with ``confidence``
``SUBSET``          the layout ``corpus_id video_id``
``QUERIES``         the layout ``person_name``
``STANDARD_INPUT``  the path of standard input: ``'-'``
==================  ==================================================================
"""

from mediaeval_ap.tables.layouts import HYPOTHESIS, QUERIES, REFERENCE, SUBSET
from mediaeval_ap.tables.layouts import Layout as Layout
from mediaeval_ap.tables.reading import read
from mediaeval_ap.tables.sources import STANDARD_INPUT
from mediaeval_ap.tables.table import Column as Column
from mediaeval_ap.tables.table import Provenance as Provenance
from mediaeval_ap.tables.table import Table
from mediaeval_ap.tables.text.reader import parse_line as parse_line

# The other imports are for modules of this package.
__all__ = ['HYPOTHESIS', 'QUERIES', 'REFERENCE', 'STANDARD_INPUT', 'SUBSET', 'Table', 'read']

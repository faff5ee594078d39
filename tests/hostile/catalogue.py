"""The catalogue of hostile files."""

from hostile.containers import CONTAINERS
from hostile.lines import LINES
from hostile.tables import TABLES
from hostile.trec import TREC_FILES

CATALOGUE = [*LINES, *CONTAINERS, *TABLES, *TREC_FILES]

"""The parts of a loss, in the order of their repairs, with what each is."""

from __future__ import annotations

PARTS = {
    'repeats': 'shots that count again (negative: a gain)',
    'ties': 'shots under the query, behind equal confidence',
    'confidence': 'shots under the query, behind higher confidence',
    'spelling': 'shots found only under a near spelling',
    'confused': 'shots found only under a wrong person',
    'part_of_name': 'shots found only under part of the name',
    'noise': 'shots found only under a name of nobody',
    'copresent': 'shots found only under others shown in them',
    'absent': 'shots that were not returned',
    'cutoff': 'what no ranking reaches at this cutoff',
    'unanswerable': 'queries without a relevant shot',
}

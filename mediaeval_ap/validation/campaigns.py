"""The fields of each file of a submission, by campaign and by role, the roles in their order."""

from __future__ import annotations

from mediaeval_ap.choices import Campaign
from mediaeval_ap.tables import layouts
from mediaeval_ap.tables.layouts import Layout

ROLES = ('hypothesis', 'shots', 'videos', 'evidence', 'reference')
_LAYOUTS_2016 = {
    'hypothesis': layouts.HYPOTHESIS,
    'shots': layouts.SHOTS,
    'videos': layouts.SUBSET,
    'evidence': layouts.EVIDENCE,
    'reference': layouts.REFERENCE,
}
LAYOUTS: dict[Campaign, dict[str, Layout]] = {
    '2015': {
        'hypothesis': layouts.HYPOTHESIS_2015,
        'shots': layouts.SHOTS_2015,
        'videos': layouts.SUBSET_2015,
        'evidence': layouts.EVIDENCE_2015,
        'reference': layouts.REFERENCE_2015,
    },
    '2016': _LAYOUTS_2016,
    'none': _LAYOUTS_2016,
}

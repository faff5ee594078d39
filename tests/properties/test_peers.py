"""Other evaluators agree where the definitions are theirs: exact names, no ties."""

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from mediaeval_ap import AveragePrecision

# Some of the runs that are drawn have no shot of the reference, and are told so.
pytestmark = pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.NoOverlapWarning')

NAMES = ['ann', 'bob', 'cleo']
CUTOFFS = [5, 10, 15, 20, 30, 100]  # those of map_cut
# Both sum quotients of integers in doubles, in their own order.
ROUNDING = 1e-12

shots = st.integers(0, 40)
relevant = st.fixed_dictionaries({name: st.sets(shots, min_size=1) for name in NAMES})
returned = st.fixed_dictionaries(
    {name: st.lists(shots, unique=True, min_size=1, max_size=40) for name in NAMES}
)


def corpora(relevant, returned):
    """Each name in videos of its own, so that a query's ranking begins with all that bears it."""
    reference = [('x', name, str(shot), name) for name in NAMES for shot in relevant[name]]
    run = [
        ('x', name, str(shot), name, float(-rank))
        for name in NAMES
        for rank, shot in enumerate(returned[name])
    ]
    return reference, run


@given(relevant, returned)
def test_trec_is_map_cut(relevant, returned):
    reference, run = corpora(relevant, returned)
    evaluation = AveragePrecision(reference, CUTOFFS, definition='trec').evaluate(run)
    qrel = {name: {str(shot): 1 for shot in relevant[name]} for name in NAMES}
    results = pytrec_eval.RelevanceEvaluator(qrel, {'map_cut'}).evaluate(
        {
            name: {str(shot): float(-rank) for rank, shot in enumerate(returned[name])}
            for name in NAMES
        }
    )
    for name, ap in zip(evaluation.queries, evaluation.ap, strict=True):
        expected = [results[name][f'map_cut_{k}'] for k in CUTOFFS]
        assert ap.tolist() == pytest.approx(expected, abs=ROUNDING)

"""Small corpora full of ties, repeats, and names at equal distances."""

from hypothesis import settings
from hypothesis import strategies as st


def examples(times):
    """So many times the examples of the profile that is loaded, quick or thorough."""
    return settings(max_examples=int(times * settings().max_examples))


names = st.text('ab', min_size=1, max_size=4) | st.sampled_from(
    ['nan', 'é', 'ab\xa0b', '?unknown?']
)
corpora = st.sampled_from(['x', 'y'])
videos = st.sampled_from(['v', 'w', 'nan'])
shots = st.sampled_from(['1', '01', '2', '10', '9', 'a', 'B', '1a', '١'])
confidences = st.sampled_from([0.0, -0.0, 0.5, 0.1, 1.0, -2.5, 1e300, 5e-324])

reference_rows = st.lists(st.tuples(corpora, videos, shots, names), min_size=1, max_size=12)
fields = (corpora, videos, shots, names, confidences)
hypothesis_rows = st.lists(st.tuples(*fields), min_size=1, max_size=25)
cutoffs = st.lists(st.integers(1, 30) | st.just('all'), min_size=1, max_size=4, unique=True)


def allowed(K, definition):
    """Those of the cutoffs that a definition has, or another one."""
    return [k for k in K if k != 'all' or definition != 'by-k'] or [7]


subsets = st.none() | st.sets(st.tuples(corpora, videos), min_size=1)

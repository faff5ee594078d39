"""The sample files are what the script makes, and what their README says."""

import subprocess
import sys
from pathlib import Path

import pytest

from mediaeval_ap import AveragePrecision

SAMPLES = Path(__file__).parents[2] / 'samples'
HIT_RANKS = {
    'nicolas_sarkozy': '3 4 6 8 9 10 11 12 13 15 16 20 21 24 25 27 30 31 33 35 36 39 40 44 45 48 '
    '49 52 54 58 59 61 64 70 75 90 91 95 96 101 104 106',
    'francois_hollande': '2 6 11 13 18 19 23 25 29 32 34 38',
    'alain_juppe': '275',
}
N_RELEVANT = {'nicolas_sarkozy': 116, 'francois_hollande': 26, 'alain_juppe': 2}


@pytest.mark.parametrize(
    ('script', 'folder', 'pattern'),
    [
        ('make_samples.py', SAMPLES, '*.txt'),
        ('make_challenges.py', SAMPLES, '*.csv'),
        ('make_discovery_2015.py', SAMPLES / 'discovery_2015', '*'),
    ],
)
def test_scripts_make_the_files(script, folder, pattern, tmp_path):
    subprocess.run([sys.executable, SAMPLES / script, tmp_path], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in folder.glob(pattern)}


@pytest.mark.parametrize('query', HIT_RANKS)
def test_hits_stand_at_the_published_ranks(query):
    average_precision = AveragePrecision(SAMPLES / 'reference.txt')
    table = average_precision.rank(SAMPLES / 'hypothesis.txt', query, 1000)
    assert table['rank'][table['relevant']].tolist() == list(map(int, HIT_RANKS[query].split()))
    assert table.attrs['n_relevant'] == N_RELEVANT[query]

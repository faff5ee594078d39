"""Results: values by query and in the mean, notes, and a manifest of what they come from."""

from mediaeval_ap.results.evaluation import Evaluation
from mediaeval_ap.results.evaluation_2015 import Evaluation2015
from mediaeval_ap.results.means_and_notes import mean_average_precision, note_of_floor, notes_of
from mediaeval_ap.results.result import describe
from mediaeval_ap.results.score import Basis, Score

__all__ = [
    'Basis',
    'Evaluation',
    'Evaluation2015',
    'Score',
    'describe',
    'mean_average_precision',
    'note_of_floor',
    'notes_of',
]

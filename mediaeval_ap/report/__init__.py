"""Results for eyes and for programs: aligned text, Markdown, LaTeX, CSV, JSON and JSON lines."""

from mediaeval_ap.files import write_whole
from mediaeval_ap.report.answers import ANSWER_FORMATS, render_answer, render_refusal
from mediaeval_ap.report.definitions import DEFINITION_FORMATS, render_definitions
from mediaeval_ap.report.discovery_2015 import render_evaluation_2015
from mediaeval_ap.report.evaluations import render_evaluations
from mediaeval_ap.report.grids import FORMATS
from mediaeval_ap.report.points import (
    POINT_FORMATS,
    point_cells,
    point_headers,
    render_point,
    render_point_headers,
)
from mediaeval_ap.report.problems import PROBLEM_FORMATS, SHOWN_PROBLEMS, render_problems
from mediaeval_ap.report.rankings import render_ranking
from mediaeval_ap.report.scores import render_score

__all__ = [
    'ANSWER_FORMATS',
    'DEFINITION_FORMATS',
    'FORMATS',
    'POINT_FORMATS',
    'PROBLEM_FORMATS',
    'SHOWN_PROBLEMS',
    'point_cells',
    'point_headers',
    'render_answer',
    'render_definitions',
    'render_evaluation_2015',
    'render_evaluations',
    'render_point',
    'render_point_headers',
    'render_problems',
    'render_ranking',
    'render_refusal',
    'render_score',
    'write_whole',
]

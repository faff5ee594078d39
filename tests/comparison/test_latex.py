"""The LaTeX of a comparison compiles, and shows each name as it is."""

import shutil
import subprocess

import pytest

from mediaeval_ap import AveragePrecision, compare
from mediaeval_ap.render.formats import render

DOCUMENT = r"""\documentclass[%s]{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\usepackage{booktabs}
\pdfcompresslevel=0
\setlength{\textwidth}{%s}
\setlength{\columnsep}{10mm}
\begin{document}
Table~\ref{tab:comparison}.
%s
\end{document}
"""
HOSTILE = [
    r'a_b&c%d#e$f{g}h\i^j~k',
    '[x]*',
    '*y',
    'a--b---c',
    '`q\'s "x" <t> |p|',
    '?` !`',
    'a%b}',
    r'$x^2$ \input{x} \end{tabular}',
    'émile–ü … † ≤',
    'a\x1bb',
]
RUNS = ['eumssi_contrastive2', 'gtm-uvigo_primary', 'tokyotech_primary']

pytestmark = pytest.mark.skipif(not shutil.which('pdflatex'), reason='needs pdflatex and booktabs')


def comparison(names, K=(1, 10, 100, 'all'), **options):
    """Runs of falling worth on sixty queries."""
    reference = [('x', 'v', str(shot), f'name_{shot}') for shot in range(60)]
    scorer = AveragePrecision(reference, K, definition='trec')
    right = [(*row, 0.5) for row in reference]
    results = {name: scorer.evaluate(right[: 60 - 5 * row]) for row, name in enumerate(names)}
    return compare(results, **options)


def compiled(text, folder, layout='', width='122mm'):
    """The log of a document that shows the text; it fails if LaTeX does."""
    (folder / 'paper.tex').write_text(DOCUMENT % (layout, width, text))
    command = ['pdflatex', '-interaction=nonstopmode', '-halt-on-error', 'paper.tex']
    for _ in range(2):  # for the reference to the table
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


@pytest.mark.filterwarnings('ignore::mediaeval_ap.errors.DataWarning')
@pytest.mark.parametrize(
    ('K', 'options', 'layout'),
    [
        ([1, 10, 100, 'all'], {'correction': 'bh', 'by': 'relevant'}, ['', '122mm']),
        ([10, 100], {}, ['twocolumn', '178mm']),  # columns of 84 mm
        ([1, 10, 100, 'all'], {}, ['twocolumn', '178mm']),
        ([10, 100], {'baseline': RUNS[0]}, ['twocolumn', '178mm']),
    ],
)
def test_tables_fit_on_the_page(tmp_path, K, options, layout):
    log = compiled(comparison(RUNS, K, **options).to_latex(), tmp_path, *layout)
    assert 'undefined' not in log
    assert 'Overfull' not in log


def test_hostile_names(tmp_path):
    """An unescaped name would break the document."""
    query = HOSTILE[0]
    run = [('x', 'v', '1', 'an_&%$', 0.5), ('x', 'v', '2', query, 0.5)]
    of_query = AveragePrecision([('x', 'v', '1', query)]).explain(run).of(query).to_latex()
    found = comparison(HOSTILE, baseline=query)
    text = render(found.document(pairs=True), 'latex')
    assert text.count(r'\label{') == 5  # runs, and pairs by four metrics
    assert 'undefined' not in compiled(found.to_latex() + of_query, tmp_path)
    if shutil.which('pdftotext'):
        command = ['pdftotext', '-layout', 'paper.pdf', '-']
        shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        words = ''.join(shown.stdout.split())
        for name in HOSTILE[:8]:
            assert ''.join(name.split()) in words

"""The site: `python -m sphinx -W --keep-going docs docs/_build`."""

import os
import re
from pathlib import Path

import mediaeval_ap
from mediaeval_ap import __version__, definitions, errors, metrics, tables

HERE = Path(__file__).parent
ROOT = HERE.parent

project = 'mediaeval_ap'
author = 'the authors of mediaeval_ap'
release = version = __version__
extensions = [
    'myst_parser',
    'numpydoc',
    'sphinx.ext.autodoc',
    'sphinx.ext.autosummary',
    'sphinx.ext.intersphinx',
    'sphinx_copybutton',
]
exclude_patterns = ['_build']
templates_path = ['_templates']
copybutton_prompt_text = r'>>> |\.\.\. |\$ '
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True  # what a command prints is not copied
smartquotes = False  # -- is an option, and quotes are data
myst_heading_anchors = 4

html_theme = 'furo'
html_title = f'mediaeval_ap {release}'
html_favicon = 'images/icon.svg'
html_static_path = ['_static']
html_css_files = ['site.css']
html_copy_source = html_show_sourcelink = html_show_copyright = False

default_role = 'py:obj'
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'  # the docstrings say more
autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False  # each method is on the page of its class
numpydoc_xref_param_type = True
numpydoc_xref_ignore = 'all'  # words but those of the next tables
numpydoc_xref_aliases = {
    'bool': ':class:`python:bool`',
    'callable': ':class:`callable <python:collections.abc.Callable>`',
    'iterable': ':class:`iterable <python:collections.abc.Iterable>`',
    'mapping': ':class:`mapping <python:collections.abc.Mapping>`',
    'sequence': ':class:`sequence <python:collections.abc.Sequence>`',
    'path-like': ':class:`path-like <python:os.PathLike>`',
    'DataFrame': 'pandas.DataFrame',
}
for module in definitions, errors, metrics, tables, mediaeval_ap:  # the last has its own page
    classes = [name for name in module.__all__ if name[0].isupper() and not name.isupper()]
    numpydoc_xref_aliases |= {name: f'{module.__name__}.{name}' for name in classes}

# What a build needs of other projects' inventories is here: it asks no other site.
intersphinx_mapping = {
    'python': ('https://docs.python.org/3/', 'inventories/python.inv'),
    'numpy': ('https://numpy.org/doc/stable/', 'inventories/numpy.inv'),
    'pandas': ('https://pandas.pydata.org/docs/', 'inventories/pandas.inv'),
}

# Pages of the repository that are also pages of the site.
PAGES = {
    ROOT / 'README.md': 'index.md',
    ROOT / 'CONTRIBUTING.md': 'contributing.md',
    ROOT / 'CHANGELOG.md': 'changes.md',
    ROOT / 'samples/README.md': 'samples.md',
    ROOT / 'benchmarks/README.md': 'benchmarks.md',
} | {path: f'benchmarks.md#{path.stem}' for path in (ROOT / 'benchmarks/results').glob('*.md')}
# What people search for by a name that other pages have as well: the page that explains it. More
# stands in index.md.
EXPLAINED = {
    'batches': 'Dask, SLURM, --jobs, --resume, memory, parallel, multiprocessing',
    'comparison': 'significance, confidence interval, p-value, effect size, baseline, Holm',
    'definitions': 'definition, temporal rank, cutoff, K, AP@k, AP above 1, duplicates',
    'diagnosis': 'error analysis, loss',
    'embeddings': 'numpy, torch, cosine similarity, re-identification, hashing',
    'global-ap': 'GAP',
    'input': 'CSV, Parquet, warning, exit status, polars, pandas, frame, BOM, CRLF, Excel',
    'judging': 'unjudged, pooling, annotation',
    'label-ranking': 'LRAP, lwlrap, make_scorer, scikit-learn',
    'macro-ap': 'macro AP, PR-AUC-macro, multi-label',
    'map-at-k': 'MAP@12, first-hit MAP',
    'measures': 'MAP, MRR, mean reciprocal rank, nDCG, recall, precision, infAP, CMC, hit rate, '
    'detection, IoU',
    'migration': 'pytrec_eval, ranx, BEIR, MTEB, sklearn',
    'published-figures': 'MediaEval 2016, reproduce',
    'report': 'plot, figure, HTML, leaderboard, precision-recall curve',
    'reference/json-schemas': 'JSON, schema',
    'scores': 'seed, accuracy, F1, word error rate, lm-evaluation-harness',
    'statistics': 'Wilcoxon, t-test, Bonferroni, bootstrap, sign flip, power',
    'store': 'store, index a run',
    'trec': 'trec_eval, qrels, ir_measures, xinfAP, ties, missing topics',
    'tutorials/score-a-campaign': 'folder of runs, submissions',
    'tutorials/is-my-system-better': 'LaTeX, paper',
    'tutorials/scores-and-gate': 'gate, CI, pytest, GitHub Actions, regression',
    'tutorials/scoring-program': 'Codabench, CodaLab, EvalAI, TIRA, leaderboard of a platform',
    'validation': 'validate, error message, wrong line',
}
# What a reader makes; all else comes from a call.
CONSTRUCTED = {
    *('AveragePrecision', 'Definition', 'PersonDiscovery2015', 'TrecTopics'),
    *(name for name in metrics.__all__ if name != 'Accumulator'),
}
FOR_CONTRIBUTORS = {'design', 'benchmarks', 'contributing', 'changes', 'contributors'}
LINK = re.compile(r'(?<=\]\()(?!https?:)([^)#\s]+\.md)')
MERMAID = re.compile(r'^```mermaid\n.*?^```$', re.MULTILINE | re.DOTALL)
LAYERS = '![The imports between packages and modules](images/layers.svg)'  # the same picture


def for_the_site(text, path, page):
    """Point the links of a file at pages of the site, with a picture drawn for Mermaid."""

    def link(match):
        target = (path.parent / match[1]).resolve()
        return os.path.relpath(HERE / PAGES.get(target, target), page.parent)

    return MERMAID.sub(LAYERS, LINK.sub(link, text))


def read_page(app, docname, source):
    path = Path(app.env.doc2path(docname))
    source[0] = for_the_site(source[0], path, path)
    if words := EXPLAINED.get(docname):
        entries = ', '.join(f'! {each}' for each in words.split(', '))
        title, _, rest = source[0].partition('\n')
        source[0] = f'{title}\n\n```{{index}} {entries}\n```\n{rest}'


def read_included(app, path, docname, content):
    """All pages that include another file are at the top of the site."""
    content[0] = for_the_site(content[0], (HERE / path).resolve(), HERE / docname)


def leave_out_of_search(app, doctree):
    if app.env.docname in FOR_CONTRIBUTORS:
        app.env.metadata[app.env.docname]['nosearch'] = True


def hide_constructor(app, what, name, class_, options, signature, returned):
    is_class = what in ('class', 'exception')
    if signature and is_class and name.rpartition('.')[2] not in CONSTRUCTED:
        return '', ''
    return None


def setup(app):
    app.connect('autodoc-process-signature', hide_constructor)
    app.connect('doctree-read', leave_out_of_search)
    app.connect('source-read', read_page)
    app.connect('include-read', read_included)

"""Score runs of public repositories, and compare each figure that they print, digit by digit.

FOLDER has clones as `OWNER+NAME`; `--how` prints the commands that make them. `published.toml` has
the sources. A figure that is not equal is computed again, in each way that its source lists.
"""

import argparse
import gzip
import io
import re
import subprocess
import tarfile
import tomllib
import warnings
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import machine
import numpy as np

from mediaeval_ap import errors, evaluate_macro_ap, evaluate_trec
from mediaeval_ap.metrics import class_average_precision

Source = dict[str, Any]
Scores = dict[tuple[str, str], float]  # by topic, 'all' for the mean, and measure
SOURCES = Path(__file__).with_suffix('.toml')
TIES = ['as stated', 'trec_eval', 'expected']  # of the source, in double precision, all orders
DEFAULTS = {'K': ['all'], 'missing': 'zero', 'unknown': 'drop'}
RULES = {
    'rounded': lambda value, n: f'{value:.{n}f}',
    'rounded twice': lambda value, n: f'{float(f"{value:.{n + 1}f}"):.{n}f}',
    'cut off': lambda value, n: f'{int(value * 10**n) / 10**n:.{n}f}',
}


def git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(['git', '-C', clone, *arguments], capture_output=True).stdout


@cache
def names(clone: Path) -> list[str]:
    """Return the paths of the commit, also of files that a partial clone lacks."""
    listed = git(clone, 'ls-tree', '-rz', '--name-only', 'HEAD')
    return sorted(listed.decode(errors='replace').split('\0')[:-1])


def located(source: Source, address: str) -> tuple[Path, str, str, str]:
    """Return clone, older commit or '', path, and member of an archive or ''."""
    before, _, path = address.rpartition(':')
    repository, commit = (before, '') if '/' in before else (source['repository'], before)
    path, _, member = path.partition('!')
    return source['folder'] / repository.replace('/', '+'), commit, path, member


def is_there(source: Source, address: str) -> bool:
    clone, _, path, _ = located(source, address)
    return (clone / path).exists()


def contents(source: Source, address: str) -> bytes:
    clone, commit, path, member = located(source, address)
    data = git(clone, 'show', f'{commit}:{path}') if commit else (clone / path).read_bytes()
    if path.endswith('.tar.gz'):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            return b''.join(file.read() for file in map(archive.extractfile, archive) if file)
    if member:
        return zipfile.ZipFile(io.BytesIO(data)).read(member)
    return gzip.decompress(data) if path.endswith('.gz') else data


def text(source: Source, address: str) -> str:
    """Return a file up to a zero byte, where trec_eval stops; Latin-1 keeps the order of bytes."""
    before, zero, _ = contents(source, address).decode('latin-1').partition('\0')
    return before.rpartition('\n')[0] if zero else before


def matches(source: Source, address: str) -> list[tuple[str, dict[str, str]]]:
    """Return the files of the commit that match an address with * and {names}, and their names."""
    clone, _, path, _ = located(source, address)
    pattern = re.escape(path).replace(r'\*\*/', '(?:.*/)?').replace(r'\*', '[^/]*')
    wanted = re.compile(re.sub(r'\\\{(\w+)\\\}', r'(?P<\1>[^/]+?)', pattern), re.IGNORECASE)
    found = filter(None, map(wanted.fullmatch, names(clone)))
    return [(address.replace(path, match[0]), match.groupdict()) for match in found]


def filled(value: Any, words: dict[str, str]) -> Any:
    """Put words for {names} into a text or a list of texts."""
    if isinstance(value, list):
        return [filled(each, words) for each in value]
    for name, word in words.items():
        value = value.replace(f'{{{name}}}', word) if isinstance(value, str) else value
    return value


def parts(source: Source) -> Iterator[Source]:
    """Yield the source for each of its `each`, with all {names} but those of files filled in."""
    for each in source.get('each', [{}]):
        words = {name: word for name, word in (source | each).items() if isinstance(word, str)}
        part = {key: filled(value, words) for key, value in (source | each).items()}
        options = DEFAULTS | source.get('options', {}) | each.get('options', {})
        name = ' '.join([source['name'], *[*each.values()][:1]])
        yield part | {'options': options, 'name': name}


def table(source: Source, address: str, row: str | None, value: int | None = None) -> Any:
    """Return a matrix, TREC files as one, or rows: those without a value have it, or their rank."""
    paths = [path for path, _ in matches(source, address)]
    if address.endswith('.npy'):
        return np.load(io.BytesIO(contents(source, paths[0]))).astype(float)
    whole = '\n'.join(text(source, path) for path in paths)
    if not row:
        return whole.encode()
    rows: dict[tuple[str, str, float], None] = {}  # each once
    for rank, match in enumerate(re.finditer(row, whole, re.MULTILINE)):
        found = {'topic': '1', 'value': str(value or -rank)} | match.groupdict()
        rows[found['topic'], found['document'], float(found['value'])] = None
    return list(rows)


def scores(source: Source, qrels: Any, run: Any, **changes: Any) -> Scores:
    options = source['options'] | changes
    if isinstance(run, np.ndarray):
        ties: Any = 'expected' if options.get('ties') == 'expected' else 'threshold'
        macro = evaluate_macro_ap(qrels, run, ties=ties).value
        micro = class_average_precision(qrels.reshape(-1, 1), run.reshape(-1, 1), ties=ties).item()
        return {('all', 'macro'): macro, ('all', 'micro'): micro}
    qrels, run = (io.BytesIO(each) if isinstance(each, bytes) else each for each in (qrels, run))
    try:
        evaluation = evaluate_trec(qrels, run, options.pop('K'), **options)
    except errors.FormatError:  # such as an empty file
        return {}
    found = {('all', name): mean or 0 for name, mean in evaluation.mean_measures.items()}
    for k, mean, values in zip(evaluation.K, evaluation.map, evaluation.ap.T, strict=True):
        name = f'AP@{k}'.removesuffix('@all')
        topics = zip(evaluation.queries, values.tolist(), strict=True)
        found |= {(topic, name): value for topic, value in topics} | {('all', name): mean.item()}
    return found


def printed(source: Source) -> dict[str, Any]:
    """Return, by the label of a run, the {names} of its files, and its figures with their keys."""
    lines = [line.split(maxsplit=1) for line in source.get('figures', '').split(';')]
    rows = [{'run': line[0], 'figures': line[1]} for line in lines if line]
    address, expression = source.get('printed', ('', ''))
    for page, words in matches(source, address):
        found = re.finditer(expression, text(source, page), re.MULTILINE)
        rows += [words | match.groupdict() for match in found]
    measures = source['options'].get('measures', '').split()
    measures = measures or [f'AP@{k}'.removesuffix('@all') for k in source['options']['K']]
    runs: dict[str, Any] = {}
    for row in rows:
        topic, measure = row.pop('topic', 'all').replace('ALL', 'all'), row.pop('measure', '')
        measure = measure.replace('map_cut_', 'AP@').replace('map', 'AP')
        figures = re.findall(r'\d+\.\d+', row.pop('figures'))
        _, kept = runs.setdefault('/'.join(row.values()), (row, []))
        named = zip(cycle([measure] if measure else measures), figures, strict=False)
        kept += [((topic, name), figure) for name, figure in named]
    return runs


def repeats_keep_ranks(qrels: Any, run: bytes) -> tuple[Any, Any]:
    rows: dict[tuple[str, str], str] = {}
    for topic, _, document, _, score, _ in map(str.split, run.decode().splitlines()):
        rows[topic, document + ' again' * ((topic, document) in rows)] = score
    return qrels, [(*key, float(score)) for key, score in rows.items()]


CAUSES = {
    'one more topic that scores 0': lambda qrels, run: (qrels + b'\n- 0 - 0', run),
    'repeats keep their ranks': repeats_keep_ranks,
}


def seconds(source: Source, words: dict[str, str], qrels: Any, run: Any) -> dict[str, Scores]:
    """Return the scores of a run with other files, and in other ways."""
    found: dict[str, Scores] = {}
    for address in filled(source.get('instead', []), words):
        for path, _ in matches(source, address):
            there = is_there(source, path)
            other = table(source, path, source.get('run_row')) if there else b''
            found[f'`{path}`' + ' (absent)' * (not there)] = scores(source, qrels, other)
    for cause in source.get('causes', []):
        found[cause] = scores(source, *CAUSES[cause](qrels, run))
    return found


def checked(source: Source) -> tuple[Counter[str], list[list[str]], list[str]]:
    """Return the counts of a source, its figures that are not equal, and files that are absent."""
    warnings.simplefilter('ignore')
    counts, unequal, absent, tables = Counter[str](), [], [], dict[str, Any]()
    row, rules = source.get('run_row'), ['rounded', *source.get('rules', [])]
    has_ties = 'measures' not in source['options'] and '<value>' in (row or '<value>')

    def is_same(found: Scores, key: tuple[str, str], figure: str, rule: str = 'rounded') -> bool:
        digits = source.get('digits', len(figure.partition('.')[2]))
        return key in found and RULES[rule](found[key], digits) == f'{float(figure):.{digits}f}'

    for label, (words, figures) in printed(source).items():
        truth, *runs = filled(source['files'], words)
        paths = [path for each in runs for path, _ in matches(source, each)]
        if not paths or not is_there(source, paths[0]):
            absent.append(paths[0] if paths else label)
            continue
        if truth not in tables:
            tables[truth] = table(source, truth, source.get('qrels_row'), value=1)
        qrels, run = tables[truth], table(source, paths[0], row)
        ours, tried = scores(source, qrels, run), dict[str, Scores]()
        by_ties = dict.fromkeys(TIES, ours)
        if has_ties:
            by_ties |= {ties: scores(source, qrels, run, ties=ties) for ties in TIES[1:]}
        counts += Counter(runs=1, figures=len(figures))
        for key, figure in figures:
            counts += Counter(ties for ties in TIES if is_same(by_ties[ties], key, figure))
            if is_same(ours, key, figure):
                continue
            tried = tried or {'the same run': ours} | seconds(source, words, qrels, run)
            ways = [(name, rule) for name in tried for rule in rules]
            hits = [way for way in ways if is_same(tried[way[0]], key, figure, way[1])]
            cause = 'not found; tried ' * (not hits) + ', '.join([*hits, (*tried, *rules)][0])
            values = ours.get(key), tried[hits[0][0]][key] if hits else None
            shown = ['none' if value is None else f'{value:.6f}' for value in values]
            unequal.append([label, cause, ' '.join([*key, figure]).removeprefix('all '), *shown])
    return counts, unequal, absent


def page(sources: list[Source], results: list[Any], missing: list[str]) -> list[str]:
    """Return tables of sources, of figures that are not equal, and of those that hang on ties."""
    rows, hanging, lacking, total = [], [], [], Counter[str]()
    groups: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for source, (counts, unequal, absent) in zip(sources, results, strict=True):
        counts['not equal'] = counts['figures'] - counts[TIES[0]]
        total += counts
        name, where = source['name'], source.get('where', source.get('printed', ['README.md'])[0])
        shown = [f'{counts[each]:,}' for each in ('figures', *TIES, 'runs', 'not equal')]
        options = [item for item in source['options'].items() if item not in DEFAULTS.items()]
        by = ', '.join(f'{option} {value}' for option, value in options)
        about = f'[{name}]({source["link"]})', f'`{where}`', by
        rows.append([*about, shown[4], *shown[:2], shown[5]])
        hanging += [[name, *shown[:4]]] * (len(set(shown[1:4])) > 1)
        lacking += [f'- {name}: {len(absent)} runs, such as `{path}`' for path in absent[:1]]
        for run, cause, *cells in unequal:
            groups[name, run, cause].append(cells)
    lacking += [f'- {name}: no clone, or at another commit' for name in missing]
    wrong = [
        [*key, str(len(cells)), *map('<br>'.join, zip(*cells[:4], strict=True))]
        for key, cells in groups.items()
    ]
    return [
        f'{len(rows)} sources, {total["runs"]:,} runs, {total["figures"]:,} figures: '
        f'{total["as stated"]:,} equal in all printed digits, {total["not equal"]:,} not.',
        machine.table('source|printed in|options|runs|figures|equal|not equal'.split('|'), rows),
        '#### Not equal',
        machine.table('source|run|cause|figures|printed|ours|second'.split('|'), wrong),
        '#### Figures that hang on ties',
        machine.table(['source', 'figures', *TIES], hanging),
        '#### Without a file here',
        '\n'.join(lacking),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, nargs='?', default=Path(), help='with the clones')
    parser.add_argument('--how', action='store_true', help='print the commands that make them')
    given = parser.parse_args()
    tables = tomllib.loads(SOURCES.read_text())
    words, missing, sources = tables.pop('expressions'), [], list[Source]()
    for key in tables:
        repository, commit = key.split()[0].split('@')
        clone = given.folder / repository.replace('/', '+')
        if given.how:
            print(f'git clone https://github.com/{repository} {clone}')
            print(f'git -C {clone} checkout {commit}')
        elif git(clone, 'rev-parse', 'HEAD').decode().strip() != commit:
            missing.append(repository)
    if given.how:
        return
    for key, source in tables.items():
        repository, commit, *year = re.split('[@ ]', key)
        link = f'https://github.com/{repository}/tree/{commit}'
        at = {'folder': given.folder, 'repository': repository, 'link': link}
        if source and not any(name in f'{key} {source}' for name in missing):
            sources += parts(words | source | at | {'name': ' '.join([repository, *year])})
    results = []
    with ProcessPoolExecutor() as pool:
        for source, result in zip(sources, pool.map(checked, sources), strict=True):
            print(source['name'], dict(result[0]), flush=True)
            results.append(result)
    machine.write_page('published', page(sources, results, missing), ['mediaeval_ap'])


if __name__ == '__main__':
    main()

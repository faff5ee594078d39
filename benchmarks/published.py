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
from pathlib import Path
from typing import Any

import machine
import numpy as np

import mediaeval_ap as package

Source = dict[str, Any]
File = tuple[Path, str, str, str]  # clone, older commit or '', path, member of an archive or ''
Scores = dict[tuple[str, str], float]  # by topic, 'all' for the mean, and measure
SOURCES = Path(__file__).with_suffix('.toml')
TIES = ['as stated', 'trec_eval', 'expected']  # of the source, in double precision, all orders
ARRAYS = 'macro AP and micro AP, ties by threshold'
RULES: dict[str, Any] = {
    'rounded': lambda value, digits: value,
    'rounded twice': lambda value, digits: float(f'{value:.{digits + 1}f}'),
    'cut off': lambda value, digits: np.trunc(value * 10**digits) / 10**digits,
    'over 174 topics': lambda value, digits: value * 173 / 174,
    'the next double': lambda value, digits: np.nextafter(value, 1),
}
LABELS = {'true': '1', 'false': '0'}


def git(clone: Path, *arguments: str) -> bytes:
    """Return the output of a git command in a clone."""
    return subprocess.run(['git', '-C', clone, *arguments], capture_output=True).stdout


@cache
def paths(clone: Path) -> list[str]:
    """Return the paths of the files in a clone; a partial one lacks large files."""
    return sorted(str(path.relative_to(clone)) for path in clone.rglob('*') if path.is_file())


@cache
def members(clone: Path) -> list[str]:
    """Return ARCHIVE!MEMBER for each file in the ZIP archives of a clone."""
    return [
        f'{path}!{name}'
        for path in paths(clone)
        if path.endswith('.zip')
        for name in zipfile.ZipFile(clone / path).namelist()
    ]


def matches(source: Source, address: str) -> list[tuple[File, dict[str, str]]]:
    """Return the files that match an address with * and {names}, and their names."""
    before, _, path = address.rpartition(':')
    repository, commit = (before, '') if '/' in before else (source['repository'], before)
    clone = source['clone'].with_name(repository.replace('/', '+'))
    pattern = re.escape(path).replace(r'\*\*/', '(?:.*/)?').replace(r'\*', '[^/]*')
    named = re.compile(re.sub(r'\\\{(\w+)\\\}', r'(?P<\1>[^/]+?)', pattern), re.IGNORECASE)
    fits = filter(None, map(named.fullmatch, members(clone) if '!' in path else paths(clone)))
    split = [(*match[0].partition('!'), match.groupdict()) for match in fits]
    return [((clone, commit, path, member), words) for path, _, member, words in split]


def contents(file: File) -> bytes:
    """Return a file, decompressed."""
    clone, commit, path, member = file
    data = git(clone, 'show', f'{commit}:{path}') if commit else (clone / path).read_bytes()
    if path.endswith('.tar.gz'):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            return b''.join(item.read() for item in map(archive.extractfile, archive) if item)
    if member:
        return zipfile.ZipFile(io.BytesIO(data)).read(member)
    return gzip.decompress(data) if path.endswith('.gz') else data


def text(file: File) -> str:
    """Return a file up to a zero byte, where trec_eval stops; Latin-1 keeps the order of bytes."""
    before, zero, _ = contents(file).decode('latin-1').partition('\0')
    return before.rpartition('\n')[0] if zero else before


def filled(value: Any, words: dict[str, str]) -> Any:
    """Put words for {names} into a text or a list of texts."""
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    for name, word in words.items():
        value = value.replace('{' + name + '}', word) if isinstance(value, str) else value
    return value


def parts(source: Source) -> Iterator[Source]:
    """Yield each part of a source, with all {names} filled in but those of files."""
    for changes in source.get('parts', [{}]):
        part = source | changes
        words = {name: word for name, word in part.items() if isinstance(word, str)}
        options = source.get('options', {}) | changes.get('options', {})
        name = ' '.join([source['repository'], *[*changes.values()][:1]])
        whole = {key: filled(value, words) for key, value in part.items()}
        yield whole | {'options': options, 'name': name}


def table(files: list[tuple[File, Any]], row: str | None, value: int | None = None) -> Any:
    """Return a matrix, TREC files as one, or rows: those without a value have it, or their rank."""
    if 'npy' in str(files[0]):
        return np.load(io.BytesIO(contents(files[0][0]))).astype(float)
    if not row:
        return '\n'.join(text(file) for file, _ in files).encode()
    rows: dict[tuple[str, str, float], None] = {}  # each once
    for file, words in files:
        for rank, match in enumerate(re.finditer(row, text(file), re.MULTILINE)):
            cells = {'topic': '1', 'value': str(value or -rank)} | words | match.groupdict()
            number = float(LABELS.get(cells['value'], cells['value']))
            rows[cells['topic'], cells['document'], number] = None
    return list(rows)


def scores_of_2015(clone: Path) -> Scores:
    """Return MAP and EwMAP of the baseline of 2015, in per cents."""
    kit, run = f'{clone}/2015.', f'{clone}/baseline.'
    scorer = package.PersonDiscovery2015(
        kit + 'shot', kit + 'ref', evidence_reference=kit + 'eviref', consensus=kit + 'consensus'
    )
    result = scorer.evaluate(run + 'label', run + 'evidence', kit + 'queries')
    return {('all', 'MAP'): 100 * (result.map or 0), ('all', 'EwMAP'): 100 * (result.ewmap or 0)}


def scores(source: Source, truth: Any, run: Any, **changes: Any) -> Scores:
    """Return the values of a run by topic and measure."""
    options = source['options'] | changes
    if isinstance(run, np.ndarray):
        ties: Any = 'expected' if changes == {'ties': 'expected'} else 'threshold'
        macro = package.evaluate_macro_ap(truth, run, ties=ties).value
        micro = package.evaluate_macro_ap(truth.reshape(-1, 1), run.reshape(-1, 1), ties=ties).value
        return {('all', 'macro'): macro, ('all', 'micro'): micro}
    if 'EwMAP' in options.get('measures', ''):
        return scores_of_2015(source['clone'])
    if not run:  # an empty file
        return {}
    truth, run = (io.BytesIO(data) if isinstance(data, bytes) else data for data in (truth, run))
    if 'mediaeval' in options.get('definition', ''):
        scorer = package.AveragePrecision(truth, **options)
        evaluation = scorer.evaluate(run, source['clone'] / 'samples/queries.txt')
    else:
        options = {'K': 'all', 'missing': 'zero', 'unknown': 'drop'} | options
        evaluation = package.evaluate_trec(truth, run, **options)
    values = {('all', name): mean or 0 for name, mean in evaluation.mean_measures.items()}
    for k, mean, ap in zip(evaluation.K, evaluation.map, evaluation.ap.T, strict=True):
        topics = zip(['all', *evaluation.queries], [mean.item(), *ap.tolist()], strict=True)
        values |= {(topic, f'AP@{k}'.removesuffix('@all')): value for topic, value in topics}
    return values


def printed(source: Source) -> dict[str, Any]:
    """Return, by the label of a run, the {names} of its files, and its figures with their keys."""
    listed = re.finditer(r'(?P<run>[^;\s]+)\s+(?P<figures>[\d.\s]+)', source.get('figures', ''))
    rows = [match.groupdict() for match in listed]
    address, expression = source.get('printed', ('', ''))
    for page, words in matches(source, address):
        lines = re.finditer(expression, text(page), re.MULTILINE)
        rows += [words | match.groupdict() for match in lines]
    measures = source['options'].get('measures', '').split()
    cutoffs = [f'AP@{k}'.removesuffix('@all') for k in source['options'].get('K', ['all'])]
    runs: dict[str, Any] = {}
    for row in rows:
        topic, measure = row.pop('topic', None) or 'all', row.pop('measure', None) or ''
        measure = measure.replace('map_cut_', 'AP@').replace('map', 'AP')
        figures = re.findall(r'\d+\.\d+', row.pop('figures'))
        _, kept = runs.setdefault('/'.join(row.values()), (row, []))
        named = zip([measure] if measure else [*measures, *cutoffs], figures, strict=False)
        kept += [((re.sub('(?i)^all$', 'all', topic), name), figure) for name, figure in named]
    return runs


def seconds(source: Source, words: dict[str, str], truth: Any, run: Any) -> dict[str, Scores]:
    """Return the scores with other files, with other ties, and with repeats that keep ranks."""
    tried: dict[str, Scores] = {}
    for address in filled(source.get('instead', []), words):
        files = matches(source, address)
        other = table(files, source.get('run_row')) if files else b''
        tried[f'`{address}`' + ' (absent)' * (not files)] = scores(source, truth, other)
    for ties in source.get('ties_instead', []):
        tried[f'ties {ties}'] = scores(source, truth, run, ties=ties)
    if source.get('repeats_keep_ranks'):
        rows: dict[str, dict[str, float]] = defaultdict(dict)
        for topic, _, document, _, score, _ in map(str.split, run.decode().splitlines()):
            rows[topic][document + ' again' * (document in rows[topic])] = float(score)
        tried['repeats keep their ranks'] = scores(source, truth, rows)
    return tried


def checked(source: Source) -> tuple[Counter[str], dict[Any, list[list[str]]]]:
    """Return the counts of a source, and its figures that are not equal, by run and cause."""
    warnings.simplefilter('ignore')
    counts, unequal = Counter[str](), defaultdict[Any, list[list[str]]](list)
    rules = ['rounded', *source.get('rules', [])]
    other_ties = [] if {'definition', 'measures'} & {*source['options']} else TIES[1:]
    for label, (words, figures) in printed(source).items():
        qrels, *runs = filled(source['files'], words)
        files = [match for address in runs for match in matches(source, address)]
        if not files:
            counts['absent'] += 1
            continue
        truth = table(matches(source, qrels), source.get('qrels_row'), value=1)
        by_topic = [match for match in files if 'topic' in match[1]]
        run = table(by_topic or files[:1], source.get('run_row'))
        ours, tried = scores(source, truth, run), dict[str, Scores]()
        by_ties = dict.fromkeys(TIES, ours)
        by_ties |= {ties: scores(source, truth, run, ties=ties) for ties in other_ties}
        counts += Counter(runs=1, figures=len(figures))
        for key, figure in figures:
            digits = source.get('digits', len(figure.partition('.')[2]))
            shown = f'{float(figure):.{digits}f}'
            equal = [tie for tie in TIES if f'{by_ties[tie].get(key, np.nan):.{digits}f}' == shown]
            counts += Counter(equal if TIES[0] in equal else [*equal, 'not equal'])
            if TIES[0] in equal:
                continue
            tried = tried or {'the same run': ours} | seconds(source, words, truth, run)
            pairs = [(name, rule) for name in tried for rule in rules]
            ways = {pair: RULES[pair[1]](tried[pair[0]].get(key, np.nan), digits) for pair in pairs}
            hits = [way for way in ways if f'{ways[way]:.{digits}f}' == shown]
            counts['no cause'] += not hits
            cause = hits[0] if hits else ('not found; tried the same run', *[*tried][1:], *rules)
            values = ours.get(key, np.nan), ways[hits[0]] if hits else np.nan
            cells = [f'{value:.6f}'.replace('nan', 'none') for value in values]
            name = ' '.join([*key, figure]).removeprefix('all ')
            unequal[source['name'], label, ', '.join(cause)].append([name, *cells])
    return counts, unequal


def page(sources: list[Source], results: list[Any], missing: list[str]) -> list[str]:
    """Return a table of sources, one of figures that are not equal, and a list of absent files."""
    rows, wrong, lacking, total = [], [], [], Counter[str]()
    for source, (counts, unequal) in zip(sources, results, strict=True):
        total += counts
        link = f'https://github.com/{source["repository"]}/tree/{source["commit"]}'
        where = source.get('where', source.get('printed', ['README.md'])[0])
        shown = [f'{counts[name]:,}' for name in ('runs', 'figures', *TIES, 'not equal')]
        shown[3:5] = ['', ''] if {'definition', 'measures'} & {*source['options']} else shown[3:5]
        options = [f'{name.replace("_", " ")} {value}' for name, value in source['options'].items()]
        by = ARRAYS if '.npy' in str(source['files']) else re.sub("[][']", '', ', '.join(options))
        rows.append([f'[{source["name"]}]({link})', f'`{where}`', by, *shown])
        for key, cells in unequal.items():
            wrong.append([*key, str(len(cells)), *map('<br>'.join, zip(*cells[:4], strict=True))])
        lacking += [f'- {source["name"]}: {counts["absent"]} runs'] * (counts['absent'] > 0)
    lacking += [f'- {name}: no clone, or at another commit' for name in missing]
    repositories = {source['repository'] for source in sources}
    headers = 'part|printed in|options|runs|figures|equal|double precision|all orders|not equal'
    return [
        f'{len(repositories)} repositories, {len(rows)} parts, {total["runs"]:,} runs, '
        f'{total["figures"]:,} figures: {total[TIES[0]]:,} equal in all printed digits, '
        f'{total["not equal"]:,} not, {total["no cause"]:,} of them without a cause. '
        'Double precision, all orders: equal with such ties of AP.',
        machine.table(headers.split('|'), rows),
        '#### Not equal',
        machine.table('part|run|cause|figures|printed|ours|second'.split('|'), wrong),
        '#### Without a file here',
        '\n'.join(lacking),
    ]


def main() -> None:
    """Print commands, or score all sources and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, nargs='?', default=Path(), help='with the clones')
    parser.add_argument('--how', action='store_true', help='print the commands that make them')
    arguments = parser.parse_args()
    tables = tomllib.loads(SOURCES.read_text())
    expressions, missing, sources = tables.pop('expressions'), [], list[Source]()
    for key, source in tables.items():
        repository, commit = key.split('@')
        clone = arguments.folder / repository.replace('/', '+')
        source |= {'repository': repository, 'commit': commit, 'clone': clone}
        if arguments.how:
            print(f'git clone https://github.com/{repository} {clone}')
            print(f'git -C {clone} checkout {commit}')
        elif git(clone, 'rev-parse', 'HEAD').decode().strip() != commit:
            missing.append(repository)
    for source in tables.values():
        if 'files' in source and not any(name in str(source) for name in missing):
            sources += parts(expressions | source)
    if arguments.how:
        return
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(checked, sources))
    machine.write_page('published', page(sources, results, missing), ['mediaeval_ap'])


if __name__ == '__main__':
    main()

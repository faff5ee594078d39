"""Describe the machine of a benchmark, and write the results to a file."""

import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

RESULTS = Path(__file__).parent / 'results'
PACKAGES = ['numpy', 'pandas', 'pyarrow', 'rapidfuzz']


def processor() -> str:
    path = Path('/proc/cpuinfo')
    lines = path.read_text().splitlines() if path.exists() else []
    models = [line.split(':')[1].strip() for line in lines if line.startswith('model name')]
    return models[0] if models else platform.processor()


def describe(peers: Sequence[str] = ()) -> str:
    packages = ', '.join(f'{name} {version(name)}' for name in (*PACKAGES, *peers))
    return (
        f'{processor()}, {cpu_count()} cores, {platform.system()}; '
        f'Python {platform.python_version()}, {packages}'
    )


def named(argument: str) -> str:
    """Return an argument of a command; paths of this machine lose their folders."""
    return Path(argument).name if Path(argument).is_absolute() else argument


def command() -> str:
    """Return the command of this process, as typed in the repository."""
    arguments = map(named, sys.argv[1:])
    return ' '.join(['python', f'benchmarks/{Path(sys.argv[0]).name}', *arguments])


def table(headers: list[str], rows: list[list[str]]) -> str:
    lines = [headers, ['---'] * len(headers), *rows]
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines)


def write(
    name: str,
    headers: list[str],
    rows: list[list[str]],
    peers: Sequence[str] = (),
    about: Sequence[str] = (),
) -> None:
    """Print a table of results and write it to a file, with paragraphs about it."""
    text = table(headers, rows)
    print(text)
    write_page(name, [*about, text], peers)


def write_page(name: str, paragraphs: Sequence[str], peers: Sequence[str] = ()) -> None:
    """Write paragraphs of results to a file, with command and machine."""
    RESULTS.mkdir(exist_ok=True)
    text = '\n\n'.join([f'`{command()}`', describe(peers), *paragraphs])
    (RESULTS / f'{name}.md').write_text(f'{text}\n')

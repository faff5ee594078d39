"""Fuzz the readers for as long as you like: `python tests/hostile/fuzz.py --seconds 60`.

With atheris, which follows what the code does with the bytes; it stops at the first defect of a
reader, and keeps its input in the folder, for `--replay`. An input that takes 10 seconds, or 2 GiB,
is a defect as well.
"""

import argparse
import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS_OF_INPUT = 10
SECONDS_TO_BEGIN = 120  # imports are instrumented
MIB_OF_MEMORY = 2048


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """Fuzz one reader in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=['mediaeval_ap']):
        from hostile.targets import TARGETS

    target = TARGETS[name]
    corpus = folder / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f'seed-{number}').write_bytes(seed)
        target(seed)
    end_at_once()
    arguments = [
        *(sys.argv[0], str(corpus), f'-max_total_time={seconds}', '-max_len=4096'),
        *(f'-timeout={SECONDS_OF_INPUT}', f'-rss_limit_mb={MIB_OF_MEMORY}'),
        *(f'-artifact_prefix={corpus}-', '-verbosity=0', '-print_final_stats=1'),
    ]
    atheris.Setup(arguments, target)
    atheris.Fuzz()


def end_at_once() -> None:
    """Skip the clean-up of everything loaded so far when the process ends.

    The fuzzer ends it while it holds the lock of the interpreter, for which a thread of pyarrow may
    wait, for which pyarrow waits.
    """
    this = ctypes.CDLL(None)
    this.on_exit(this._exit, None)


def replay(path: Path) -> None:
    """Read an input that was saved once more."""
    from hostile.targets import TARGETS

    (name,) = (name for name in TARGETS if path.name.startswith(f'{name}-'))
    TARGETS[name](path.read_bytes())


def fuzz_all(names: list[str], folder: Path, seconds: int) -> int:
    """Fuzz readers, a process each, one per core at a time; return the number that fail."""

    def fuzzed(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, __file__, '--one', name]
        return subprocess.run(
            [*command, f'--folder={folder}', f'--seconds={seconds}'],
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + SECONDS_TO_BEGIN + SECONDS_OF_INPUT,
        )

    n_defects = 0
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for name, done in zip(names, threads.map(fuzzed, names), strict=True):
            n_defects += done.returncode != 0
            lines = done.stderr.splitlines()
            counted = [line.split()[-1] for line in lines if 'number_of_executed_units' in line]
            memory = [line.split()[-1] for line in lines if 'peak_rss_mb' in line]
            print(f'{name}: {"".join(counted)} inputs, {"".join(memory)} MiB', flush=True)
            if done.returncode:
                print(done.stdout, done.stderr, sep='\n', flush=True)
    return n_defects


def main() -> None:
    """Do what the arguments say."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('names', nargs='*', help='which readers  [default: all]')
    parser.add_argument('--seconds', type=int, default=60, help='for each reader')
    parser.add_argument('--folder', type=Path, default=Path('fuzzed'), help='where inputs are kept')
    parser.add_argument('--replay', type=Path, help='read this input again')
    parser.add_argument('--one', help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.replay:
        replay(given.replay)
    elif given.one:
        fuzz(given.one, given.folder, given.seconds)
    else:
        from hostile.targets import TARGETS

        sys.exit(fuzz_all(given.names or list(TARGETS), given.folder, given.seconds) > 0)


if __name__ == '__main__':
    main()

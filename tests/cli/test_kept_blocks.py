"""The options `--resume` and `--part` of `evaluate`."""

import re
from pathlib import Path

import pytest
from block_folders import blocks_in, campaign
from commands import output_of, refused, run

EVALUATE = ['evaluate', 'reference.txt', 'run.txt', 'other.txt', '--queries', 'queries.txt']

__all__ = ['campaign']


def evaluate(*options):
    return run(*EVALUATE, '--definition', 'trec', *options)


def after_unknown(text):
    """What is told after the warning of names that the reference of the campaign lacks."""
    first, _, rest = text.partition('\n')
    assert re.fullmatch(
        r'Warning: reference\.txt: 4 of 41 queries are not names in the reference: .*', first
    )
    return rest


@pytest.mark.parametrize('options', [['--sort'], ['--per-query', '--format', 'csv']])
def test_a_folder_alone_shows_what_the_runs_show(campaign, options):
    whole = evaluate(*options)
    assert whole.exit_code == 0
    for _ in range(2):
        resumed = evaluate('--resume', 'out', *options)
        assert (resumed.exit_code, resumed.stdout) == (0, whole.stdout)
        assert resumed.stderr == whole.stderr != ''
    collected = run('evaluate', '--resume', 'out', *options)
    assert (collected.stdout, collected.stderr) == (whole.stdout, after_unknown(whole.stderr))


def test_parts(campaign):
    def told(part, *options):
        result = evaluate('--resume', 'out', '--part', part, '--measures', 'RR', *options)
        assert (result.exit_code, result.stdout) == (0, '')
        return result.stderr

    first = 'Part 1 of 2: computed 14, 0 were there; out has 14 of 28 blocks\n'
    assert after_unknown(told('1/2')) == first
    assert refused('evaluate', '--resume', 'out', '-o', 'map.json', status=1) == (
        'Error: out: 14 of 28 blocks are missing; compute them with evaluate … --resume out\n'
    )
    assert not Path('map.json').exists()
    assert told('40/50') == 'Part 40 of 50: has no block; out has 14 of 28 blocks\n'
    told('2/2')
    again = 'Part 1 of 2: computed 0, 14 were there; out has 28 of 28 blocks\n'
    assert told('1/2') == again
    assert told('1/2', '--quiet') == ''
    output_of('evaluate', '--resume', 'out', '--per-query', '-o', 'parts.json')
    evaluate('--measures', 'RR', '--per-query', '-o', 'whole.json')
    assert Path('parts.json').read_bytes() == Path('whole.json').read_bytes()


WRONG = {
    '--part 1/2': '--part needs --resume DIR, a folder that all parts share',
    '--resume out -': '--resume needs runs that can be read again; found standard input',
    '--resume out --keep-going': 'each other: a folder holds the results of all runs',
    '--resume out --part 1/2 -o map.csv': 'give --output to evaluate --resume DIR, after all parts',
    '--resume out /dev/null': 'found /dev/null as a run, expected a file, which can be read again',
    **{
        f'--resume out --part {part}': f"'--part': found {part!r}, expected I/N with I from 1 to N"
        for part in ('0/2', '3/2', '1', '-1/2', '1/2/3', '٣/٤')
    },
}


@pytest.mark.parametrize('options', WRONG)
def test_wrong_options(campaign, options):
    assert WRONG[options] in refused(*EVALUATE, *options.split())
    assert not Path('out').exists()


@pytest.mark.parametrize('option', ['--queries queries.txt', '-K 1', '--jobs 2'])
def test_a_folder_alone_has_no_options_of_runs(campaign, option):
    error = refused('evaluate', '--resume', 'out', *option.split())
    assert ' needs REFERENCE and RUN: --resume alone combines the results in DIR' in error


def test_files_of_the_folder_are_not_overwritten(campaign):
    evaluate('--resume', 'out')
    before = {path: path.read_bytes() for path in Path('out').iterdir()}
    for path in Path('out/plan.json'), blocks_in(Path('out'))[0]:
        told = f'{path}: it is a file of the folder'
        assert told in refused(*EVALUATE, '--resume', './out', '-o', str(path))
        assert told in refused('evaluate', '--resume', 'out', '-o', f'./{path}')
    assert {path: path.read_bytes() for path in Path('out').iterdir()} == before
    for _ in range(2):
        output_of('evaluate', '--resume', 'out', '-o', 'out/map.json')

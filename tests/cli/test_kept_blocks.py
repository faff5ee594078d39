"""The options `--resume` and `--part` of `evaluate`."""

import re
from pathlib import Path

import pytest
from block_folders import blocks_in, campaign
from commands import run

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


def done(result):
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize('options', [['--sort'], ['--per-query', '--format', 'csv']])
def test_a_folder_alone_shows_what_the_runs_show(campaign, options):
    whole = evaluate(*options)
    resumed = evaluate('--resume', 'out', *options)
    assert (resumed.stdout, resumed.stderr) == (done(whole), whole.stderr) != ('', '')
    collected = run('evaluate', '--resume', 'out', *options)
    assert (collected.exit_code, collected.stdout, collected.stderr) == (
        *(0, whole.stdout, after_unknown(whole.stderr)),
    )
    again = evaluate('--resume', 'out', *options)
    assert (again.exit_code, again.stdout, again.stderr) == (0, whole.stdout, whole.stderr)


def test_parts(campaign):
    first = evaluate('--resume', 'out', '--part', '1/2', '--measures', 'RR')
    told = 'Part 1 of 2: computed 14, 0 were there; out has 14 of 28 blocks\n'
    assert (first.exit_code, first.stdout, after_unknown(first.stderr)) == (0, '', told)
    early = run('evaluate', '--resume', 'out', '-o', 'map.json')
    assert (early.exit_code, early.stdout) == (1, '')
    assert early.stderr == (
        'Error: out: 14 of 28 blocks are missing; compute them with evaluate … --resume out\n'
    )
    assert not Path('map.json').exists()
    none = evaluate('--resume', 'out', '--part', '40/50', '--measures', 'RR')
    told = 'Part 40 of 50: has no block; out has 14 of 28 blocks\n'
    assert (none.exit_code, none.stdout, none.stderr) == (0, '', told)
    assert done(evaluate('--resume', 'out', '--part', '2/2', '--measures', 'RR')) == ''
    again = evaluate('--resume', 'out', '--part', '1/2', '--measures', 'RR')
    told = 'Part 1 of 2: computed 0, 14 were there; out has 28 of 28 blocks\n'
    assert (again.exit_code, again.stdout, again.stderr) == (0, '', told)
    quiet = evaluate('--resume', 'out', '--part', '1/2', '--measures', 'RR', '--quiet')
    assert (quiet.exit_code, quiet.output) == (0, '')
    done(run('evaluate', '--resume', 'out', '--per-query', '-o', 'parts.json'))
    done(evaluate('--measures', 'RR', '--per-query', '-o', 'whole.json'))
    assert Path('parts.json').read_bytes() == Path('whole.json').read_bytes()


WRONG = {
    'no folder': (
        ['--part', '1/2'],
        '--part needs --resume DIR, a folder that all parts share',
    ),
    'standard input': (
        ['--resume', 'out', '-'],
        '--resume needs runs that can be read again; found standard input',
    ),
    'keep going': (
        ['--resume', 'out', '--keep-going'],
        '--keep-going and --resume exclude each other: a folder holds the results of all runs',
    ),
    'output': (
        ['--resume', 'out', '--part', '1/2', '-o', 'map.csv'],
        '--part writes no result: give --output to evaluate --resume DIR, after all parts',
    ),
    'device': (
        ['--resume', 'out', '/dev/null'],
        'resume: found /dev/null as a run, expected a file, which can be read again',
    ),
}


@pytest.mark.parametrize('options', WRONG)
def test_options_that_say_nothing_together(campaign, options):
    arguments, told = WRONG[options]
    result = evaluate(*arguments)
    assert (result.exit_code, result.stdout) == (2, '')
    assert result.stderr.splitlines()[-1] == f'Error: {told}'
    assert not Path('out').exists()


@pytest.mark.parametrize('option', ['--queries queries.txt', '-K 1', '--jobs 2'])
def test_a_folder_alone_has_no_options_of_runs(campaign, option):
    result = run('evaluate', '--resume', 'out', *option.split())
    assert (result.exit_code, result.stdout) == (2, '')
    assert ' needs REFERENCE and RUN: --resume alone combines the results in DIR' in result.stderr


@pytest.mark.parametrize('part', ['0/2', '3/2', '1', '-1/2', '1/2/3', '٣/٤'])
def test_a_part_that_is_none(campaign, part):
    result = evaluate('--resume', 'out', '--part', part)
    assert (result.exit_code, result.stdout) == (2, '')
    told = f"Invalid value for '--part': found {part!r}, expected I/N with I from 1 to N, as 1/8"
    assert result.stderr.splitlines()[-1] == f'Error: {told}'
    assert not Path('out').exists()


def test_files_of_the_folder_are_not_overwritten(campaign):
    done(evaluate('--resume', 'out'))
    before = {path: path.read_bytes() for path in Path('out').iterdir()}
    for path in Path('out/plan.json'), blocks_in(Path('out'))[0]:
        for call in (
            lambda path=path: evaluate('--resume', './out', '-o', str(path)),
            lambda path=path: run('evaluate', '--resume', 'out', '-o', f'./{path}'),
        ):
            result = call()
            assert (result.exit_code, result.stdout) == (2, '')
            told = f'{path}: it is a file of the folder'
            assert told in result.stderr
    assert {path: path.read_bytes() for path in Path('out').iterdir()} == before
    done(run('evaluate', '--resume', 'out', '-o', 'out/map.json'))
    done(run('evaluate', '--resume', 'out', '-o', 'out/map.json'))

"""The files that describe a release agree: version, date, licence, and Pythons that are tested."""

import re
import tomllib
from pathlib import Path

import yaml

from mediaeval_ap import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']
CITATION = yaml.safe_load((ROOT / 'CITATION.cff').read_text())
CHECKS = yaml.safe_load((ROOT / '.github/workflows/checks.yml').read_text())['jobs']['checks']
PYTHON = re.compile(r'Programming Language :: Python :: (3\.\d+)')


def test_changelog_has_this_version_below_what_is_unreleased():
    headings = re.findall(r'^## (.*)$', (ROOT / 'CHANGELOG.md').read_text(), re.MULTILINE)
    date = CITATION['date-released'].isoformat()
    assert headings[:2] == ['[Unreleased]', f'[{__version__}] - {date}']


def test_citation_is_of_this_version_and_licence():
    assert CITATION['version'] == __version__
    assert CITATION['license'] == PROJECT['license']
    assert CITATION['keywords'] == PROJECT['keywords']


def test_the_hosted_checks_are_those_of_the_project_on_the_systems_of_the_classifiers():
    commands = [step['run'] for step in CHECKS['steps'] if 'run' in step]
    assert commands == ['bash .ci/run']
    pythons = [match[1] for each in PROJECT['classifiers'] if (match := PYTHON.fullmatch(each))]
    assert CHECKS['strategy']['matrix']['python'] == pythons
    assert PROJECT['requires-python'] == f'>={pythons[0]}'
    systems = [each for each in PROJECT['classifiers'] if each.startswith('Operating System')]
    assert systems == ['Operating System :: POSIX :: Linux']
    assert CHECKS['runs-on'].startswith('ubuntu-')

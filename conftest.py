"""Options of the test suite."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

VARIABLE = 'MEDIAEVAL_OFFICIAL_DATA'

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a job in the background of a script
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which tests send

gc.set_threshold(100_000)  # objects: else a tenth of the time goes into looking for garbage

# Processes that tests start compile the package once, not each of them anew.
os.environ.pop('PYTHONDONTWRITEBYTECODE', None)

# Timings never decide a test: no deadline for an example, no complaint about a slow first one.
# Hypothesis draws new examples in each run: few of each do in a suite that is run often, and
# `--hypothesis-profile thorough` looks longer.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile('quick', untimed, max_examples=12)
settings.register_profile('thorough', untimed, max_examples=500)
settings.load_profile('quick')


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options: where the campaigns' data is, and how pages are tested."""
    parser.addoption(
        '--official-data',
        default=os.environ.get(VARIABLE),
        help=f"folder with the campaigns' data, as 2016/samples and so on [${VARIABLE}]",
    )
    parser.addoption(
        '--chromium',
        action='store_true',
        help='fail, instead of skipping, where Chromium or what drives it is missing',
    )
    parser.addoption('--screenshots', help='folder for screenshots of pages')


def pytest_report_header(config: pytest.Config) -> str:
    """Say whether the tests on official data run."""
    folder = config.getoption('--official-data')
    return f'official data: {"given" if folder else f"not given (--official-data or {VARIABLE})"}'


@pytest.fixture(scope='session')
def official_data(request: pytest.FixtureRequest) -> Path:
    """Return the folder of the campaigns' data, or skip a test that needs it."""
    folder = request.config.getoption('--official-data')
    if not folder:
        pytest.skip('needs the data of the campaigns, which is not part of the project')
    return Path(folder)


@pytest.fixture(scope='module', params=['all', 'few'])
def side_by_side(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare all names of a run side by side, and, as for few names, none of them."""
    from mediaeval_ap.ranking import edit_distances

    with pytest.MonkeyPatch.context() as patch:
        if request.param == 'all':
            patch.setattr(edit_distances, 'SIDE_BY_SIDE', 1)
            patch.setattr(edit_distances, 'MANY_SIDE_BY_SIDE', 1)
        yield

"""Progress bars: shown when asked for, after half a second, and only as long as it takes."""

import io

import pytest

from mediaeval_ap import AveragePrecision, progress, validate

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
RUN = [('x', 'v', '1', 'ann', 0.5), ('x', 'v', '2', 'bob', 0.5)]
TEXT = b'x v 1 ann 0.5\nx v 2 bob 0.5\n'


class Clock:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.fixture
def _slow(monkeypatch):
    monkeypatch.setattr(progress, 'monotonic', Clock())


@pytest.mark.usefixtures('_slow')
def test_progress_is_shown_when_it_is_asked_for(capsys):
    with progress.shown():
        assert list(progress.tracked([1, 2], 'adding', ' numbers')) == [1, 2]
    assert 'adding: ' in (err := capsys.readouterr().err)
    assert '1/2' in err
    assert list(progress.tracked([1, 2], 'adding', ' numbers')) == [1, 2]
    assert capsys.readouterr().err == ''


@pytest.mark.usefixtures('_slow')
def test_progress_asked_for_outside_is_shown_within(capsys):
    with progress.shown(), progress.shown(False):
        list(progress.tracked([1], 'adding', ' numbers'))
    assert '1/1' in capsys.readouterr().err


def test_quick_work_has_no_bar(capsys):
    with progress.shown():
        list(progress.tracked([1, 2], 'adding', ' numbers'))
    assert capsys.readouterr().err == ''


@pytest.mark.usefixtures('_slow')
def test_an_error_closes_the_bar(capsys):
    with progress.shown(), pytest.raises(ValueError, match='x'):
        list(map(int, progress.tracked(['1', 'x'], 'counting', ' numbers')))
    assert capsys.readouterr().err.endswith('\r')  # the line is free for the error


@pytest.mark.usefixtures('_slow')
def test_reading_indexing_and_scoring_have_bars(capsys):
    evaluate = AveragePrecision(REFERENCE).evaluate
    evaluate(io.BytesIO(TEXT), progress=True)
    output = capsys.readouterr()
    assert output.out == ''
    for bar in ('reading <file>: ', 'indexing: ', 'scoring: '):
        assert bar in output.err
    evaluate(io.BytesIO(TEXT))
    assert capsys.readouterr().err == ''


@pytest.mark.usefixtures('_slow')
def test_explaining_has_a_bar_that_knows_its_end(capsys):
    AveragePrecision(REFERENCE).explain(RUN, progress=True)
    err = capsys.readouterr().err
    assert 'explaining: ' in err
    assert '1/2' in err.partition('explaining: ')[2]


@pytest.mark.usefixtures('_slow')
def test_reading_counts_bytes_of_the_size(capsys, tmp_path):
    run = tmp_path / 'run.txt'
    run.write_bytes(TEXT)
    AveragePrecision(REFERENCE).evaluate(run, progress=True)
    assert f'{len(TEXT):.1f}/{len(TEXT):.1f}' in capsys.readouterr().err


@pytest.mark.usefixtures('_slow')
def test_validation_has_a_bar_of_rules(capsys):
    validate(RUN, rules='none', progress=True)
    assert 'checking: ' in capsys.readouterr().err

"""Progress bars: shown when asked for, after half a second, and only as long as it takes."""

from functools import partial

import pytest
import tqdm.auto

from mediaeval_ap import AveragePrecision, progress, validate

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'v', '2', 'bob')]
TEXT = b'x v 1 ann 0.5\nx v 2 bob 0.5\n'


@pytest.fixture
def _slow(monkeypatch):
    """Draw at each step, as where each takes long."""
    monkeypatch.setattr(progress, 'DELAY_SECONDS', 0)
    monkeypatch.setattr(tqdm.auto, 'tqdm', partial(tqdm.auto.tqdm, mininterval=0))


@pytest.mark.usefixtures('_slow')
def test_progress_is_shown_when_it_is_asked_for(capsys):
    with progress.progress_shown(), progress.progress_shown(False):  # asked for outside
        assert list(progress.tracked([1, 2], 'adding', ' numbers')) == [1, 2]
    assert 'adding: ' in (err := capsys.readouterr().err)
    assert '1/2' in err
    assert list(progress.tracked([1, 2], 'adding', ' numbers')) == [1, 2]
    assert capsys.readouterr().err == ''


def test_quick_work_has_no_bar(capsys):
    with progress.progress_shown():
        list(progress.tracked([1, 2], 'adding', ' numbers'))
    assert capsys.readouterr().err == ''


def test_a_bar_is_drawn_before_a_step_that_takes_long(capsys):
    with progress.progress_shown(), progress.Bar('thinking', 3) as bar:
        bar.draw()
        assert '0/3' in capsys.readouterr().err


def test_work_is_counted_by_whoever_began_it(capsys):
    """A block of queries moves the bar of all of them."""
    done = []
    with progress.progress_shown(), progress.after_each(lambda: done.append(1)):
        assert list(progress.tracked('ab', 'scoring', ' queries')) == ['a', 'b']
    assert len(done) == 2
    assert capsys.readouterr().err == ''


@pytest.mark.usefixtures('_slow')
def test_bars_make_room_for_a_message(capsys):
    with progress.progress_shown(), progress.Bar('thinking'):
        with progress.above_bars():
            before = capsys.readouterr().err
        assert before.endswith('\r')
        assert capsys.readouterr().err.strip().startswith('thinking')


@pytest.mark.usefixtures('_slow')
def test_work_of_every_kind_has_bars(capsys, tmp_path):
    """Reading counts bytes of the size of a file; explaining knows its end."""
    run, average_precision = tmp_path / 'run.txt', AveragePrecision(REFERENCE)
    run.write_bytes(TEXT)
    for work, bars in [
        (average_precision.evaluate, ['reading ', 'indexing: ', 'scoring: ', f'/{len(TEXT):.1f}']),
        (average_precision.explain, ['explaining: ', '1/2']),
        (partial(validate, rules='none'), ['checking: ']),
    ]:
        work(run, progress=True)
        output = capsys.readouterr()
        assert output.out == ''
        assert [bar for bar in bars if bar not in output.err] == []
        work(run)
        assert capsys.readouterr().err == ''

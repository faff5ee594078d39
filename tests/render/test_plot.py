"""Figures of one result, listed and written together."""

import pytest
from compared_runs import several

from mediaeval_ap import compare
from mediaeval_ap.errors import ParameterError, WriteError
from mediaeval_ap.render.plot import Plot


def plot_of(*rows):
    return compare(several(*rows)).plot


@pytest.fixture
def plot():
    return plot_of([0.5] * 60, [0.25] * 60)


def test_the_listing_names_each_figure_with_what_it_draws(plot):
    assert repr(plot).splitlines()[1:3] == [
        '  leaderboard(metric)  Draw the runs, best first, with their intervals and groups.',
        '  scatter(a, b, metric)  Draw two runs, query by query.',
    ]


def test_a_call_draws_the_first_figure(plot):
    assert plot().to_dict() == plot.leaderboard().to_dict()


def test_all_figures_that_can_be_drawn_are_written(plot, tmp_path):
    names = ['leaderboard', 'scatter', 'distribution', 'map_by_k']
    folder = tmp_path / 'new' / 'folder'
    assert plot.save_all(folder, format='pdf') == [f'{folder}/{name}.pdf' for name in names]
    assert all(each.read_bytes().startswith(b'%PDF') for each in folder.iterdir())
    assert plot_of([0.5, 0.25]).save_all(folder, ['map_by_k']) == [f'{folder}/map_by_k.svg']
    assert len(plot_of([0.5, 0.25]).save_all(tmp_path)) == 3  # one run has no scatter


def test_nothing_is_written_if_something_is_wrong(plot, tmp_path):
    one, folder = plot_of([0.5, 0.25]), tmp_path / 'new'
    for save, found in [
        (lambda: plot.save_all(folder, ['loss']), "figures: found 'loss', expected one of leader"),
        (lambda: plot.save_all(folder, format='gif'), "format: found 'gif'"),
        (lambda: one.save_all(folder, ['map_by_k', 'scatter']), 'scatter: found one run'),
    ]:
        with pytest.raises(ParameterError, match=found):
            save()
    assert not folder.exists()
    folder.touch()
    with pytest.raises(WriteError, match='new: File exists'):
        plot.save_all(folder)


def test_if_no_figure_can_be_drawn_the_reason_is_said(tmp_path):
    class Refusing(Plot):
        def one(self):
            raise ParameterError('one: found nothing')

    with pytest.raises(ParameterError, match='one: found nothing'):
        Refusing().save_all(tmp_path)

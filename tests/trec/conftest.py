"""A folder with qrels and a run."""

import pytest
from trec_rows import QRELS, RUN, qrels_text, run_text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'qrels').write_text(qrels_text(QRELS))
    (tmp_path / 'run').write_text(run_text(RUN))
    return tmp_path

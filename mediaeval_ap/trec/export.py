"""A run of a campaign as TREC sees it: topics, documents, one ranking each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap import definitions
from mediaeval_ap.choices import LARGEST_TREC_DEPTH, check_tag
from mediaeval_ap.errors import MissingIdsWarning, ParameterError, shown, warn_caller
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.evaluation.scoring import Scorer
from mediaeval_ap.files import write_all_whole
from mediaeval_ap.ranking.frozen_ranking import Ranking
from mediaeval_ap.tables import HYPOTHESIS, Table

__all__ = ['Topic', 'export', 'qrels_text', 'run_text', 'topics']

SHOT = HYPOTHESIS.texts[:3]

_encode_in_parts = re.compile(r'[\s%/]').sub
_encode = re.compile(r'[\s%]|\A#').sub  # a line that begins with # is a comment


class Topic(NamedTuple):
    """A query, as a topic.

    Parameters
    ----------
    query : str
        The name asked for.
    relevant : list of str
        The documents that are relevant, each once.
    returned : list of str
        The documents that come first for it, each once, best first.

    Examples
    --------
    >>> Topic('ann lee', ['x/v/1'], []).qid, Topic('#1', [], []).qid
    ('ann%20lee', '%231')
    """

    query: str
    relevant: list[str]
    returned: list[str]

    @property
    def qid(self) -> str:
        """The query with its white space, and the # that it begins with, percent-encoded."""
        return _encode(lambda match: quote(match[0], safe=''), self.query)


def topics(criteria: Criteria, ranking: Ranking, queries: Sequence[str], k: int) -> Iterator[Topic]:
    """Queries as topics, each once.

    Parameters
    ----------
    criteria : Criteria
        What is relevant.
    ranking : Ranking
        The run.
    queries : sequence of str
        The names asked for.
    k : int
        How many documents a ranking has at most.

    Yields
    ------
    Topic
        Shots are ranked as by the definition ``trec``: one that is returned again is left out.

    Raises
    ------
    ParameterError
        When k is larger than `mediaeval_ap.choices.LARGEST_TREC_DEPTH`.

    Examples
    --------
    >>> from mediaeval_ap.evaluation.relevance import Reference
    >>> from mediaeval_ap.tables import REFERENCE, read
    >>> reference = Reference(read([('x', 'v', '1', 'ann')], REFERENCE), counts_again=True)
    >>> criteria = Criteria(reference, [10], definitions.get('trec'), None)
    >>> ranking = Ranking(read([('x', 'v', '2', 'ann', 0.5)], HYPOTHESIS))
    >>> list(topics(criteria, ranking, ['ann'], 10))
    [Topic(query='ann', relevant=['x/v/1'], returned=['x/v/2'])]
    """
    if k > LARGEST_TREC_DEPTH:
        raise ParameterError(f'k: found {k}, expected at most {LARGEST_TREC_DEPTH}')
    reference = criteria.reference
    scorer = Scorer(ranking, Relevance(reference, ranking.shots), [k], definitions.get('trec'))
    names = reference.table['person_name']
    by_name = names.codes.argsort(kind='stable')
    ends = np.bincount(names.codes, minlength=len(names.values)).cumsum()
    distinct = list(dict.fromkeys(queries))
    for query, top in zip(distinct, scorer.top(distinct, k), strict=True):
        code = names.code_of.get(query)
        rows = by_name[:0]
        if code is not None:
            rows = by_name[ends[code - 1] if code else 0 : ends[code]]
        relevant = list(dict.fromkeys(_documents(reference.table, rows)))
        yield Topic(query, relevant, _documents(ranking.table, ranking.row_at[top.places]))


def _documents(table: Table, rows: NDArray[np.int64]) -> list[str]:
    """The shots of some rows, as document numbers that say which they are."""
    columns = [table.texts(field, rows) for field in SHOT]
    return ['/'.join(map(_part, shot)) for shot in zip(*columns, strict=True)]


def _part(text: str) -> str:
    return _encode_in_parts(lambda match: quote(match[0], safe=''), text)


def export(
    topics: Sequence[Topic],
    qrels: str | os.PathLike[str],
    run: str | os.PathLike[str],
    tag: str,
) -> None:
    r"""Write topics as files.

    Parameters
    ----------
    topics : sequence of Topic
        Each once.
    qrels, run : str or path-like
        Where to.
    tag : str
        Names the run.

    Raises
    ------
    ParameterError
        When both are one file, or the tag is not one word.
    WriteError
        When a file cannot be written. Neither is replaced before both are on the disk.

    Warns
    -----
    MissingIdsWarning
        When a topic has no relevant document, so that it is not in the qrels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> topics = [Topic('ann', ['x/v/1'], ['x/v/2'])]
    >>> export(topics, folder / 'qrels', folder / 'run', 'me')
    >>> (folder / 'run').read_text()
    'ann Q0 x/v/2 1 1 me\n'
    """
    if os.path.realpath(qrels) == os.path.realpath(run):
        raise ParameterError(f'run: found {shown(os.fspath(run))} again, expected another file')
    contents = {qrels: qrels_text(topics), run: run_text(topics, tag)}
    if n_without := sum(not topic.relevant for topic in topics):
        text = (
            f'{n_without} of {len(topics)} queries have no relevant shot, and are not in the qrels'
        )
        warn_caller([MissingIdsWarning(text)])
    write_all_whole(contents)


def qrels_text(topics: Sequence[Topic]) -> str:
    r"""Topics as the content of a file of qrels.

    Parameters
    ----------
    topics : sequence of Topic
        One without a relevant document has no line.

    Returns
    -------
    str
        Lines of ``qid 0 docno 1``.

    Examples
    --------
    >>> qrels_text([Topic('ann', ['x/v/1'], [])])
    'ann 0 x/v/1 1\n'
    """
    return ''.join(
        f'{topic.qid} 0 {document} 1\n' for topic in topics for document in topic.relevant
    )


def run_text(topics: Sequence[Topic], tag: str) -> str:
    r"""Topics as the content of a file of a run.

    Parameters
    ----------
    topics : sequence of Topic
        One for which nothing is returned has no line.
    tag : str
        Names the run.

    Returns
    -------
    str
        Lines of ``qid Q0 docno rank score tag``. Scores are integers and strictly decreasing, so
        that no reader orders them anew.

    Raises
    ------
    ParameterError
        When the tag is not one word.

    Examples
    --------
    >>> print(run_text([Topic('ann', [], ['x/v/1', 'x/v/2'])], 'me'), end='')
    ann Q0 x/v/1 1 2 me
    ann Q0 x/v/2 2 1 me
    """
    tag = check_tag(tag)
    return ''.join(
        f'{topic.qid} Q0 {document} {rank} {len(topic.returned) + 1 - rank} {tag}\n'
        for topic in topics
        for rank, document in enumerate(topic.returned, 1)
    )

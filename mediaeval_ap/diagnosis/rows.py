"""The rows that a diagnosis consists of, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from mediaeval_ap.definitions import Cutoff
from mediaeval_ap.diagnosis.documents import describe_query
from mediaeval_ap.diagnosis.reconcile import ByDefinition
from mediaeval_ap.render.document import Document
from mediaeval_ap.results.described import Described


@dataclass(frozen=True)
class QueryLoss:
    """The loss of a query.

    Parameters
    ----------
    query : str
        The query.
    ap : float
        Average precision at the cutoff.
    n_relevant : int
        The number of relevant shots.
    parts : dict of str to float
        The parts of the loss, which add up to 1 - AP.
    """

    query: str
    ap: float
    n_relevant: int
    parts: dict[str, float]


@dataclass(frozen=True)
class ConfusedName:
    """Another person under whose name a run returned relevant shots of a query.

    Parameters
    ----------
    name, query : str
        The name in the run, and the query.
    count : int
        The number of relevant shots of the query, of the kind ``confused``, that the run returned
        under this name although that person is not in them.
    distance : float
        The distance from the query to the name, from 0 to 1.
    letters : tuple of str
        The edits that make the name of the query: ``o→u at 5``, ``+n at 9``, ``-e at 2``; positions
        in the query, from 1.
    adds : float
        What the repair of these shots adds to AP of the query, as `RelevantShot.adds`.
    """

    name: str
    query: str
    count: int
    distance: float
    letters: tuple[str, ...]
    adds: float


@dataclass(frozen=True)
class NearMiss:
    """A name near a query under which a run returned relevant shots of the query.

    Parameters
    ----------
    name, query : str
        The name in the run, and the query.
    count : int
        The number of relevant shots of the query that the run returned under this name, but not
        under the query itself.
    n_hypotheses : int
        The number of hypotheses that the run has under this name.
    distance : float
        The distance from the query to the name: at most `near` of the diagnosis.
    letters : tuple of str
        The edits, as of `ConfusedName`.
    adds : float
        What the repair of these shots adds to AP of the query, as `RelevantShot.adds`.
    alone : float
        What AP of the query gains if every hypothesis under this name has the name of the query
        instead, and nothing else changes: the run is scored again. The shots do not come to the
        front, but where their confidence puts them, so the values of several names do not add up.
        Negative where wrong shots push hits down.
    """

    name: str
    query: str
    count: int
    n_hypotheses: int
    distance: float
    letters: tuple[str, ...]
    adds: float
    alone: float


@dataclass(frozen=True)
class Before:
    """The hypotheses before a hit that are no hits, by what puts them there.

    Parameters
    ----------
    nearer : int
        Their names are nearer to the query.
    more_confident : int
        Their names are equally far, and their confidence is higher.
    tied : int
        Distance and confidence are equal: the order of ties decides.
    """

    nearer: int
    more_confident: int
    tied: int


@dataclass(frozen=True)
class RankedHypothesis:
    """A hypothesis in the ranking of a query.

    Parameters
    ----------
    rank : int
        Its rank, from 1.
    corpus, video, shot, name : str
        The shot and the name.
    distance, confidence : float
        The distance from the query to the name, and the confidence.
    temporal_rank : int
        Its place in time among those of equal name, confidence and video, from 1.
    relevant : bool
        Whether it counts as a hit.
    before : Before or None
        What stands before it, if it is a hit.
    """

    rank: int
    corpus: str
    video: str
    shot: str
    name: str
    distance: float
    confidence: float
    temporal_rank: int
    relevant: bool
    before: Before | None


@dataclass(frozen=True)
class RelevantShot:
    """A relevant shot of a query, and what became of it.

    Parameters
    ----------
    corpus, video, shot : str
        The shot.
    rank : int or None
        The rank at which the run first returned it, also beyond the cutoff; None if it did not.
    names : tuple of str
        The names under which the run returned it, in the order of the ranking.
    kind : {'own', 'spelling', 'confused', 'part_of_name', 'noise', 'copresent', 'absent'}
        The part of the loss that it belongs to; ``own`` where it was returned under the query.
    adds : float
        What its repair adds to AP: it is put behind the shots that were put in front before it. The
        shots of a kind are repaired in the order of their ranks; so they add up to that part.
    """

    corpus: str
    video: str
    shot: str
    rank: int | None
    names: tuple[str, ...]
    kind: str
    adds: float


@dataclass(frozen=True)
class QueryDiagnosis(Described):
    """The diagnosis of a single query; `Diagnosis.of` makes it.

    Parameters
    ----------
    query : str
        The query.
    k : int or 'all'
        The cutoff.
    ap : float
        Average precision at the cutoff.
    n_relevant : int
        The number of relevant shots.
    parts : dict of str to float
        The parts of the loss, which add up to 1 - AP.
    ranking : list of RankedHypothesis
        The ranking down to the cutoff.
    relevant : list of RelevantShot
        The relevant shots: those that were returned by rank, then the others.
    ties : dict of str to dict
        The least, mean and greatest AP over all orders of ties: ``min``, ``expected`` and ``max``,
        of ``equal_confidence`` and ``arbitrary``. An expected value that is not known is None, and
        has a ``reason``.
    definitions : list of ByDefinition
        What each registered definition says of the ranking, and why; the one in use comes first.
    run, definition : str
        The names of the run, and of the definition in use.
    notes : list of str
        That the reference has no such name, and the nearest that it has.
    """

    query: str
    k: Cutoff
    ap: float
    n_relevant: int
    parts: dict[str, float]
    ranking: list[RankedHypothesis] = field(repr=False)
    relevant: list[RelevantShot] = field(repr=False)
    ties: dict[str, dict[str, Any]] = field(repr=False)
    definitions: list[ByDefinition] = field(repr=False)
    run: str
    definition: str
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis of the query, for JSON.

        Returns
        -------
        dict
            ``query``, ``k``, ``ap``, ``n_relevant``, ``loss`` (the parts), ``ranking``,
            ``relevant``, ``ties``, ``definitions``, ``run``, ``definition`` and ``notes``.
        """
        value = asdict(self)
        return {('loss' if name == 'parts' else name): each for name, each in value.items()}

    def _document(self) -> Document:
        return describe_query(self)

"""The documents of a run of TREC, ranked for each topic: the order of the file's scores.

Topics are names, and documents shots. Nothing but the hypotheses under a topic answers it: another
topic is infinitely far away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.arrays import order_of_narrow_keys
from mediaeval_ap.ranking.edit_distances import Distances, NamesByLength, Quotients
from mediaeval_ap.ranking.frozen_ranking import CondensedRanking, Ranking
from mediaeval_ap.ranking.shots import Shots
from mediaeval_ap.ranking.tie_breaking import KeysByPlace
from mediaeval_ap.tables import Table


class Topics(NamesByLength):
    """The topics of a run; a query is 0 from its own topic."""

    @cached_property
    def number_of(self) -> dict[str, int]:
        return {topic: number for number, topic in enumerate(self.values)}

    def distances_from(self, queries: Sequence[str]) -> Iterator[Distances]:
        for query in queries:
            distances = np.full(len(self), np.inf)
            if query in self.number_of:
                distances[self.number_of[query]] = 0
            yield Quotients(distances)


class TopicRanking(Ranking):
    """The documents of all topics of a run."""

    names: Topics

    def __init__(self, table: Table, tie_keys: NDArray[np.integer]) -> None:
        """Index rows; those of a topic with equal scores are in the order of `tie_keys`."""
        shots = Shots.of(table)
        names, numbers = Topics.from_unsorted(table['person_name'].values)
        order = np.lexsort((tie_keys, -table.confidence))
        name = numbers[table['person_name'].codes[order]]
        # Equal temporal ranks: every order of equal scores is an arbitrary one.
        keys = KeysByPlace(np.ones(len(order), np.int32), shots.codes[order], name, n_repeated=0)
        places = order_of_narrow_keys(name).astype(np.int32)
        name_counts = np.bincount(name, minlength=len(names))
        self._table = table
        self._set_columns(table.source, shots, names, keys)
        self._set_places(len(shots), places, name_counts)

    def for_query(self, query: str) -> Ranking:
        places = self.places[:0]
        if (topic := self.names.number_of.get(query)) is not None:
            places = self.places[self._starts[topic] :][: self.name_counts[topic]]
        return CondensedRanking(self, np.ones(len(self.shots), dtype=np.bool_), places)

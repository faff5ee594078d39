"""The kind of loss that a name stands for under which a relevant shot was returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mediaeval_ap.diagnosis.returned_shots import Returned
from mediaeval_ap.evaluation.queries import without_placeholders
from mediaeval_ap.evaluation.relevance import Relevance
from mediaeval_ap.ranking.frozen_ranking import Ranking

# A shot is of the first kind that one of its names is of.
KINDS = ('own', 'spelling', 'confused', 'part_of_name', 'noise', 'copresent')
OWN, SPELLING, CONFUSED, PART_OF_NAME, NOISE, COPRESENT = range(len(KINDS))


class NameKinds:
    """Tells the kinds of names of a run; persons are the names of the reference and the queries."""

    def __init__(
        self, ranking: Ranking, relevance: Relevance, queries: Iterable[str], near: float
    ) -> None:
        self.near = near
        self._names = ranking.names.values
        reference = relevance.reference
        persons = {*reference.queries, *without_placeholders(queries)}
        self._is_person = np.array([name in persons for name in self._names], dtype=np.bool_)
        code = {name: code for code, name in enumerate(self._names)}
        column = reference.table['person_name']
        name = np.array([code.get(each, -1) for each in column.values])[column.codes]
        shot = ranking.shots.find(reference.table)
        is_known = (name >= 0) & (shot >= 0)
        self._n_shots = ranking.n_shots
        self._right = np.unique(name[is_known] * self._n_shots + shot[is_known])

    def of(self, returned: Returned, queries: Sequence[str]) -> NDArray[np.int64]:
        """Return the number in KINDS of each hypothesis about a relevant shot."""
        is_person = self._is_person[returned.name]
        pairs = returned.name.astype(np.int64) * self._n_shots + returned.shot
        person = np.where(np.isin(pairs, self._right), COPRESENT, CONFUSED)
        kinds = np.where(is_person, person, NOISE)
        is_near = returned.distance <= self.near
        kinds[is_near] = SPELLING
        kinds[returned.distance == 0] = OWN
        words_of = cache(words)  # as long as this call: names are many
        for row in (kinds == NOISE).nonzero()[0].tolist():
            name = self._names[int(returned.name[row])]
            query = queries[int(returned.query[row])]
            if not words_of(name).isdisjoint(words_of(query)):
                kinds[row] = PART_OF_NAME
        return kinds


def words(name: str) -> frozenset[str]:
    """Return the words of a name: letters and digits in a row, without regard to case."""
    spaced = ''.join(character if character.isalnum() else ' ' for character in name)
    return frozenset(word.casefold() for word in spaced.split())

"""Every kind of problem that there is, in one registry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ['KINDS', 'Kind', 'Severity', 'get', 'register', 'registered']

Severity = Literal['error', 'warning']


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Parameters
    ----------
    name : str
        Its spelling.
    severity : {'error', 'warning'}
        Whether a campaign would refuse the submission for it.
    summary : str
        What it is, in a few words.
    mend : str
        What to do about it.

    Examples
    --------
    >>> print(get('repeated-row'))
    repeated-row
    """

    name: str
    severity: Severity
    summary: str = field(repr=False)
    mend: str = field(repr=False)

    def __str__(self) -> str:
        return self.name


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Add a kind.

    Parameters
    ----------
    kind : Kind
        With a name that no other has.

    Returns
    -------
    Kind
        The same.

    Raises
    ------
    ValueError
        When there is one of this name.

    Examples
    --------
    >>> register(get('name'))
    Traceback (most recent call last):
        ...
    ValueError: there is a kind 'name' already
    """
    if kind.name in KINDS:
        raise ValueError(f'there is a kind {kind.name!r} already')
    KINDS[kind.name] = kind
    return kind


def get(name: str) -> Kind:
    """A kind by its name.

    Parameters
    ----------
    name : str
        Its spelling.

    Returns
    -------
    Kind
        The kind.

    Raises
    ------
    KeyError
        When there is none.

    Examples
    --------
    >>> get('confidence').severity
    'error'
    """
    return KINDS[name]


def registered() -> tuple[Kind, ...]:
    """All kinds, errors first.

    Returns
    -------
    tuple of Kind
        In the order in which problems are listed.

    Examples
    --------
    >>> str(registered()[0])
    'long-line'
    """
    return tuple(sorted(KINDS.values(), key=lambda kind: kind.severity != 'error'))


_KINDS = """
error | long-line | a line of more than 64 MiB | end each row with a line end
error | encoding | bytes that are no text: invalid UTF-8, NUL, a carriage return within a line \
| save the file as UTF-8 text with LF or CR LF line ends
error | empty | a file without a row | write one row a line, or leave the file out
error | field-count | a line with too many fields or too few \
| give the line these fields, with spaces or tabs between them and none in them
error | confidence | a confidence that is no finite decimal number | write a finite decimal number
error | timestamp | a time that is negative, or no finite decimal number \
| write the seconds since the start of the video
error | name | a name that is not made of a-z and _ \
| transliterate the name to lower-case letters, with _ for every space
error | unknown-shot | a shot that is not in the shot list \
| copy video and shot ids, zeros included, from the shot list
error | unknown-video | evidence from a video that neither list has \
| copy the ids of the video from the list
error | modality | evidence of a kind that the campaign does not know | write one of these words
error | repeated-evidence | a name with evidence more than once | keep one line of evidence a name
error | missing-evidence | a name that is returned without evidence \
| add a line of evidence for the name, or drop its hypotheses
error | unused-evidence | evidence for a name that is not returned \
| spell the name as in the hypotheses, or drop the line
warning | repeated-row | a row that says again what an earlier one said: shot, name, confidence \
| drop the line
warning | two-confidences | a shot returned again under the same name, with another confidence \
| keep one confidence a shot and name
warning | several-names | a shot returned under several names \
| keep them only if all of these people are in the shot
warning | near-names | a name one edit apart from an earlier one \
| spell a person one way, if they are the same
warning | not-nfc | a name that is not in Unicode NFC | write the name in NFC
warning | upper-case | a name with upper-case letters | write the name in lower case
warning | equal-confidences | confidences that are all equal \
| give what is surer a higher confidence: equal ones leave the order to chance
warning | single-precision | confidences that differ, but not in single precision \
| write confidences further apart, or equal: readers in single precision, as trec_eval 9, take \
them for ties
warning | unlisted-video | hypotheses for a video that is not in the list of videos \
| check the ids of the video; nothing in it counts
warning | unreferenced-video | hypotheses for a video that the reference does not have \
| check the ids of the video; nothing in it can be relevant
warning | unreferenced-name | a name that the reference does not have \
| check the spelling; the person may be in no shot of the reference
"""


def _severity(word: str) -> Severity:
    return 'error' if word == 'error' else 'warning'


for _line in _KINDS.strip().splitlines():
    _word, _name, _summary, _mend = (part.strip() for part in _line.split('|'))
    register(Kind(_name, _severity(_word), _summary, _mend))

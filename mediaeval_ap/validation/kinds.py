"""All kinds of problems in the order in which they are listed, and how to mend each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal['error', 'warning']


@dataclass(frozen=True)
class Kind:
    """A kind of problem, and how to mend it; errors are what a campaign refuses."""

    name: str
    severity: Severity
    remedy: str = field(repr=False)

    def __str__(self) -> str:
        return self.name


_ERRORS = {
    'long-line': 'end each row with a line end',
    'encoding': 'save the file as UTF-8 text with LF or CR LF line ends',
    'empty': 'write one row per line, or leave the file out',
    'header': 'remove this line',
    'field-count': 'give the line these fields, separated by spaces or tabs, without spaces inside '
    'them',
    'confidence': 'write a finite decimal number',
    'timestamp': 'write the seconds since the start of the video',
    'name': 'transliterate the name to lower-case letters, with _ for every space',
    'unknown-shot': 'copy video and shot ids, zeros included, from the shot list',
    'unknown-video': 'copy the ids of the video from the list',
    'modality': 'write one of these words',
    'repeated-evidence': 'keep one line of evidence per name',
    'missing-evidence': 'add a line of evidence for the name, or drop its hypotheses',
    'unused-evidence': 'spell the name as in the hypotheses, or drop the line',
}
_WARNINGS = {
    'other-file': 'check which file is which',
    'repeated-row': 'drop the line',
    'two-confidences': 'keep one confidence per shot and name',
    'several-names': 'keep them only if all of these people are in the shot',
    'near-names': 'if they are the same person, spell the name one way',
    'not-nfc': 'write the name in NFC',
    'upper-case': 'write the name in lower case',
    'equal-confidences': 'give surer hypotheses higher confidences; equal ones leave the order to '
    'tie-breaking',
    'single-precision': 'write confidences further apart, or equal: tools that read single '
    'precision, as trec_eval 9, see ties',
    'unlisted-video': 'check the ids of the video; hypotheses for it do not count',
    'unreferenced-video': 'check the ids of the video; none of its shots can be relevant',
    'unreferenced-name': 'check the spelling; the person may be in no shot of the reference',
}
KINDS = {
    **{name: Kind(name, 'error', remedy) for name, remedy in _ERRORS.items()},
    **{name: Kind(name, 'warning', remedy) for name, remedy in _WARNINGS.items()},
}

"""Hostile files of 2015."""

import pyarrow

from hostile.containers import CUT, gzip_of
from hostile.entries import FINITE, Entry, holding, refused
from hostile.lines import BOM
from hostile.tables import storing

# Two queries, of one shot and one piece of evidence each: EwMAP is the share that is found, and
# whose evidence is right.
L1, L2 = b'v 1 ann 0.9\n', b'v 2 bob 0.8\n'
E1, E2 = b'ann v 1 image\n', b'bob v 2 audio\n'
FILES_2015 = {
    'shots': b'v 1 0 1.5 0 37\nv 2 1.5 3 38 75\n',
    'reference': b'v 1 ann\nv 2 bob\n',
    'labels': L1 + L2,
    'evidence-reference': b'v 1 ann image\nv 2 bob audio\n',
    'evidence': E1 + E2,
    'consensus': b'v 1\nv 2\n',
}
FOUR = 'expected 4 fields: video_id shot_id person_name confidence'
SHOT = 'expected a shot of {shots}'
SOURCE = 'expected one of image, audio, both'
ONCE = 'expected each name once'


def scored(role, name, why, content, value=1.0):
    return Entry(name, why, holding(content), value=value, role=f'2015-{role}')


def no(role, name, why, content, error):
    return refused(name, why, content, error, f'2015-{role}')


DISCOVERY_2015 = [
    *(scored(role, 'plain', 'nothing is wrong', right) for role, right in FILES_2015.items()),
    *(
        scored(role, 'windows', 'as Windows writes', BOM + right.replace(b'\n', b'\r\n\r\n'))
        for role, right in FILES_2015.items()
    ),
    *(
        no(
            role,
            'nul',
            'a NUL',
            right + b'\0\n',
            ', line 3: found a NUL byte at byte 1, expected text',
        )
        for role, right in FILES_2015.items()
    ),
    *(
        no(
            *(role, 'cut.gz', 'a download that broke', gzip_of(right * 50)[:-9]),
            f': not readable as gzip: {CUT["gz"]}',
        )
        for role, right in FILES_2015.items()
    ),
    # Labels.
    scored('labels', 'again', 'a label again counts once', L1 + b'v 1 ann 0.1\n' + L2),
    # 'ann' and a no-break space are 6/7 alike, which is less than 0.95.
    scored(
        'labels', 'nbsp', 'a no-break space is part of a name', b'v 1 ann\xc2\xa0 1\n' + L2, 0.5
    ),
    scored('labels', 'escapes', 'names that terminals obey', L1 + b'v 1 \x1b[2J 1\n' + L2),
    scored(
        'labels', 'huge', 'confidences at the ends of doubles', b'v 1 ann 1e308\nv 2 bob -5e-324\n'
    ),
    no(
        *(
            'labels',
            'unknown-shot',
            'a shot that is not there',
            b'\n' + L1 + b'\n' + b'v 3 bob 1\n',
        ),
        f", line 4, shot_id: found '3' of 'v', {SHOT}",
    ),
    no(
        *('labels', 'zeros', 'zeros are part of a shot', L1 + b'v 02 bob 1\n'),
        f", line 2, shot_id: found '02' of 'v', {SHOT}",
    ),
    no(
        *('labels', 'unknown-video', 'a video that is not there', b'\x1b[2J 1 ann 1\n'),
        f", line 1, shot_id: found '1' of '\\x1b[2J', {SHOT}",
    ),
    no(
        'labels',
        'nan',
        'no number',
        b'v 1 ann nan\n',
        f", line 1, confidence: found 'nan', {FINITE}",
    ),
    no(
        *('labels', 'corpus', 'a run of 2016', b'x v 1 ann 0.9\n' + L2),
        f", line 1: found 5 fields in 'x v 1 ann 0.9', {FOUR}",
    ),
    no(
        *('labels', 'bad-byte', 'no text', L1 + b'v 2 \xff 1\n'),
        ', line 2: found invalid UTF-8 at byte 5 (0xff), expected UTF-8',
    ),
    no(
        'labels',
        'empty',
        'nothing',
        b'',
        f': found an empty file, {FOUR.replace("expected", "expected at least one of")}',
    ),
    Entry(
        *('shots.parquet', 'shots are numbers'),
        storing(
            pyarrow.table(
                {'video_id': ['v'], 'shot_id': [1], 'person_name': ['ann'], 'confidence': [0.5]}
            )
        ),
        error='{path}, shot_id: found a column of int64, expected text; '
        'read them as text (dtype=str), so that leading zeros stay',
        role='2015-labels',
    ),
    # Evidence.
    scored('evidence', 'missing', 'a name without evidence is not correct', E1, 0.5),
    scored(
        'evidence',
        'nobody',
        'evidence for a name that is not returned',
        E1 + b'zoe v 1 both\n' + E2,
    ),
    no(
        *('evidence', 'repeated', 'a name twice', E1 + b'\n' + E2 + E1),
        f", line 4, person_name: found 'ann' again, {ONCE}",
    ),
    no(
        *('evidence', 'repeated-source', 'a name by eye and ear', BOM + E1 + b'ann v 1 audio\n'),
        f", line 2, person_name: found 'ann' again, {ONCE}",
    ),
    no(
        *('evidence', 'source', 'a source of another kind', E1 + b'bob v 2 \x1b[2J\n'),
        f", line 2, source: found '\\x1b[2J', {SOURCE}",
    ),
    no(
        *('evidence', 'upper-case', 'a source is a word in lower case', b'ann v 1 Image\n'),
        f", line 1, source: found 'Image', {SOURCE}",
    ),
    no(
        *('evidence', 'unknown-shot', 'a shot that is not there', b'ann w 1 image\n'),
        f", line 1, shot_id: found '1' of 'w', {SHOT}",
    ),
    scored('evidence-reference', 'both', 'where either is right', b'v 1 ann both\nv 2 bob both\n'),
    scored(
        'evidence-reference', 'again', 'said twice', b'v 1 ann image\n' * 2 + b'v 2 bob audio\n'
    ),
    no(
        *('evidence-reference', 'source', 'a source of 2016', b'v 1 ann written\n'),
        f", line 1, source: found 'written', {SOURCE}",
    ),
    no(
        *('evidence-reference', 'unknown-shot', 'a shot that is not there', b'\nv 7 ann image\n'),
        f", line 2, shot_id: found '7' of 'v', {SHOT}",
    ),
    # The rest.
    no(
        *('reference', 'unknown-shot', 'a shot that is not there', b'v 1 ann\nv 9 bob\n'),
        f", line 2, shot_id: found '9' of 'v', {SHOT}",
    ),
    no(
        *('reference', 'nobody', 'nobody who has a name', b'v 1 ?\nv 2 ?unknown?\n'),
        ': every name of this reference begins with ?, and stands for people without a name; '
        'give the queries to ask for',
    ),
    # Bob's label does not count, and his evidence is still right: (1 + 0) / 2.
    scored('consensus', 'one', 'a shot that does not count', b'v 1\n', 0.5),
    no(
        *('consensus', 'unknown-shot', 'a shot that is not there', b'v 1\nv 2\nv 3\n'),
        f", line 3, shot_id: found '3' of 'v', {SHOT}",
    ),
    scored(
        'shots', 'times', 'times and frames are not looked at', b'v 1 nan - x y\nv 2 3 1 inf ?\n'
    ),
    scored('shots', 'again', 'a shot twice', FILES_2015['shots'] * 2),
    no(
        *('shots', 'short', 'no frames', b'v 1 0 1.5\n'),
        ", line 1: found 4 fields in 'v 1 0 1.5', expected 6 fields: "
        'video_id shot_id start_time end_time first_frame last_frame',
    ),
]

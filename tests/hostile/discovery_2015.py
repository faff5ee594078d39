"""Hostile files of 2015."""

from hostile.containers import CUT, gzip_of
from hostile.entries import BOM, NUL, refused, right

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
SHOT = 'expected a shot of {shots}'


def scored(role, name, content, value=1.0):
    return right(f'2015-{role}', name, content, value)


def no(role, name, content, error):
    return refused(name, content, error, f'2015-{role}')


DISCOVERY_2015 = [
    *(
        scored(role, 'windows', BOM + content.replace(b'\n', b'\r\n\r\n'))
        for role, content in FILES_2015.items()
    ),
    *(
        no(role, 'nul', content + b'\0\n', f', line 3: {NUL.format(1)}')
        for role, content in FILES_2015.items()
    ),
    no('labels', 'cut.gz', gzip_of(L1 * 50)[:-9], f': not readable as gzip: {CUT["gz"]}'),
    # A label again counts once.
    scored('labels', 'again', L1 + b'v 1 ann 0.1\n' + L2 + b'v 1 \x1b[2J 1\n'),
    # 'ann' and a no-break space are 6/7 alike, which is less than 0.95.
    scored('labels', 'nbsp', b'v 1 ann\xc2\xa0 1\n' + L2, 0.5),
    scored('labels', 'huge', b'v 1 ann 1e308\nv 2 bob -5e-324\n'),
    no(
        *('labels', 'unknown-shot', b'\n' + L1 + b'\n' + b'v 02 bob 1\n'),
        f", line 4, shot_id: found '02' of 'v', {SHOT}",
    ),
    no(
        *('labels', 'unknown-video', b'\x1b[2J 1 ann 1\n'),
        f", line 1, shot_id: found '1' of '\\x1b[2J', {SHOT}",
    ),
    no(
        *('labels', 'run-of-2016', b'x v 1 ann 0.9\n' + L2),
        ", line 1: found 5 fields in 'x v 1 ann 0.9', expected 4 fields: "
        'video_id shot_id person_name confidence',
    ),
    no(
        *('evidence', 'source', E1 + b'bob v 2 \x1b[2J\n'),
        ", line 2, source: found '\\x1b[2J', expected one of image, audio, both",
    ),
    no(
        *('evidence', 'repeated', BOM + E1 + b'\n' + E2 + b'ann v 1 audio\n'),
        ", line 4, person_name: found 'ann' again, expected each name once",
    ),
    # Nobody looks at times and frames.
    scored('shots', 'times', b'v 1 nan - x y\nv 2 3 1 inf ?\nv 2 3 1 inf ?\n'),
]

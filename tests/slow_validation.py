"""A slow, obvious validator: every rule as it is written down, a line at a time.

A problem is (kind, role, line, field). Confidences are read by Python's `float`.
"""

import re
import struct
import unicodedata

from oracle import edit_distance

FIELDS = {
    'hypothesis': 'corpus_id video_id shot_id person_name confidence'.split(),
    'shots': 'corpus_id video_id shot_id start_time end_time'.split(),
    'videos': 'corpus_id video_id'.split(),
    'evidence': 'person_name corpus_id video_id modality timestamp'.split(),
    'reference': 'corpus_id video_id shot_id person_name'.split(),
}
NUMBER = re.compile(r'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?')


def number(text):
    """Return the number that a text spells, or None if it is no finite decimal."""
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return None if value in (float('inf'), float('-inf')) else value


def single(value):
    try:
        return struct.unpack('f', struct.pack('f', value))[0]
    except OverflowError:
        return 'inf' if value > 0 else '-inf'


def read(role, content):
    """Return rows as dicts, with their line, and the wrong lines."""
    rows, wrong = [], []
    lines = content.removeprefix(b'\xef\xbb\xbf').split(b'\n')
    for at, raw in enumerate(lines, 1):
        raw = raw.removesuffix(b'\r') if at < len(lines) else raw
        if not is_text(raw):
            wrong.append(('encoding', role, at, ''))
            continue
        found = re.findall(r'[^ \t]+', raw.decode())
        names = FIELDS[role]
        if found and len(found) != len(names):
            wrong.append(('field-count', role, at, ''))
        elif found:
            row = dict(zip(names, found, strict=True))
            row['line'] = at
            row['texts'] = found
            rows.append(row)
            last = names[-1]
            if last in ('confidence', 'timestamp'):
                row[last] = number(row[last])
                if row[last] is None:
                    wrong.append((last, role, at, last))
    if not rows and not wrong:
        wrong.append(('empty', role, 1, ''))
    return rows, wrong


def is_text(raw):
    try:
        return not {'\0', '\r', '\ufeff'} & set(raw.decode())
    except UnicodeDecodeError:
        return False


def problems(contents, judges=True):
    files = {role: read(role, content) for role, content in contents.items()}
    found = [problem for _, wrong in files.values() for problem in wrong]
    for role, (rows, wrong) in files.items():
        if is_of_other_file(role, rows, wrong):
            found.append(('other-file', role, rows[0]['line'], ''))
    rows = {role: rows for role, (rows, _) in files.items()}

    def say(kind, role, row, field):
        found.append((kind, role, row['line'], field))

    look_at_times(rows, say)
    if judges:
        judge(rows, say)
    look_at_rows(rows['hypothesis'], say)
    look_at_names(rows['hypothesis'], say)
    compare(rows, say)
    return sorted(found)


MODALITIES = ['written', 'pronounced', 'image', 'audio', 'both']
OF_FIVE_FIELDS = ['hypothesis', 'shots', 'evidence']


def is_of_other_file(role, rows, wrong):
    """Whether the first line that is not blank is right, but looks like one of another file."""
    if role not in OF_FIVE_FIELDS or not rows or any(at <= rows[0]['line'] for *_, at, _ in wrong):
        return False
    others = [other for other in OF_FIVE_FIELDS if other != role]
    texts = rows[0]['texts']
    return not looks_like(texts, role) and any(looks_like(texts, other) for other in others)


def looks_like(texts, role):
    fourth, fifth = number(texts[3]), number(texts[4])
    if role == 'shots':
        return fourth is not None and fifth is not None and 0 <= fourth <= fifth
    is_modality = texts[3] in MODALITIES
    if role == 'evidence':
        return is_modality and fifth is not None
    return fifth is not None and fourth is None and not is_modality


def look_at_times(rows, say):
    for row in rows.get('shots', []):
        for field in 'start_time', 'end_time':
            value = number(row[field])
            if value is None or value < 0:
                say('timestamp', 'shots', row, field)
    for row in rows.get('evidence', []):
        if row['timestamp'] is not None and row['timestamp'] < 0:
            say('timestamp', 'evidence', row, 'timestamp')


def judge(rows, say):
    for role in ('hypothesis', 'evidence'):
        for row in rows.get(role, []):
            if set(row['person_name']) - set('abcdefghijklmnopqrstuvwxyz_'):
                say('name', role, row, 'person_name')
    if 'shots' in rows:
        judge_shots(rows, say)
    if 'evidence' in rows:
        judge_evidence(rows['evidence'], say)
        judge_sources(rows, say)
        lacking(rows, 'hypothesis', 'evidence', ['person_name'], 'missing-evidence', say)
        lacking(rows, 'evidence', 'hypothesis', ['person_name'], 'unused-evidence', say)


def judge_shots(rows, say):
    known = [(row['corpus_id'], row['video_id'], row['shot_id']) for row in rows['shots']]
    for row in rows['hypothesis']:
        if (row['corpus_id'], row['video_id'], row['shot_id']) not in known:
            is_video = (row['corpus_id'], row['video_id']) in [shot[:2] for shot in known]
            say('unknown-shot', 'hypothesis', row, 'shot_id' if is_video else 'video_id')


def judge_evidence(evidence, say):
    for place, row in enumerate(evidence):
        if row['modality'] not in ('written', 'pronounced'):
            say('modality', 'evidence', row, 'modality')
        if row['person_name'] in [other['person_name'] for other in evidence[:place]]:
            say('repeated-evidence', 'evidence', row, 'person_name')


def judge_sources(rows, say):
    lists = [rows[role] for role in ('videos', 'shots') if role in rows]
    known = [(row['corpus_id'], row['video_id']) for each in lists for row in each]
    for row in rows['evidence']:
        if lists and (row['corpus_id'], row['video_id']) not in known:
            say('unknown-video', 'evidence', row, 'video_id')


def lacking(rows, role, others, fields, kind, say):
    known = [[row[field] for field in fields] for row in rows[others]]
    seen = []
    for row in rows[role]:
        values = [row[field] for field in fields]
        if values not in known and values not in seen:
            say(kind, role, row, fields[-1])
        seen.append(values)


def compare(rows, say):
    if 'videos' in rows:
        lacking(rows, 'hypothesis', 'videos', ['corpus_id', 'video_id'], 'unlisted-video', say)
    if 'reference' in rows:
        look_at_zeros(rows['hypothesis'], rows['reference'], say)
        video = ['corpus_id', 'video_id']
        lacking(rows, 'hypothesis', 'reference', video, 'unreferenced-video', say)
        lacking(rows, 'hypothesis', 'reference', ['person_name'], 'unreferenced-name', say)


def look_at_zeros(run, reference, say):
    relevant = [row['texts'][:3] for row in reference]
    seen = []
    for row in run:
        shot = row['texts'][:3]
        zeroless = [text.lstrip('0') for text in shot]
        same = [other for other in relevant if [text.lstrip('0') for text in other] == zeroless]
        if same and shot not in relevant and shot not in seen:
            places = [place for place in range(3) if shot[place] != same[0][place]]
            say('leading-zeros', 'hypothesis', row, FIELDS['reference'][places[0]])
        seen.append(shot)


def look_at_rows(run, say):
    right = [row for row in run if row['confidence'] is not None]
    for place, row in enumerate(right):
        said = [other for other in right[:place] if same(row, other, 'person_name')]
        confidences = [other['confidence'] for other in said]
        if row['confidence'] in confidences:
            say('repeated-row', 'hypothesis', row, 'corpus_id')
        elif said:
            say('two-confidences', 'hypothesis', row, 'confidence')
        before = [other['confidence'] for other in right[:place]]
        if row['confidence'] not in before and any(
            single(row['confidence']) == single(value) for value in before
        ):
            say('single-precision', 'hypothesis', row, 'confidence')
    if len(right) > 1 and len({row['confidence'] for row in right}) == 1:
        say('equal-confidences', 'hypothesis', right[0], 'confidence')
    for place, row in enumerate(run):
        names = {other['person_name'] for other in run[:place] if same(row, other)}
        if len(names) == 1 and row['person_name'] not in names:
            say('several-names', 'hypothesis', row, 'person_name')


def same(row, other, *fields):
    fields = ('corpus_id', 'video_id', 'shot_id', *fields)
    return all(row[field] == other[field] for field in fields)


def look_at_names(run, say):
    seen = []
    for row in run:
        name = row['person_name']
        if name in seen:
            continue
        if any(edit_distance(name, other) == 1 for other in seen):
            say('near-names', 'hypothesis', row, 'person_name')
        if unicodedata.normalize('NFC', name) != name:
            say('not-nfc', 'hypothesis', row, 'person_name')
        if any(letter.isupper() and letter != letter.lower() for letter in name):
            say('upper-case', 'hypothesis', row, 'person_name')
        seen.append(name)

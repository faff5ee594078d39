"""Small submissions, right and wrong, and what validation finds in them."""

import io

from hypothesis import strategies as st

from mediaeval_ap import validate


def named(content, name):
    stream = io.BytesIO(content)
    stream.name = name
    return stream


def found(run, **files):
    """(kind, source, line, field, found) of each problem of the run, a text."""
    rules = files.pop('rules', '2016')
    streams = {role: named(text.encode(), role) for role, text in files.items()}
    problems = validate(named(run.encode(), 'hypothesis'), rules=rules, **streams)
    return [(str(each.kind), each.source, each.line, each.field, each.found) for each in problems]


RUN = 'x v 1 ann 0.9\nx v 2 bob 0.8\n'
SHOTS = 'x v 1 0 1.5\nx v 2 1.5 3\n'
EVIDENCE = 'ann x v written 0.5\nbob x v pronounced 2\n'

numbers = st.sampled_from(['0.5', '1', '-0', '0', '0.50000000001', '-2', 'nan', '1e400', '1e39'])
spaces = st.sampled_from([' '] * 8 + ['  ', '\t', ' \t'])
ends = st.sampled_from([b'\n'] * 6 + [b'\r\n', b'  \n', b'\n\n'])
dirt = st.sampled_from([b''] * 12 + [b' ', b'\xe9', b'\0', b'\r', b' more', b'\xef\xbb\xbf'])


@st.composite
def contents(draw, fields, n_lines):
    """Lines of some fields, a few of them wrong in every way."""
    content = draw(st.sampled_from([b'', b'', b'\xef\xbb\xbf']))
    for _ in range(draw(st.integers(0, n_lines))):
        values = [draw(field) for field in fields]
        line = values[0] + ''.join(draw(spaces) + value for value in values[1:])
        before, after = (b'', draw(dirt)) if draw(st.booleans()) else (draw(dirt), b'')
        content += before + line.encode() + after + draw(ends)
    return content


corpora, videos, shots = (
    st.sampled_from(values) for values in ('xy', ('v', '7', '07'), ('1', '2', '02'))
)
names = st.sampled_from(['ann', 'anne', 'bob', 'Bob', 'bobo', 'zoé', 'zoe\u0308', 'a_b'])
modality = st.sampled_from(['written', 'pronounced', 'image'])
runs = contents((corpora, videos, shots, names, numbers), 8)
whole = st.fixed_dictionaries(
    {'hypothesis': runs},
    optional={
        'shots': contents((corpora, videos, shots, numbers, numbers), 3),
        'videos': contents((corpora, videos), 2),
        'evidence': contents((names, corpora, videos, modality, numbers), 4),
        'reference': contents((corpora, videos, shots, names), 3),
    },
)

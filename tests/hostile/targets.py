"""Targets of fuzzers: each reader, with bytes that may be anything.

A reader gives a table or raises an error of the package whose message is one printable line. All
else that is raised is a defect, as is a disagreement between the strict and the bulk reader.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import pyarrow
from click.testing import CliRunner
from line_files import parse_in_bulk, parse_in_python
from pyarrow import parquet

from hostile.containers import COMPRESS
from hostile.entries import REFERENCE, TRUTH, A, B
from hostile.submissions import SUBMISSIONS, TREC, entries, folder, leniently, outcome, validated
from mediaeval_ap import AveragePrecision, challenges, evaluate_trec, read_results
from mediaeval_ap.cli import main
from mediaeval_ap.comparison.score_tables import read_scores
from mediaeval_ap.tables import HYPOTHESIS, QUERIES, SUBSET, read
from mediaeval_ap.tables import REFERENCE as REFERENCE_LAYOUT
from mediaeval_ap.tables.first_look import kind_of
from mediaeval_ap.tables.layouts import QRELS, RecordLayout
from mediaeval_ap.tables.layouts import RUN as TREC_RUN
from mediaeval_ap.tables.records import read_records
from mediaeval_ap.tables.text.csv_text import parse_csv


@dataclass(frozen=True)
class Target:
    """A reader, and inputs that are right, to begin from."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]

    def __call__(self, data: bytes) -> None:
        """Read some bytes; raise only if that shows a defect."""
        outcome(partial(self.read, data))


def as_file(name, call, data):
    path = folder() / name
    path.write_bytes(data)
    return call(path)


def lines(layout, data):
    """Lines read by Python and by pyarrow first, which agree."""
    strict = outcome(lambda: list(parse_in_python(io.BytesIO(data), layout, 'file').rows()))
    bulk = outcome(lambda: list(parse_in_bulk(io.BytesIO(data), layout, 'file').rows()))
    assert bulk == strict, 'the bulk reader accepts something else'


def challenge(evaluate, truth, predictions, data):
    """A file in place of the truth, and in place of the predictions."""
    outcome(lambda: evaluate(io.BytesIO(data), io.BytesIO(predictions), unknown='drop'))
    evaluate(io.BytesIO(truth), io.BytesIO(data), unknown='drop')


def table(path):
    outcome(lambda: read(path, HYPOTHESIS))
    layouts = [RecordLayout(('person_name',), other_numbers=True), RecordLayout(('shot_id',))]
    for layout in layouts:
        outcome(lambda layout=layout: read_records(path, [layout]))


@cache
def a_result() -> bytes:
    """A result as a command writes it."""
    average_precision = AveragePrecision([('x', 'v', '1', 'ann')], [1, 'all'])
    evaluation = average_precision.evaluate([('x', 'v', '1', 'ann', 1)])
    return evaluation.to_json(per_query=True).encode()


def command(arguments, data):
    """A command that reads standard input line by line."""
    paths = {'REFERENCE': REFERENCE, 'RUN': A + B}
    for name, content in paths.items():
        (folder() / name).write_bytes(content)
    words = [str(folder() / word) if word in paths else word for word in arguments]
    done = CliRunner().invoke(main, words, input=data, catch_exceptions=False)
    assert done.exit_code in {0, 1}
    assert all(line.isprintable() for line in done.stderr.split('\n'))


def of_other_tools(path):
    """A file in place of the run, and in place of the qrels, and what `compare` takes it for."""
    judged, returned = {'q1': {'d1': 1}, '2': {'7': 1}}, {'q1': {'d1': 0.5}, '2': {'d2': 0.5}}
    kind_of(path)
    outcome(lambda: evaluate_trec(path, returned, missing='zero', unknown='drop'))
    evaluate_trec(judged, path, missing='zero', unknown='drop')


def stored() -> bytes:
    content = io.BytesIO()
    rows = zip(*(['x', 'v', str(shot), 'ann', 0.5] for shot in range(9)), strict=True)
    parquet.write_table(pyarrow.table(list(rows), list(HYPOTHESIS.fields)), content)
    return content.getvalue()


def read_run(path):
    return read(path, HYPOTHESIS)


RUN = (A + B, b'\xef\xbb\xbf' + A + b'\r\n' + 'x\tv 3  zo\u00eb 1e-7'.encode(), b'a b c d nan')
LISTS = (
    TRUTH['map'],
    b'customer_id,article_id\n1,a\n1,b\n',
    b'customer_id,prediction\n"1","a b"\n',
)
SURE = (
    b'id,landmarks\n1,a 0.9\n2,\n',
    TRUTH['gap'],
    b'\xef\xbb\xbfid,landmarks\r\n1,"a\t1e-7"\r\n',
)
SCORES = (b'fname,a,b\n1,.9,.1\n2, 1e3,-5\n', TRUTH['lrap'], b'fname,"a, b"\n"1","0.5"\n')
OTHER_TOOLS = (
    b'{"query_id": "q1", "results": [{"corpus_id": "d1", "score": 1}]}\n'
    b'{"query_id": 2, "results": [{"corpus_id": 7, "score": 0.5}]}\n',
    b'{"mteb_model_meta": {}, "en": {"test": {"q1": {"d1": 0.5, "d2": 1e-7}}}}',
    b'{\n  "q1": {\n    "d1": 1\n  }\n}',
    b'query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td2\t0\r\n',
    b'{"qid": "q1", "docno": "d1", "score": 1}\n{"score": 5, "qid": 2, "docno": 7}\n',
    b'[{"query_id": "q1", "doc_id": "d1", "relevance": 1}, {"query_id": 2}]',
    b',qid,docno,label\n0,q1,d1,1\n1,"2",7,0\n',
)
LINES_OF_SCORES = (
    b'{"item": "2026-01-02", "system": "a", "value": 1}\n\n'
    b'{"item": 7, "system": "a", "value": 0.5, "tags": [null]}\r\n',
    b'{"item": "007", "a": 0.5, "b": true}\n{"item": 7, "a": null, "b": 1e-7}',
)
CSV_LAYOUTS = [RecordLayout(('id', 'landmarks')), RecordLayout(('fname',), other_numbers=True)]

TARGETS = {
    'hypothesis': Target(partial(lines, HYPOTHESIS), RUN),
    'reference': Target(partial(lines, REFERENCE_LAYOUT), (REFERENCE, b'nan NA 1 "x\n')),
    'subset': Target(partial(lines, SUBSET), (b'x v\nx w\n', b'\t x  v \r\n')),
    'queries': Target(partial(lines, QUERIES), (b'ann\nbob\n', 'zo\u00eb\r\n\n'.encode())),
    **{
        kind: Target(
            partial(as_file, f'run.{kind}', read_run),
            (compress(A + B), compress(A) + compress(B * 1000)),
        )
        for kind, compress in COMPRESS.items()
    },
    'parquet': Target(partial(as_file, 'run.parquet', table), (stored(),)),
    'csv': Target(lambda data: parse_csv(data, CSV_LAYOUTS, 'file'), (*SURE, *SCORES)),
    'map': Target(partial(challenge, challenges.evaluate_map, TRUTH['map'], LISTS[0]), LISTS),
    'gap': Target(partial(challenge, challenges.evaluate_gap, TRUTH['gap'], SURE[0]), SURE),
    'lrap': Target(partial(challenge, challenges.evaluate_lrap, TRUTH['lrap'], SCORES[0]), SCORES),
    'stream': Target(partial(command, ['stream', 'REFERENCE', 'RUN']), (b'ann\nbob\n', b'a b\n\n')),
    'qrels': Target(partial(entries, QRELS), TREC[QRELS]),
    'trec-run': Target(partial(entries, TREC_RUN), TREC[TREC_RUN]),
    'other-tools': Target(partial(as_file, 'run', of_other_tools), OTHER_TOOLS),
    'scores': Target(
        partial(as_file, 'scores', lambda path: read_scores([('', '', path)])), LINES_OF_SCORES
    ),
    'lenient': Target(partial(leniently, HYPOTHESIS), RUN),
    'validate': Target(validated, SUBMISSIONS),
    'results': Target(lambda data: read_results(io.BytesIO(data)), (a_result(),)),
}

"""The plan of an evaluation in blocks: all that its values depend on, as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.errors import FormatError, shown
from mediaeval_ap.evaluation.criteria import Criteria
from mediaeval_ap.evaluation.scoring import Questions
from mediaeval_ap.results.result import SKIPPED
from mediaeval_ap.tables import Source, Table
from mediaeval_ap.tables.json_text import parsed_json

SCHEMA = 'mediaeval-ap/plan/1'
ANEW = 'begin again in another folder'
BLOCK_QUERIES = 100  # a killed process loses seconds of work, and the files stay few
KEY_DIGITS = 16  # of SHA-256: enough to tell files of one folder apart
INPUTS = ('reference', 'subset', 'queries')
ANOTHER = 'this folder holds another evaluation: choose another folder, or delete it'
RENAMED = 'the content is the same: give it under the name that the folder was begun with'
STRAY = 'this file is of another evaluation: move it to the folder of that one, or delete it'


@dataclass(frozen=True)
class Plan:
    """Settings and inputs as values of JSON, and the runs, each with its path and digests."""

    settings: Mapping[str, Any]
    runs: Sequence[Mapping[str, Any]]
    names: Sequence[str] = ()  # that were given to the runs, on which no value depends

    @property
    def given(self) -> Sequence[str]:
        """The name that was given to each run, empty without one."""
        return self.names or [''] * len(self.runs)

    @property
    def n_blocks(self) -> int:
        """The number of blocks of queries, for each run."""
        return -(-int(self.settings['n_queries']) // int(self.settings['block_queries']))

    @property
    def keys(self) -> list[str]:
        """The key of each run."""
        return list(map(self.key, range(len(self.runs))))

    def key(self, run: int) -> str:
        """Return the hash of all that the values of a run depend on."""
        text = json.dumps([self.settings, self.runs[run]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]

    def to_json(self) -> str:
        """Return the plan as the text of a file."""
        runs = [
            {**run, 'key': self.key(number), **({'run': name} if name else {})}
            for number, (run, name) in enumerate(zip(self.runs, self.given, strict=True))
        ]
        value = {'schema': SCHEMA, **self.settings, 'n_blocks': self.n_blocks, 'runs': runs}
        return f'{json.dumps(value, ensure_ascii=False, indent=2)}\n'

    @classmethod
    def from_json(cls, text: bytes, path: str) -> Plan:
        """Return the plan that a file holds, or refuse what this version did not write."""
        expected = f'the plan of an evaluation; {ANEW}'
        value = parsed_json(text, path, expected)
        try:
            found = {'schema': value.pop('schema'), 'version': value['version']}
        except (AttributeError, KeyError, TypeError):
            raise FormatError(path, '', '', 'no plan', expected) from None
        for field, wanted in {'schema': SCHEMA, 'version': __version__}.items():
            if found[field] != wanted:
                remedy = 'use the version that began this folder, or begin again in another one'
                raise FormatError(path, '', field, _told(found[field]), f'{wanted}; {remedy}')
        try:
            runs = value.pop('runs')
            del value['n_blocks']
            names = [run.pop('run', '') for run in runs]
            plan = cls(value, [{k: v for k, v in run.items() if k != 'key'} for run in runs], names)
            is_as_written = plan.to_json().encode() == text
        except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError):
            is_as_written = False
        if not is_as_written:
            expected = f'what evaluate wrote; {ANEW}'
            raise FormatError(path, '', '', 'an edited plan', expected)
        return plan

    def check_same(self, expected: Plan, path: str) -> None:
        """Refuse the plan that a file holds if another is expected; name the first difference."""
        found, wanted = (
            {
                **plan.settings,
                'number of runs': len(plan.runs),
                **{f'run {number}': run for number, run in enumerate(plan.runs, 1)},
            }
            for plan in (self, expected)
        )
        _refuse_difference(path, found, wanted, ANOTHER)

    def check_result(self, result: Mapping[str, Any], path: str) -> None:
        """Refuse a result that the plan does not have; `result` is the JSON of `Evaluation`."""
        manifest = result['manifest']
        found = {
            'version': manifest['version'],
            'definition': manifest['definition'],
            'K': manifest['parameters']['K'],
            'queries_without_relevant': manifest['parameters'].get(
                'queries_without_relevant', 'count'
            ),
            **{role: manifest['inputs'].get(role) for role in INPUTS},
            'judged': manifest['inputs'].get('judged'),
            'unjudged': manifest['parameters'].get('unjudged'),
        }
        expected = {name: _as_in_results(self.settings.get(name)) for name in found}
        _refuse_difference(path, found, expected, STRAY)
        run, runs = manifest['inputs']['hypothesis'], list(map(_as_in_results, self.runs))
        _refuse_difference(path, {'run': [run]}, {'run': [run] if run in runs else runs}, STRAY)


def plan_of(
    criteria: Criteria,
    questions: Questions,
    queries: Table | None,
    measures: Sequence[Any],
    runs: Sequence[Mapping[str, Any]],
    names: Sequence[str] = (),
) -> Plan:
    """Return the plan to score runs on queries, with measures of ir_measures."""
    tables = (criteria.reference.table, criteria.subset, queries)
    inputs = {
        role: None if table is None else described(table.source, digest_of_rows(table))
        for role, table in zip(INPUTS, tables, strict=True)
    }
    version = None
    if measures:
        from importlib import metadata  # here, as most evaluations have no need of it

        version = metadata.version('ir_measures')
    settings = {
        'version': __version__,
        'definition': criteria.definition.to_dict(),
        'K': list(criteria.K),
        'measures': list(map(str, measures)),
        'ir_measures': version,
        **inputs,
        'queries_without_relevant': criteria.queries_without_relevant,
        SKIPPED: questions.n_skipped,
        'n_queries': len(questions.names),
        'block_queries': BLOCK_QUERIES,
    }
    if criteria.judgements is not None:
        judged = criteria.judgements.judged.table
        settings['judged'] = described(judged.source, digest_of_rows(judged))
        settings |= criteria.judgements.parameters
    return Plan(settings, runs, names)


def described(source: Source, content: str | None = None) -> dict[str, str | None]:
    """Return an input as a plan has it; `content` is a digest where its file's does not suffice."""
    return {'name': source.name, 'sha256': source.sha256, 'content': content}


def digest_of_rows(table: Table) -> str:
    """Return SHA-256 of the rows of a table, however it numbers its texts.

    The digest of a file says nothing of rows that were selected, or never were in a file.
    """
    digest = hashlib.sha256(f'{len(table)} {" ".join(table.layout.fields)}\n'.encode())
    for field in table.layout.texts:
        column = table[field].sorted()
        digest.update(f'{json.dumps(column.values)}\n'.encode())
        digest.update(column.codes.astype('<i4').tobytes())
    if table.numbers is not None:
        digest.update(table.numbers.astype('<f8').tobytes())
    return digest.hexdigest()


def _refuse_difference(
    path: str, found: Mapping[str, Any], expected: Mapping[str, Any], remedy: str
) -> None:
    for field, wanted in expected.items():
        if found.get(field) != wanted:
            other = found.get(field)
            advice = RENAMED if _differ_by_name(other, wanted) else remedy
            raise FormatError(path, '', field, _told(other), f'{_told(wanted)}; {advice}')


def _differ_by_name(one: Any, other: Any) -> bool:
    """Return whether two inputs of plans have the same content."""
    are_inputs = all(isinstance(each, Mapping) and 'content' in each for each in (one, other))
    return are_inputs and {**one, 'name': ''} == {**other, 'name': ''}


def _as_in_results(value: Any) -> Any:
    """Return a setting as the manifest of a result has it."""
    if isinstance(value, dict) and 'content' in value:
        return {name: each for name, each in value.items() if name != 'content'}
    return value


def _told(value: Any) -> str:
    """Return a setting or an input as a message names it."""
    match value:
        case None | []:
            return 'none'
        case list():
            return ', '.join(
                shown(each) if isinstance(each, list) else _told(each) for each in value
            )
        case {'name': str(name), 'formula': str(formula)}:
            return f'{name} ({formula})'
        case {'name': str(name), 'sha256': str() | None as sha256}:
            digest = value.get('content') or sha256
            return f'{name} (SHA-256 {str(digest)[:KEY_DIGITS]}…)' if digest else name
        case str():
            return value
    return shown(value)

"""The published schemas of JSON."""

import json
from functools import cache
from pathlib import Path

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT202012

FOLDER = Path(__file__).parents[1] / 'docs/reference/schemas'


def schema_of(name):
    return json.loads((FOLDER / f'{name}.schema.json').read_text())


@cache
def registry():
    """All schemas by the names of their files, by which they refer to one another."""
    schemas = ((path.name, json.loads(path.read_text())) for path in FOLDER.glob('*.json'))
    resources = [(name, DRAFT202012.create_resource(schema)) for name, schema in schemas]
    return Registry().with_resources(resources)


def follow_schema(document, name):
    """Fail if a document is not as its schema says."""
    jsonschema.Draft202012Validator(schema_of(name), registry=registry()).validate(document)

"""The JSON of results of every kind: its head, and the manifest of what the values depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.definitions import Definition
from mediaeval_ap.tables import Provenance

RESULTS_SCHEMA = 'mediaeval-ap/results/1'


def json_document(schema: str, **entries: Any) -> dict[str, Any]:
    """Return the JSON object of a file, with its schema and the version of this package."""
    return {'schema': schema, 'version': __version__, **entries}


def manifest_json(**entries: Any) -> dict[str, Any]:
    """Return the manifest: the version of this package, then settings, inputs and counts."""
    return {'version': __version__, **{name: _as_json(entry) for name, entry in entries.items()}}


def _as_json(entry: Any) -> Any:
    """Return a definition, an input or a mapping of inputs as objects for JSON."""
    if isinstance(entry, Definition):
        return entry.to_dict()
    if isinstance(entry, Provenance):
        return asdict(entry)
    if isinstance(entry, Mapping):
        return {name: _as_json(value) for name, value in entry.items()}
    return entry


def read_inputs(manifest: Mapping[str, Any]) -> dict[str, Provenance]:
    """Return the inputs that a manifest lists, by role."""
    return {role: Provenance(**entry) for role, entry in manifest['inputs'].items()}

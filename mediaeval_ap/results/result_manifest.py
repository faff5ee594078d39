"""The manifest of a result in JSON: version, settings, inputs and counts behind its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mediaeval_ap import __version__
from mediaeval_ap.definitions import Definition
from mediaeval_ap.tables import Provenance

RESULTS_SCHEMA = 'mediaeval-ap/results/1'


def results_json(results: Sequence[Any], failed: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the JSON object of a file of results, and of runs that failed with their errors."""
    return {
        'schema': RESULTS_SCHEMA,
        'version': __version__,
        'results': results,
        'failed': [{'run': run, 'error': error} for run, error in failed],
    }


def settings_entries(
    definition: Definition | None, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings for a manifest: the definition in full, if any, and the parameters."""
    in_full = {'definition': definition.to_dict()} if definition else {}
    return {**in_full, 'parameters': dict(parameters)}


def manifest_json(
    settings: Mapping[str, Any], inputs: Mapping[str, Provenance], counts: Mapping[str, int]
) -> dict[str, Any]:
    """Return the manifest: settings, the name and hash of each input by role, and counts."""
    return {
        'version': __version__,
        **settings,
        'inputs': {
            role: {'name': source.name, 'sha256': source.sha256} for role, source in inputs.items()
        },
        'counts': dict(counts),
    }


def read_inputs(manifest: Mapping[str, Any]) -> dict[str, Provenance]:
    """Return the inputs that a manifest lists, by role."""
    return {role: Provenance(**entry) for role, entry in manifest['inputs'].items()}

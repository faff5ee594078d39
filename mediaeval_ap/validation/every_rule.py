"""All rules, each applied to the files of a submission that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mediaeval_ap.choices import Campaign
from mediaeval_ap.tables.text.format import Cause
from mediaeval_ap.tables.text.reader import LenientTable
from mediaeval_ap.validation.problems import Finding
from mediaeval_ap.validation.rules import format, names, other_files, repeats


def apply_rules(files: Mapping[str, LenientTable], campaign: Campaign) -> Iterator[Finding]:
    """Yield what every rule finds in the files that are given, by role."""
    run = files['hypothesis']
    for file in files.values():
        yield from format.wrong_format(file)
    yield format.wrong_lines('confidence', Cause.NUMBER, run)
    yield from repeats.repeated_rows(run)
    yield repeats.several_names(run)
    yield names.near_names(run)
    yield from names.misspelt_names(run)
    yield from repeats.equal_confidences(run)
    yield repeats.single_precision(run)
    if shots := files.get('shots'):
        yield from format.wrong_times_of_shots(shots)
    if evidence := files.get('evidence'):
        yield format.wrong_lines('timestamp', Cause.NUMBER, evidence)
        yield from format.negative_timestamps(evidence)
    if videos := files.get('videos'):
        yield other_files.videos_without('unlisted-video', run, videos)
    if reference := files.get('reference'):
        yield other_files.videos_without('unreferenced-video', run, reference)
        yield other_files.names_without('unreferenced-name', run, reference)
    if campaign != 'none':
        yield from _judge(files)


def _judge(files: Mapping[str, LenientTable]) -> Iterator[Finding]:
    """Yield what the rules find that only a campaign has."""
    run, evidence, shots = files['hypothesis'], files.get('evidence'), files.get('shots')
    yield names.names_of_other_letters(run)
    if shots:
        yield from other_files.unknown_shots(run, shots)
    if evidence:
        yield names.names_of_other_letters(evidence)
        if shots:
            yield from other_files.unknown_shots(evidence, shots)
        lists = [files[role] for role in ('videos', 'shots') if role in files]
        if lists:
            yield other_files.unknown_videos(evidence, lists)
        yield format.unknown_modalities(evidence)
        yield repeats.repeated_evidence(evidence)
        yield other_files.names_without('missing-evidence', run, evidence)
        yield other_files.names_without('unused-evidence', evidence, run)

"""The score of a hostile file, beside files that are right."""

from hostile.discovery_2015 import FILES_2015
from hostile.entries import REFERENCE, TRUTH, A, B
from hostile.trec import TREC
from mediaeval_ap import AveragePrecision, PersonDiscovery2015, challenges, evaluate_trec

CHALLENGES = {
    'map': challenges.evaluate_map,
    'gap': challenges.evaluate_gap,
    'lrap': challenges.evaluate_lrap,
}


def files_beside(folder, role):
    """Files that are right, for what a file of a role is scored with: their paths by role."""
    beside = {
        'reference': REFERENCE,
        'hypothesis': A + B,
        'truth': TRUTH.get(role, b''),
        **TREC,
        **{f'2015-{role}': content for role, content in FILES_2015.items()},
    }
    paths = {role: folder / f'{role}.txt' for role in beside}
    for each, content in beside.items():
        paths[each].write_bytes(content)
    return paths


def files_2015(paths):
    return {role.removeprefix('2015-'): path for role, path in paths.items() if '2015' in role}


def score_2015(files):
    discovery = PersonDiscovery2015(
        files['shots'],
        files['reference'],
        evidence_reference=files['evidence-reference'],
        consensus=files['consensus'],
    )
    return discovery.evaluate(files['labels'], files['evidence']).ewmap


def score(entry, path, paths):
    if entry.role in CHALLENGES:
        return CHALLENGES[entry.role](paths['truth'], path).value
    if entry.role in TREC:
        return evaluate_trec(paths['qrels'], paths['trec-run'], [1]).map[0]
    if entry.role.startswith('2015-'):
        return score_2015(files_2015(paths))
    average_precision = AveragePrecision(paths['reference'], [1], subset=paths.get('subset'))
    return average_precision.evaluate(paths['hypothesis'], paths.get('queries')).map[0]

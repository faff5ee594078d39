"""The score of a hostile file, beside files that are right."""

from hostile.entries import REFERENCE, TRUTH, A, B
from hostile.trec import TREC
from mediaeval_ap import AveragePrecision, challenges, evaluate_trec

CHALLENGES = {
    'map': challenges.evaluate_map,
    'gap': challenges.evaluate_gap,
    'lrap': challenges.evaluate_lrap,
}


def files_beside(folder, role):
    """Write right files, with which a file of this role is scored; return their paths by role."""
    beside = {
        'reference': REFERENCE,
        'hypothesis': A + B,
        'truth': TRUTH.get(role, b''),
        **TREC,
    }
    paths = {role: folder / f'{role}.txt' for role in beside}
    for each, content in beside.items():
        paths[each].write_bytes(content)
    return paths


def score(entry, path, paths):
    if entry.role in CHALLENGES:
        return CHALLENGES[entry.role](paths['truth'], path).value
    if entry.role in TREC:
        return evaluate_trec(paths['qrels'], paths['trec-run'], [1]).map[0]
    average_precision = AveragePrecision(paths['reference'], [1], subset=paths.get('subset'))
    return average_precision.evaluate(paths['hypothesis'], paths.get('queries')).map[0]

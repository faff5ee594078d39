"""A result of each kind, on small data."""

from challenge_inputs import SAMPLES

from mediaeval_ap import AveragePrecision, PersonDiscovery2015, challenges
from mediaeval_ap.definitions import Definition, Repeats
from mediaeval_ap.trec import evaluate_trec

REFERENCE = [('x', 'v', '1', 'ann'), ('x', 'w', '1', 'bob')]
RUN = [('x', 'v', '1', 'ann', 0.9), ('x', 'v', '1', 'bob', 0.5)]
MEAN = Definition('mine', ('k', 'N'), ('R', 'H'), 0.5, Repeats.DROP, 'a test')


def evaluation(**options):
    return AveragePrecision(REFERENCE, [1, 'all'], definition=MEAN).evaluate(
        RUN, ['ann', 'bob'], **options
    )


def discovery(evidence):
    folder = SAMPLES / 'discovery_2015'
    told = {'evidence_reference': folder / '2015.eviref'} if evidence else {}
    scorer = PersonDiscovery2015(folder / '2015.shot', folder / '2015.ref', **told)
    return scorer.evaluate(folder / 'run.label', folder / 'run.evidence' if evidence else None)


def challenge(evaluate, sample, **options):
    truth, *_, predictions = sorted(SAMPLES.glob(f'{sample}_*.csv'), reverse=True)
    return evaluate(truth, predictions, per_query=True, **options)


RESULTS = {
    'evaluate': evaluation,
    'measures without a value': lambda: AveragePrecision(
        REFERENCE, [1], definition='trec'
    ).evaluate([('y', 'v', '1', 'cid', 0.5), *RUN], ['ann', 'cid'], measures='nDCG@10'),
    'evaluate-2015': lambda: discovery(evidence=False),
    'evidence': lambda: discovery(evidence=True),
    'evaluate-trec': lambda: evaluate_trec({'7': {'d1': 1}}, {'7': {'d2': 0.9, 'd1': 0.5}}, 10),
    'map': lambda: challenge(challenges.evaluate_map, 'fashion'),
    'two cutoffs': lambda: challenge(challenges.evaluate_map, 'fashion', k=[3, 12]),
    'judged': lambda: AveragePrecision(
        REFERENCE, [1], judged=[row[:3] for row in RUN + REFERENCE]
    ).evaluate(RUN, ['ann', 'bob']),
    'first hit': lambda: challenge(challenges.evaluate_first_hit, 'whales'),
    'lrap': lambda: challenge(challenges.evaluate_lrap, 'sounds'),
    'lwlrap': lambda: challenge(challenges.evaluate_lrap, 'sounds', label_weighted=True),
    'macro-ap': lambda: challenge(challenges.evaluate_macro_ap, 'sounds'),
    'gap': lambda: challenge(challenges.evaluate_gap, 'landmarks'),
}

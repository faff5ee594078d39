"""A slow, obvious evaluator: every rule as it is written down, one hypothesis at a time.

Rows are tuples (corpus, video, shot, name) and (corpus, video, shot, name, confidence). Distances
and average precisions are exact fractions, so that nothing here can round two ways.
"""

import math
import struct
from fractions import Fraction
from itertools import groupby, permutations, product

# How close a metric has to be: a quotient or two in double precision, and sums of a few, are some
# units in the last place away.
CLOSE = {'rel': 1e-14, 'abs': 1e-15}


def edit_distance(a, b):
    """Return the Levenshtein distance by its recurrence, over code points."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def normalized_distance(a, b):
    return Fraction(edit_distance(a, b), max(len(a), len(b)))


def shot_order(shot):
    """Order numbers before texts, and equal numbers by their text."""
    return (0, int(shot), shot) if set(shot) <= set('0123456789') else (1, 0, shot)


def temporal_ranks(hypotheses):
    """Return the position of each hypothesis among those that share name, confidence and video."""
    ranks = {}
    for i, (corpus, video, _, name, confidence) in enumerate(hypotheses):
        group = [
            j
            for j, other in enumerate(hypotheses)
            if (other[0], other[1], other[3], other[4]) == (corpus, video, name, confidence)
        ]
        group.sort(key=lambda j: (shot_order(hypotheses[j][2]), j))
        ranks[i] = group.index(i) + 1
    return ranks


def ranked(hypotheses, query):
    """Return the hypotheses in their order for a query."""
    temporal = temporal_ranks(hypotheses)
    keyed = []
    for i, (corpus, video, shot, name, confidence) in enumerate(hypotheses):
        distance = normalized_distance(query, name)
        key = (distance, -confidence, temporal[i], video, corpus, shot_order(shot), name)
        keyed.append((key, i))
    return [hypotheses[i] for _, i in sorted(keyed)]


def relevance(ranking, relevant, repeats):
    """Return 1 or 0 by rank; `repeats` says what a shot counts that is returned again."""
    seen = set()
    result = []
    for hypothesis in ranking:
        shot = hypothesis[:3]
        if shot in seen and repeats == 'dropped':
            continue
        result.append(int(shot in relevant and not (shot in seen and repeats == 'irrelevant')))
        seen.add(shot)
    return result


def is_judged(judged, shot, query):
    """Return whether a list of shots, or of shots with a name and its relevance, has a pair."""
    return any(row[:3] == shot and (len(row) == 3 or row[3] == query) for row in judged)


def condensed(ranking, query, judged):
    """Return a ranking without the hypotheses whose shots nobody judged for the query."""
    return [row for row in ranking if is_judged(judged, row[:3], query)]


def judged_shares(hypotheses, query, K, definition, judged):
    """Return the share of the first k that is judged, for each cutoff; None of nothing."""
    ranking, seen = [], set()
    for row in ranked(hypotheses, query):
        if not (REPEATS[definition] == 'dropped' and row[:3] in seen):
            ranking.append(is_judged(judged, row[:3], query))
        seen.add(row[:3])
    tops = [ranking if k == 'all' else ranking[:k] for k in K]
    return [Fraction(sum(top), len(top)) if top else None for top in tops]


REPEATS = {
    'mediaeval-2016': 'again',
    'mediaeval-2016-final': 'again',
    'trec': 'dropped',
    'kaggle': 'irrelevant',
    'by-k': 'irrelevant',
    'hits': 'irrelevant',
    'oxford': 'dropped',
    'map-at-r': 'dropped',
}


def addend(n, rank, definition):
    """Return the addend of the n-th hit, alone at its rank."""
    if definition != 'oxford':
        return n / Fraction(rank)
    return (n / Fraction(rank) + ((n - 1) / Fraction(rank - 1) if rank > 1 else 1)) / 2


def average_precision(h, n_relevant, k, definition, blocks=None):
    """Apply the table of definitions; `h` is 1 or 0 by rank, in blocks by threshold."""
    R, N = n_relevant, len(h)
    if R == 0 or N == 0:
        return Fraction(R == 0 and definition.startswith('mediaeval-2016'))
    if k == 'all':
        k = max(R, N)
    hits, addends = [], []
    for block in blocks or [[hit] for hit in h]:
        above, before = len(hits), sum(hits)
        hits += [0] * (len(block) - 1) + [sum(block)]
        addend = Fraction(sum(hits), len(hits))
        if definition == 'oxford':
            addend = (addend + (Fraction(before, above) if above else 1)) / 2
        addends += [0] * (len(block) - 1) + [sum(block) * addend]
    depth = min(R, k) if definition in {'mediaeval-2016-final', 'map-at-r'} else k
    denominator = {
        'mediaeval-2016': min(R, k, N),
        'mediaeval-2016-final': min(R, k),
        'trec': R,
        'kaggle': min(R, k),
        'by-k': k,
        'hits': sum(hits[:k]) or 1,
        'oxford': R,
        'map-at-r': R,
    }[definition]
    return Fraction(sum(addends[:depth])) / denominator


def evaluate(reference, hypotheses, query, K, definition, subset=None, judged=None):
    """Return average precision of a query at each cutoff, and its number of relevant shots.

    With `judged`, hypotheses that nobody judged leave the ranking.
    """
    if subset is not None:
        reference = [row for row in reference if row[:2] in subset]
        hypotheses = [row for row in hypotheses if row[:2] in subset]
    relevant = [row[:3] for row in reference if row[3] == query]
    if REPEATS[definition] != 'again':
        relevant = list(set(relevant))
    ranking = ranked(hypotheses, query)
    if judged is not None:
        ranking = condensed(ranking, query, judged)
    h = relevance(ranking, set(relevant), REPEATS[definition])
    return [average_precision(h, len(relevant), k, definition) for k in K], len(relevant)


def words(field):
    """Return the labels in a field of CSV: the words between spaces, tabs and line ends."""
    found, word = [], ''
    for character in [*field.replace('\r\n', '\n'), ' ']:
        if character not in ' \t\n':
            word += character
        elif word:
            found.append(word)
            word = ''
    return found


def reciprocal_rank(label, predictions, k):
    for rank, prediction in enumerate(predictions[:k], 1):
        if prediction == label:
            return Fraction(1, rank)
    return Fraction(0)


def average_precision_of_labels(y_true, y_pred, k, definition):
    """Apply the table of definitions to labels in the place of shots."""
    repeats = REPEATS[definition]
    h = relevance([('', '', label) for label in y_pred], {('', '', x) for x in y_true}, repeats)
    n_relevant = len(y_true) if repeats == 'again' else len(set(y_true))
    return average_precision(h, n_relevant, k, definition)


def sum_of_precisions(h):
    return sum(Fraction(sum(h[:i]), i) * h[i - 1] for i in range(1, len(h) + 1))


def global_average_precision(predicted, confidence, truth, ties):
    """Try every order of every tie block; a missing prediction or label is `None`."""
    rows = [
        (-c, int(p == t))
        for p, c, t in zip(predicted, confidence, truth, strict=True)
        if p is not None
    ]
    rows.sort(key=lambda row: row[0])
    blocks = [[h for _, h in block] for _, block in groupby(rows, key=lambda row: row[0])]
    values = [sum_of_precisions(sum(order, ())) for order in product(*map(permutations, blocks))]
    value = {
        'expected': sum(values) / Fraction(len(values)),
        'stable': sum_of_precisions([h for _, h in rows]),
        'best': max(values),
        'worst': min(values),
        'threshold': sum(
            sum(block) * Fraction(sum(map(sum, blocks[:i])), sum(map(len, blocks[:i])))
            for i, block in enumerate(blocks, 1)
        ),
    }[ties]
    return value / sum(t is not None for t in truth)


def class_average_precision(y_true, y_score, ties):
    """Return the AP of each class, as GAP of samples that are all predicted to have the class."""
    values = []
    for true, scores in zip(zip(*y_true, strict=True), zip(*y_score, strict=True), strict=True):
        truth = [1 if label else None for label in true]
        predicted = [1] * len(truth)
        values.append(any(true) and global_average_precision(predicted, scores, truth, ties))
    return [float('nan') if value is False else value for value in values]


def label_precisions(true, scores):
    """Return |L| / rank at each true label of a sample, by class; 0 without scores (None)."""
    if scores is None:
        return {j: Fraction(0) for j, label in enumerate(true) if label}
    precisions = {}
    for j, score in enumerate(scores):
        if true[j]:
            at_least = [i for i, other in enumerate(scores) if other >= score]
            precisions[j] = Fraction(sum(true[i] for i in at_least), len(at_least))
    return precisions


def label_ranking_average_precision(y_true, y_score, weights):
    values = []
    for true, scores in zip(y_true, y_score, strict=True):
        precisions = label_precisions(true, scores).values()
        without_label = Fraction(scores is not None)
        values.append(sum(precisions) / Fraction(len(precisions)) if precisions else without_label)
    weights = [Fraction(weight) for weight in weights]
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def label_weighted_label_ranking_average_precision(y_true, y_score):
    """Return the mean, and by class the mean (or None) and the share of true labels."""
    pairs = [
        pair
        for true, scores in zip(y_true, y_score, strict=True)
        for pair in label_precisions(true, scores).items()
    ]
    by_class = [[p for label, p in pairs if label == j] for j in range(len(y_true[0]))]
    means = [sum(each) / Fraction(len(each)) if each else None for each in by_class]
    shares = [Fraction(len(each), len(pairs)) for each in by_class]
    return sum(p for _, p in pairs) / Fraction(len(pairs)), means, shares


def ratio(a, b):
    """Return the share of both names that stays when as little as possible is edited."""
    common = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            longer = max(common[i - 1][j], common[i][j - 1])
            common[i][j] = common[i - 1][j - 1] + 1 if x == y else longer
    return Fraction(2 * common[-1][-1], len(a) + len(b))


def evaluate_2015(reference, labels, query, least, consensus=None, evidence=None, known=None):
    """Return chosen name, AP and correctness by the protocol of 2015, as it is written down.

    Rows are (video, shot, name), (video, shot, name, confidence), (name, video, shot, source) and
    (video, shot, name, source).
    """
    relevant = {row[:2] for row in reference if row[2] == query}
    close = [(-ratio(query, name), name) for name in {row[2] for row in labels}]
    name = min(close)[1] if -min(close)[0] > least else None
    best = {}
    for video, shot, said, confidence in labels:
        if said == name and (consensus is None or (video, shot) in consensus):
            best[video, shot] = max(confidence, best.get((video, shot), confidence))
    ranking = sorted(best, key=lambda shot: (-best[shot], shot[0], shot_order(shot[1])))
    total, hits = Fraction(0), 0
    for rank, shot in enumerate(ranking, 1):
        if shot in relevant:
            hits += 1
            total += Fraction(hits, rank)
    ap = total / len(relevant) if relevant else Fraction(1)
    if evidence is None:
        return name, ap, None
    if name is None:
        return name, ap, not relevant
    correct = False
    for said, *shot, source in evidence:
        for *seen, who, where in known:
            same = source == where or 'both' in (source, where)
            correct = correct or (said == name and who == query and shot == seen and same)
    return name, ap, correct


def in_single_precision(number):
    try:
        return struct.unpack('f', struct.pack('f', number))[0]
    except OverflowError:
        return float('inf') if number > 0 else float('-inf')


def ranked_trec(qrels, run, topic, ties, level, skips_unjudged=False, ignored=()):
    """Return the (score, document) of a topic, best first, and its relevant documents.

    Rows are (topic, document, relevance) and (topic, document, score); of a document that the run
    lists again, the highest score counts.
    """
    judged = {row[1]: row[2] for row in qrels if row[0] == topic}
    junk = {document for document, relevance in judged.items() if relevance in ignored}
    relevant = {document for document, relevance in judged.items() if relevance >= level} - junk
    own = [(score, document) for asked, document, score in run if asked == topic]
    score_of = {document: score for score, document in sorted(own)}
    own = list(dict.fromkeys(row for row in own if row[0] == score_of[row[1]]))
    rows = [row for row in own if row[1] not in junk]
    if skips_unjudged:  # nor is what has a negative relevance judged, unless that is relevant
        rows = [row for row in rows if judged.get(row[1], -9) >= min(0, level)]
    if ties == 'trec_eval-9':
        rows = [(in_single_precision(score), text) for score, text in rows]
    if ties in {'trec_eval', 'trec_eval-9'}:
        rows.sort(key=lambda row: row[1].encode(), reverse=True)
    elif ties != 'stable':
        rows.sort(key=lambda row: (row[1] in relevant) != (ties == 'best'))
    rows.sort(key=lambda row: -row[0])
    return rows, relevant


def evaluate_trec(qrels, run, topic, K, definition, ties, level, skips_unjudged=False, ignored=()):
    """Return AP of a topic at each cutoff, over the orders of equal scores that `ties` asks for."""
    rows, relevant = ranked_trec(qrels, run, topic, ties, level, skips_unjudged, ignored)
    blocks = [
        [int(text in relevant) for _, text in block]
        for _, block in groupby(rows, key=lambda row: row[0])
    ]
    orders = list(product(*map(permutations, blocks))) if ties == 'expected' else [blocks]
    by_threshold = blocks if ties == 'threshold' else None
    values = []
    for order in orders:
        h = [hit for block in order for hit in block]
        arguments = definition, by_threshold
        values.append([average_precision(h, len(relevant), k, *arguments) for k in K])
    return [sum(column) / Fraction(len(values)) for column in zip(*values, strict=True)]


class Strata:
    """A topic that is judged by strata, and its ranking; everything is counted anew each time.

    Rows are (topic, document, stratum, relevance) and (topic, document, score). Only logarithms and
    the number of documents in the ideal ranking are doubles: rounding it down would magnify errors.
    """

    def __init__(self, qrels, run, topic, depth, level):
        self.pool = {row[1]: row[2:] for row in qrels if row[0] == topic}
        self.strata = sorted({stratum for stratum, _ in self.pool.values()})
        rows = [(row[2], row[1].encode()) for row in run if row[0] == topic]
        self.ranking = [document.decode() for _, document in sorted(rows, reverse=True)][:depth]
        self.depth = depth
        self.level = level

    def levels(self, documents, stratum):
        """Return the relevance of those that were pooled in a stratum, and of the judged ones."""
        pooled = [self.pool[text] for text in documents if text in self.pool]
        every = [relevance for where, relevance in pooled if where == stratum]
        return every, [relevance for relevance in every if relevance >= 0]

    def expected(self, documents):
        """Return the number of pooled documents, and the share of them that should be relevant."""
        n_pooled = sum(len(self.levels(documents, stratum)[0]) for stratum in self.strata)
        share = Fraction(0)
        for stratum in self.strata:
            every, judged = self.levels(documents, stratum)
            relevant = sum(relevance >= self.level for relevance in judged) + Fraction(1, 100_000)
            if every:
                in_stratum = relevant / (len(judged) + Fraction(3, 100_000))
                share += Fraction(len(every), n_pooled) * in_stratum
        return n_pooled, share

    def precision_at_hit(self, document):
        if document not in self.ranking:
            return Fraction(0)
        rank = self.ranking.index(document) + 1
        n_pooled, share = self.expected(self.ranking[: rank - 1])
        return Fraction(1, rank) + Fraction(n_pooled, rank) * share

    def average_precision(self):
        estimates, means = [], []
        for stratum in self.strata:
            every, judged = self.levels(self.pool, stratum)
            in_stratum = [text for text in self.pool if self.pool[text][0] == stratum]
            hits = [text for text in in_stratum if self.pool[text][1] >= self.level]
            if hits:
                estimates.append(Fraction(len(hits) * len(every), len(judged)))
                means.append(sum(map(self.precision_at_hit, hits)) / Fraction(len(hits)))
        total = sum(estimates)
        ap = sum(size / total * mean for size, mean in zip(estimates, means, strict=True))
        return ap * total / self.depth if total > self.depth else ap

    def precision(self, k):
        n_pooled, share = self.expected(self.ranking[:k])
        return n_pooled * share / k

    def ndcg(self):
        dcg = 0.0
        for stratum in self.strata:
            every, judged = self.levels(self.ranking, stratum)
            for rank, document in enumerate(self.ranking, 1):
                where, relevance = self.pool.get(document, ('', 0))
                if where == stratum and relevance > 0:
                    dcg += relevance / math.log2(rank + 1) / len(judged) * len(every)
        ideal = self.ideal_dcg()
        return dcg / ideal if ideal else 0.0

    def ideal_dcg(self):
        dcg, start = 0.0, 0.0
        for grade in sorted({relevance for _, relevance in self.pool.values()}, reverse=True):
            number = 0.0
            for stratum in self.strata:
                every, judged = self.levels(self.pool, stratum)
                number += judged.count(grade) * len(every) / max(1, len(judged))
            rank = start + 1
            while grade > 0 and rank <= start + number:
                dcg += grade / math.log2(rank + 1)
                if rank >= self.depth:  # but the next grade adds one document
                    break
                rank += 1
            start += number
        return dcg

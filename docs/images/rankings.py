"""Draw the rankings of the three sample queries: each hit as a bar, as high as the precision there.

`python docs/images/rankings.py` writes `rankings.svg`, which the tutorial "Score my run" shows.
"""

from pathlib import Path

from mediaeval_ap import AveragePrecision

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / 'samples'
K = 60
GREY, BLUE = '#808080', '#3d8fd9'  # both can be read on white and on black
WIDTH, HEIGHT, LEFT, TOP, STEP = 452, 250, 16, 62, 80
BAR, FULL = 7, 44  # pixels: a rank is so wide, and precision 1 so high


def rankings():
    """Each query with its AP, its number of relevant shots, and its first K (hit, precision)."""
    average_precision = AveragePrecision(SAMPLES / 'reference.txt', K=[K])
    session = average_precision(SAMPLES / 'hypothesis.txt')
    for query in (SAMPLES / 'queries.txt').read_text().split():
        answer = session.send(query)
        top = average_precision.rank(SAMPLES / 'hypothesis.txt', query, K)
        hits = list(zip(top['relevant'], top['precision'], strict=True))
        yield query, answer.ap[0], answer.n_relevant, hits


def text(x, y, words, style=''):
    return f'<text x="{x}" y="{y}" {style}>{words}</text>'


def as_svg():
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{GREY}">',
        f'<title>Hits among the first {K} ranks of three queries</title>',
    ]
    for row, (query, ap, n_relevant, hits) in enumerate(rankings()):
        ground = TOP + STEP * row
        lines.append(text(LEFT, ground - FULL - 4, query, 'font-weight="bold"'))
        result = f'AP@{K} {ap:.3f}, {n_relevant} relevant shots'
        lines.append(text(WIDTH - LEFT, ground - FULL - 4, result, 'text-anchor="end"'))
        lines.append(f'<path d="M{LEFT} {ground + 0.5}h{BAR * K}" stroke="{GREY}"/>')
        for rank, (hit, precision) in enumerate(hits):
            if hit:
                x, high = LEFT + BAR * rank + 1, round(FULL * precision, 1)
                bar = f'x="{x}" y="{round(ground - high, 1)}" width="{BAR - 2}" height="{high}"'
                lines.append(f'<rect {bar} fill="{BLUE}"/>')
    bottom = TOP + STEP * 2 + 20
    for rank in (1, 10, 20, 30, 40, 50, 60):
        centre = LEFT + BAR * (rank - 0.5)
        lines.append(text(centre, bottom, rank, 'text-anchor="middle" font-size="11"'))
    return '\n'.join([*lines, '</svg>', ''])


if __name__ == '__main__':
    (HERE / 'rankings.svg').write_text(as_svg())

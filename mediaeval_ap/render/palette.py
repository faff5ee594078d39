"""Colours of figures, for light and dark pages; told apart by colour-blind readers."""

# Each with its pair for a dark page. Marks have a contrast of 3 to the paper, text of 4.5.
COLOURS = {
    'text': ('#333a42', '#d5d9de'),
    'axis': ('#7a828c', '#8a929c'),
    'grid': ('#e3e6ea', '#2c3138'),
    'paper': ('#ffffff', '#15181c'),
    'blue': ('#0072b2', '#56b4e9'),
    'vermilion': ('#d55e00', '#e69f00'),
    'green': ('#009e73', '#12b886'),
    'mauve': ('#c973a3', '#f2a6cf'),
    'violet': ('#8a2be2', '#9a7dff'),
    'navy': ('#1b2640', '#e8eaee'),
    'grey': ('#7d7d7d', '#84868c'),
    'maroon': ('#7d1022', '#e0562b'),
    'gold': ('#8c6d00', '#f0d264'),
    'slate': ('#56626d', '#a3b1bd'),
    'silver': ('#919191', '#6c7078'),
    'quarter': ('#4f93d2', '#4779a8'),
    'half': ('#2f74b5', '#6199d0'),
    'three-quarters': ('#1d5590', '#8bbbe8'),
    'nearly-one': ('#12365e', '#c6e0fa'),
}
RUNS = ['blue', 'vermilion', 'green', 'mauve', 'violet', 'maroon', 'navy', 'grey']
DASHES: list[list[float]] = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
SHAPES = ['circle', 'square', 'triangle-up', 'diamond']
PARTS = {
    'repeats': 'grey',
    'ties': 'navy',
    'confidence': 'blue',
    'spelling': 'green',
    'confused': 'vermilion',
    'part_of_name': 'mauve',
    'noise': 'maroon',
    'copresent': 'violet',
    'absent': 'gold',
    'cutoff': 'slate',
    'unanswerable': 'silver',
}
VARIABLES = {light: f'var(--figure-{name})' for name, (light, _) in COLOURS.items()}


def light(name: str) -> str:
    """Return the colour of that name on white paper."""
    return COLOURS[name][0]


def of_runs(n_runs: int) -> list[str]:
    """Return a colour for each run; they repeat after eight, with another dash and shape."""
    return [light(RUNS[i % len(RUNS)]) for i in range(n_runs)]


def of_marks(n_runs: int) -> tuple[list[list[float]], list[str]]:
    """Return a dash and a shape for each run: another one for each eight of them."""
    rounds = [i // len(RUNS) for i in range(n_runs)]
    return [DASHES[i % len(DASHES)] for i in rounds], [SHAPES[i % len(SHAPES)] for i in rounds]

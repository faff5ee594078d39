"""Pages in headless Chromium, and what can be wrong with one of them."""

from dataclasses import dataclass
from pathlib import Path

CHROMIUM = '/usr/bin/chromium'  # as Debian has it
FLAGS = (
    '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
    '--disable-component-update --disable-sync'
)
TARGETS = 'wcag22aa'  # holds one rule, the size of what is pressed, which paper has none of
AXE_TAGS = ('wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', TARGETS, 'best-practice')
DESK, PHONE, PAPER = 1280, 390, 718  # pixels; A4 between margins of a centimetre
HEIGHT = 900
LEAST_PIXELS = 9  # of the letters in figures; smaller ones are hard to read on a phone
LEAST_CONTRAST = 4.5  # of text to its ground: level AA of WCAG 2.1; axe looks at no SVG


@dataclass(frozen=True)
class State:
    """How a page is looked at."""

    name: str
    width: int
    scheme: str = 'light'
    media: str = 'screen'


STATES = [
    State('desk-light', DESK),
    State('desk-dark', DESK, 'dark'),
    State('phone-light', PHONE),
    State('phone-dark', PHONE, 'dark'),
    State('print', PAPER, media='print'),
]

REPORT_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""

# Text that cannot be seen as a whole. What is meant for screen readers alone is a pixel wide.
CLIPPED = """
(isPrinted) => {
  const cutting = ['hidden', 'clip', ...(isPrinted ? ['auto', 'scroll'] : [])];
  const cuts = (value) => cutting.includes(value);
  const named = (element) => `${element.localName}#${element.id}.${element.getAttribute('class')}: `
    + element.textContent.trim().slice(0, 60);
  const faults = [];
  for (const each of document.body.querySelectorAll('*')) {
    if (!each.checkVisibility({ visibilityProperty: true }) || each.clientWidth <= 1) continue;
    const style = getComputedStyle(each);
    if (each instanceof HTMLElement && !(each instanceof HTMLSelectElement)) {
      if (cuts(style.overflowX) && each.scrollWidth > each.clientWidth + 1) {
        faults.push(`cut to the right by ${each.scrollWidth - each.clientWidth}: ${named(each)}`);
      }
      if (cuts(style.overflowY) && each.scrollHeight > each.clientHeight + 1) {
        faults.push(`cut below by ${each.scrollHeight - each.clientHeight}: ${named(each)}`);
      }
    }
  }
  return faults;
}
"""

# Labels of figures that leave their figure, lie on one another, or are too small or faint to read.
LABELS = """
([least, leastContrast]) => {
  const faults = [];
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const contrast = (colour) => {
    if (!colour.startsWith('rgb(')) return 1;
    const [high, low] = [paper, light(colour)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  for (const svg of document.querySelectorAll('svg')) {
    if (!svg.checkVisibility({ visibilityProperty: true })) continue;
    const frame = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal?.width ? frame.width / svg.viewBox.baseVal.width : 1;
    const labels = [...svg.querySelectorAll('text')]
      .filter((each) => each.textContent.trim() && getComputedStyle(each).opacity !== '0')
      .map((each) => [each.textContent, each.getBoundingClientRect(), each]);
    const where = svg.closest('[data-figure]')?.dataset.figure ?? 'svg';
    labels.forEach(([text, box, element], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1
          || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        faults.push(`${where}: "${text}" leaves the figure`);
      }
      const size = parseFloat(getComputedStyle(element).fontSize) * scale;
      if (size < least) faults.push(`${where}: "${text}" is ${size.toFixed(1)} pixels high`);
      const { fill } = getComputedStyle(element);
      if (contrast(fill) < leastContrast) faults.push(`${where}: "${text}" is ${fill} on the page`);
      for (const [other, its] of labels.slice(index + 1)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 2 && down > 3) faults.push(`${where}: "${text}" lies on "${other}"`);
      }
    });
  }
  return faults;
}
"""

ROWS = 40  # of a table; a choice: among them are all kinds of rows
FIRST_ROWS = """
(n) => document.querySelectorAll('tbody').forEach((body) => {
  [...body.rows].slice(n).forEach((row) => row.remove());
})
"""


class Visit:
    """A tab in one state that collects what a page complains of, and what it asks for."""

    def __init__(self, browser, state=STATES[0], **settings):
        self.state = state
        self.context = browser.new_context(
            viewport={'width': state.width, 'height': HEIGHT},
            color_scheme=state.scheme,
            reduced_motion='reduce',
            **settings,
        )
        self.tab = self.context.new_page()
        self.tab.emulate_media(media=state.media, color_scheme=state.scheme)
        self.faults = []
        self.requests = []
        self.tab.on('console', self._on_console)
        self.tab.on('pageerror', lambda error: self.faults.append(f'error: {error}'))
        self.tab.on('dialog', self._on_dialog)
        self.tab.on('request', lambda each: self.requests.append(each.url))
        self.tab.add_init_script(REPORT_VIOLATIONS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def _on_console(self, message):
        if message.type in ('error', 'warning'):
            self.faults.append(f'{message.type}: {message.text}')

    def _on_dialog(self, dialog):
        self.faults.append(f'dialog: {dialog.message}')
        dialog.dismiss()

    def open(self, url):
        """Open a page, and wait until all its figures are drawn."""
        self.tab.goto(url)
        for figure in self.tab.locator('[data-figure]').all():
            figure.locator('.canvas svg').first.wait_for()
        return self.tab

    def asked_elsewhere(self, url):
        """The requests but that for the page itself, and what the page holds in itself."""
        return [each for each in self.requests if each != url and not each.startswith('data:')]

    def open_details(self):
        self.tab.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")

    def width(self):
        return self.tab.evaluate('document.documentElement.scrollWidth')

    def clipped(self):
        return self.tab.evaluate(CLIPPED, self.state.media == 'print')

    def bad_labels(self):
        return self.tab.evaluate(LABELS, [LEAST_PIXELS, LEAST_CONTRAST])

    def axe(self):
        """What axe-core finds on the first rows of each table; on all it takes minutes."""
        from axe_playwright_python.sync_playwright import Axe

        self.tab.evaluate(FIRST_ROWS, ROWS)
        tags = [each for each in AXE_TAGS if each != TARGETS or self.state.media == 'screen']
        # Of what it does not find, some megabytes would be sent.
        options = {'runOnly': {'type': 'tag', 'values': tags}, 'resultTypes': ['violations']}
        found = Axe().run(self.tab, options=options).response['violations']
        return [
            f'{rule["id"]}, {len(rule["nodes"])} times: {node["target"]}: {node["failureSummary"]}'
            for rule in found
            for node in rule['nodes'][:3]
        ]

    def screenshot(self, folder, name):
        if folder:
            path = Path(folder, f'{name}-{self.state.name}.png')
            self.tab.screenshot(path=path, full_page=True)

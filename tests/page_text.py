"""A page as its text says it, without a browser: elements, scripts, data."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser


class PageText(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []  # (name, attributes) of each
        self.inside = {'script': [], 'style': [], 'h1': [], 'h2': [], 'title': []}  # texts of these
        self.cells = []  # texts of the cells of tables
        self._open = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == 'wbr':  # within a text
            return
        self._open = tag
        if tag in self.inside:
            self.inside[tag].append('')
        elif tag in ('td', 'th'):
            self.cells.append('')

    def handle_data(self, text):
        if self._open in self.inside:
            self.inside[self._open][-1] += text
        elif self._open in ('td', 'th'):
            self.cells[-1] += text

    def handle_endtag(self, tag):
        self._open = None

    def attributes(self, name):
        """The values of an attribute, of all elements that have it."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def unpacked(text, block='page-data'):
    packed = re.search(f'id="{block}">([^<]*)<', text)[1]
    return zlib.decompress(base64.b64decode(packed), 16 + zlib.MAX_WBITS).decode()


def as_rows(part):
    """Undo `mediaeval_ap.render.page.as_columns`, as the script of a page does."""
    if isinstance(part, list):
        return list(map(as_rows, part))
    if not isinstance(part, dict):
        return part
    fields = {key: as_rows(value) for key, value in part.items()}
    n = fields.pop('', None)
    if n is None:
        return fields
    columns = (column if isinstance(column, list) else [column] * n for column in fields.values())
    return [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]


def data_of(text):
    """The data of a page, with the values by metric, run and query."""
    data = as_rows(json.loads(unpacked(text)))
    if 'values' in data:
        by_metric = zip(*data['values'], strict=True)
        values = [list(map(list, zip(*of_metric, strict=True))) for of_metric in by_metric]
        data['values'] = dict(zip(data['metrics'], values, strict=True))
    return data

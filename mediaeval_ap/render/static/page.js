'use strict';
/* What every page does: unpack its data, draw figures, sort and filter tables. Text of the data is
   only ever put into the page as text. */
const Page = (() => {
  /* As the package quotes data: an escape for what hides text or turns it around. */
  const printable = (text) => text.replace(/(?! )[\p{C}\p{Z}]/gu, (letter) => {
    const code = letter.codePointAt(0).toString(16);
    if (code.length < 3) return `\\x${code.padStart(2, '0')}`;
    return code.length < 5 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
  });
  const element = (tag, text = '', attributes = {}) => {
    const node = document.createElement(tag);
    const parts = printable(text).split(/(?<=[_/-])/);  // a browser folds names between these, not within them
    parts.forEach((part, i) => node.append(...(i ? [document.createElement('wbr'), part] : [part])));
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const byId = (id) => document.getElementById(id);
  /* As Python shows a number: a half goes to the even digit, and zero has no sign. */
  const fixed = (value, digits = 3) => {
    if (value == null) return '–';
    const isHalf = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
    let text = value.toFixed(digits);
    if (isHalf && text.at(-1) % 2) text = (value - Math.sign(value) * 10 ** -digits / 2).toFixed(digits);
    return Number(text) === 0 ? text.replace('-', '') : text;
  };
  /* Text as searches compare it: without case, accents, and kinds of space. */
  const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase('en').replace(/[\s_-]+/g, ' ').trim();
  const counted = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

  const unpacked = async (id) => {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).text();
  };

  /* Tables */
  const valueOf = (cell, kind) => {
    if (kind !== 'number') return cell.textContent;
    const text = cell.dataset.v ?? cell.textContent.replaceAll(',', '');
    const value = parseFloat(text);
    return Number.isNaN(value) ? -Infinity : value;
  };
  const compare = (a, b) => (typeof a === 'number' ? a - b : a.localeCompare(b, 'en'));
  const sort = (table, head, direction) => {
    const column = [...head.parentNode.children].indexOf(head);
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column], head.dataset.sort), row]);
    rows.sort((a, b) => direction * compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
    for (const each of table.tHead.querySelectorAll('[aria-sort]')) each.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
  };
  /* Sort a table as it was, once it has other values. */
  const resort = (id) => {
    const head = byId(id)?.tHead.querySelector('[aria-sort$="ending"]');
    if (head) sort(byId(id), head, head.getAttribute('aria-sort') === 'ascending' ? 1 : -1);
  };
  const sortable = (table) => {
    for (const head of table.tHead.querySelectorAll('th[data-sort]')) {
      const button = element('button', '', { type: 'button' });
      button.append(...head.childNodes);
      head.append(button);
      if (!head.hasAttribute('aria-sort')) head.setAttribute('aria-sort', 'none');
      button.addEventListener('click', () => {
        const direction = head.getAttribute('aria-sort');
        if (direction === 'none') {
          sort(table, head, head.dataset.sort === 'number' && head.textContent.trim() !== 'Rank' ? -1 : 1);
          return;
        }
        table.tBodies[0].append(...[...table.tBodies[0].rows].reverse()); // equal values, too
        head.setAttribute('aria-sort', direction === 'ascending' ? 'descending' : 'ascending');
      });
    }
  };
  const filters = (input) => {
    const body = byId(input.dataset.filters).tBodies[0];
    const shown = byId(input.id).parentNode.querySelector('output');
    const apply = () => {
      const wanted = folded(input.value);
      const rows = [...body.rows].filter((row) => !row.hasAttribute('data-out'));
      for (const row of body.rows) {
        row.hidden = wanted !== '' && !folded(row.textContent).includes(wanted);
      }
      const n = rows.filter((row) => !row.hidden).length;
      const found = n === 0 ? 'nothing matches' : `${counted(n, 'row', 'rows')} of ${rows.length.toLocaleString('en')}`;
      shown.textContent = wanted ? found : '';
    };
    input.addEventListener('input', apply);
    return apply;
  };

  /* The Tab key stops once at all buttons of a table or list; arrow keys go from one to the next. */
  const stopsOnce = (box) => {
    const buttons = () => [...box.querySelectorAll('button')];
    const stop = (at) => { for (const button of buttons()) button.tabIndex = button === at ? 0 : -1; };
    const atFirst = () => stop(buttons().find((button) => button.checkVisibility()) ?? buttons()[0]);
    new MutationObserver(atFirst).observe(box, { attributeFilter: ['hidden'], childList: true, subtree: true });
    box.addEventListener('focusin', ({ target }) => stop(target));
    box.addEventListener('focusout', atFirst);
    box.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const seen = buttons().filter((button) => button.checkVisibility());
      seen[seen.indexOf(event.target) + step]?.focus();
      event.preventDefault();
    });
  };

  /* Fades at the right and lower edges of what goes on there */
  const fades = (box) => {
    const apply = () => {
      box.classList.toggle('goes-on', box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
      box.classList.toggle('fits', box.scrollWidth <= box.clientWidth);
      box.classList.toggle('goes-down', box.scrollTop + box.clientHeight < box.scrollHeight - 1);
    };
    const observer = new ResizeObserver(apply);
    for (const each of [box, ...box.children]) observer.observe(each);
    box.addEventListener('scroll', apply);
  };

  /* Figures */
  let loading = null;
  const library = () => {
    loading ??= unpacked('page-bundle').then((text) => {
      const script = element('script');
      script.textContent = text;
      document.body.append(script);
      return window.vegaEmbed;
    });
    return loading;
  };
  const views = new Map();
  const SVG = 'http://www.w3.org/2000/svg';
  const swatch = ({ colour, dash }, isLine) => {
    const svg = document.createElementNS(SVG, 'svg');
    const shape = document.createElementNS(SVG, isLine ? 'line' : 'rect');
    const attributes = isLine
      ? { x1: 0, x2: 20, y1: 4, y2: 4, stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': dash }
      : { width: 8, height: 8, fill: colour };
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    svg.setAttribute('viewBox', isLine ? '0 0 20 8' : '0 0 8 8');
    svg.setAttribute('class', isLine ? 'swatch line' : 'swatch');
    svg.setAttribute('aria-hidden', 'true');
    svg.append(shape);
    return svg;
  };
  const drawing = new Map();
  const settled = () => Promise.allSettled(drawing.values());
  const draw = (...figure) => drawing.set(figure[0], drawn(...figure));
  const drawn = async (name, { spec, legend }, { onView, isLines } = {}) => {
    const figure = document.querySelector(`[data-figure="${name}"]`);
    const list = figure.querySelector('.legend');
    list.hidden = legend.length < 2;
    list.replaceChildren(...legend.map((entry) => {
      const item = element('li');
      item.append(swatch(entry, isLines), entry.label);
      return item;
    }));
    const embed = await library();
    views.get(name)?.finalize();
    const { view } = await embed(figure.querySelector('.canvas'), spec, {
      actions: false, ast: true, renderer: 'svg', defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    });
    views.set(name, view);
    onView?.(view);
  };

  /* CSV as of RFC 4180. What a spreadsheet would take for a formula begins with an apostrophe. */
  const field = (value) => {
    const text = typeof value === 'string' && /^[=+\-@＝＋－＠\t\r\n]/.test(value) ? `'${value}` : String(value ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const saves = (table, rows) => {
    const button = element('button', 'Save as CSV', { type: 'button', class: 'csv' });
    const csv = () => rows().map((row) => `${row.map(field).join(',')}\r\n`).join('');
    button.addEventListener('click', () => save(csv(), `${table.id || 'leaderboard'}.csv`, 'text/csv'));
    (table.hasAttribute('role') ? table.parentNode : table.caption).append(' ', button); // no child of a role
  };
  const copies = (button) => button.addEventListener('click', () => {
    const short = button.previousElementSibling;
    const copied = navigator.clipboard?.writeText(short.title) ?? Promise.reject(); // none without https
    copied.then(() => { button.textContent = 'Copied'; }, () => { short.textContent = short.title; });
  });

  const begin = async () => {
    document.documentElement.classList.add('script');
    document.querySelectorAll('table.sortable').forEach(sortable);
    document.querySelectorAll('.copy').forEach(copies);
    document.querySelectorAll('.scrolls, .sections ul').forEach(fades);
    new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty('--bar', `${target.offsetHeight}px`)).observe(document.querySelector('.sections'));
    const appliers = [...document.querySelectorAll('[data-filters]')].map(filters);
    appliers.forEach((apply) => apply());
    return JSON.parse(await unpacked('page-data'));
  };
  const save = (text, name, type) => {
    const link = element('a', '', { download: name });
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.click();
    URL.revokeObjectURL(link.href);
  };
  /* A browser without a window prints once the page is loaded. This frame delays that until all is drawn. */
  const pending = document.body.appendChild(element('iframe', '', { hidden: '' }));
  pending.contentDocument.open();
  const loaded = () => {
    pending.contentDocument.close();
    pending.remove();
  };
  const ready = begin();
  return { byId, counted, draw, element, field, fixed, folded, loaded, printable, ready, resort, save, saves, settled, stopsOnce };
})();

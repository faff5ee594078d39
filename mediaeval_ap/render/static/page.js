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
    const letters = atob(byId(id).textContent);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).text();
  };

  /* Rows that stand as columns, with their number below the empty key, which nothing else has. */
  const asRows = (part) => {
    if (part === null || typeof part !== 'object') return part;
    if (Array.isArray(part)) return typeof part[0] === 'object' ? part.map(asRows) : part;
    const fields = Object.entries(part).map(([key, value]) => [key, asRows(value)]);
    if (!Object.hasOwn(part, '')) return Object.fromEntries(fields);
    const rows = Array.from({ length: part[''] }, () => ({}));
    for (const [key, column] of fields) {
      if (key) rows.forEach((row, i) => { row[key] = Array.isArray(column) ? column[i] : column; });
    }
    return rows;
  };

  /* Tables */
  const lists = new Map();  // tables whose rows are drawn where they are in sight
  const valueOf = (cell, kind) => {
    if (kind !== 'number') return cell.textContent;
    const text = cell.dataset.v ?? cell.textContent.replaceAll(',', '');
    const value = parseFloat(text);
    return Number.isNaN(value) ? -Infinity : value;
  };
  const { compare: compareTexts } = new Intl.Collator('en');
  const sorted = (rows, direction) => {
    const texts = typeof rows[0]?.[0] === 'string' ? [...new Set(rows.map(([value]) => value))].sort(compareTexts) : [];
    const places = new Map(texts.map((text, i) => [text, i]));
    const keyed = rows.map(([value, row]) => [places.get(value) ?? value, row]);
    return keyed.sort((a, b) => direction * (a[0] - b[0])).map(([, row]) => row);
  };
  const sort = (table, head, direction) => {
    const column = [...head.parentNode.children].indexOf(head);
    const body = table.tBodies[0];
    if (lists.has(table)) lists.get(table).sort(column, direction);
    else body.append(...sorted([...body.rows].map((row) => [valueOf(row.cells[column], head.dataset.sort), row]), direction));
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
        if (lists.has(table)) lists.get(table).reverse();
        else table.tBodies[0].append(...[...table.tBodies[0].rows].reverse()); // equal values, too
        head.setAttribute('aria-sort', direction === 'ascending' ? 'descending' : 'ascending');
      });
    }
  };
  const filters = (input) => {
    const table = byId(input.dataset.filters);
    const body = table.tBodies[0];
    const output = byId(input.id).parentNode.querySelector('output');
    const inElements = (wanted) => {
      const rows = [...body.rows].filter((row) => !row.hasAttribute('data-out'));
      for (const row of body.rows) {
        row.hidden = wanted !== '' && !folded(row.textContent).includes(wanted);
      }
      return [rows.filter((row) => !row.hidden).length, rows.length];
    };
    const apply = () => {
      const wanted = folded(input.value);
      const [n, all] = lists.has(table) ? lists.get(table).filter(wanted) : inElements(wanted);
      const found = n === 0 ? 'nothing matches' : `${counted(n, 'row', 'rows')} of ${all.toLocaleString('en')}`;
      output.textContent = wanted ? found : '';
    };
    input.addEventListener('input', apply);
    return apply;
  };

  /* A table whose rows are data: `cells` gives the texts or elements of a row, with their classes,
     `value` what a column sorts it by, `name` what it is filtered by. Rows in sight are drawn, and
     rows of a height stand for the others. It returns the function that draws all of it. */
  const LEAST = 60;  // rows; a smaller table is drawn whole
  const MORE = 8;  // rows drawn on either side of those in sight
  const PRINTED = 40;
  const list = (table, { count, cells, value, name }) => {
    const body = table.tBodies[0];
    const box = table.closest('.scrolls');
    const all = box.previousElementSibling?.querySelector('input[type="checkbox"]');
    let isPrinted = false;
    const [above, below] = ['tr', 'tr'].map((tag) => element(tag, '', { class: 'space', 'aria-hidden': 'true' }));
    for (const row of [above, below]) row.append(element('td', '', { colspan: table.tHead.rows[0].cells.length }));
    const names = Array.from({ length: count }, (_, i) => folded(name(i)));
    const heights = new Float64Array(count);
    let usual = 28;  // pixels, until rows were measured
    let order = [...names.keys()];
    let wanted = '';
    let shown = order;
    let drawn = new Map();
    const make = (i) => {
      const row = element('tr');
      cells(i).forEach(([content, kind], column) => {
        const cell = element(column ? 'td' : 'th', typeof content === 'string' ? content : '', column ? {} : { scope: 'row' });
        if (typeof content !== 'string') cell.append(content);
        if (kind) cell.className = kind;
        row.append(cell);
      });
      return row;
    };
    const height = (begin, end) => shown.slice(begin, end).reduce((sum, i) => sum + (heights[i] || usual), 0);
    const inSight = () => {
      if (isPrinted) return [0, all && !all.checked ? PRINTED : shown.length];
      const [frame, place] = [box, body].map((each) => each.getBoundingClientRect());
      const [top, bottom] = [Math.max(frame.top, 0) - place.top, Math.min(frame.bottom, innerHeight) - place.top];
      if (bottom <= top || !frame.height) return null;
      let [first, sum] = [0, 0];
      while (first < shown.length && sum < top) sum += heights[shown[first++]] || usual;
      let last = first;
      while (last < shown.length && sum < bottom) sum += heights[shown[last++]] || usual;
      return [first, last];
    };
    let span = [0, 3 * MORE];
    const draw = () => {
      const [first, last] = inSight() ?? [0, 2 * MORE];
      if (shown.length <= LEAST) span = [0, LEAST];
      else span = isPrinted ? [first, last] : [Math.max(0, first - MORE), last + MORE];
      const rows = new Map(shown.slice(...span).map((i) => [i, drawn.get(i) ?? make(i)]));
      for (const [i, row] of drawn) if (rows.get(i) !== row) row.remove();
      drawn = rows;
      let next = body.firstElementChild === above ? above.nextElementSibling : body.firstElementChild;
      for (const row of rows.values()) {
        if (row === next) next = next.nextElementSibling;
        else body.insertBefore(row, next);
      }
      for (const [row, before, size] of [[above, true, height(0, span[0])], [below, false, height(span[1])]]) {
        if (!size) row.remove();
        else if (!row.isConnected) body[before ? 'prepend' : 'append'](row);
        row.firstElementChild.style.height = `${size}px`;
      }
      table.classList.toggle('many', rows.size < count);
      for (const [i, row] of rows) heights[i] = row.offsetHeight || heights[i];
      const known = heights.filter(Boolean);
      if (known.length) usual = known.reduce((sum, each) => sum + each, 0) / known.length;
    };
    const select = () => {
      shown = wanted ? order.filter((i) => names[i].includes(wanted)) : order;
      draw();
      return [shown.length, count];
    };
    const later = () => requestAnimationFrame(draw);
    for (const target of [window, document]) {
      for (const kind of ['scroll', 'resize']) target.addEventListener(kind, later, { capture: true, passive: true });
    }
    all?.addEventListener('change', later);
    for (const kind of ['beforeprint', 'afterprint']) {
      addEventListener(kind, () => { isPrinted = kind === 'beforeprint'; draw(); });
    }
    new ResizeObserver(later).observe(box);
    const redraw = () => {
      for (const row of drawn.values()) row.remove();
      drawn = new Map();
      draw();
    };
    lists.set(table, {
      filter: (text) => { wanted = text; return select(); },
      reverse: () => { order = order.toReversed(); select(); },
      sort: (column, direction) => {
        order = sorted(Array.from({ length: count }, (_, i) => [value(i, column), i]), direction);
        select();
      },
    });
    return redraw;
  };

  /* The Tab key stops once at all buttons of a table or list; arrow keys go from one to the next. */
  const stopsOnce = (box) => {
    const buttons = () => [...box.querySelectorAll('button')];
    const stop = (at) => { for (const button of buttons()) button.tabIndex = button === at ? 0 : -1; };
    const atFirst = () => stop(buttons().find((button) => button === document.activeElement)
      ?? buttons().find((button) => button.checkVisibility()) ?? buttons()[0]);
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
  /* Figures are drawn one after another, first those in sight, so that the page answers meanwhile */
  const waiting = new Map();
  let drawing = null;
  const settled = () => drawing ?? Promise.resolve();
  const figureOf = (name) => document.querySelector(`[data-figure="${name}"]`);
  const isInSight = (name) => {
    const { top, bottom } = figureOf(name).getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const drawWaiting = async () => {
    while (waiting.size) {
      await new Promise((resolve) => { setTimeout(resolve); });
      const name = [...waiting.keys()].find(isInSight) ?? waiting.keys().next().value;
      const figure = waiting.get(name);
      waiting.delete(name);
      await drawn(name, ...figure).catch(reportError);
    }
    drawing = null;
  };
  const draw = (name, { spec, legend }, { onView, isLines } = {}) => {
    const list = figureOf(name).querySelector('.legend');
    list.hidden = legend.length < 2;
    list.replaceChildren(...legend.map((entry) => {
      const item = element('li');
      item.append(swatch(entry, isLines), entry.label);
      return item;
    }));
    waiting.set(name, [spec, onView]);
    drawing ??= drawWaiting();
  };
  /* On a narrow screen, names of runs stand above their bars, and at ends of lines take 30 % */
  const NARROW = 480;
  const fitted = (spec, width) => {
    if (width >= NARROW) return spec;
    const narrow = structuredClone(spec);
    for (const { mark, encoding } of narrow.layer) {
      if (mark.limit) mark.limit = 0.3 * width;
      if (!encoding.y?.axis?.labelLimit) continue;
      if (mark.type === 'bar') mark.height = { band: 0.4 };
      Object.assign(encoding.y.axis, { labelAlign: 'left', labelPadding: -8, labelOffset: -14, labelLimit: width - 24 });
      narrow.height = 34 * encoding.y.scale.domain.length;
    }
    return narrow;
  };
  const drawn = async (name, spec, onView) => {
    const embed = await library();
    views.get(name)?.finalize();
    const canvas = figureOf(name).querySelector('.canvas');
    const { view } = await embed(canvas, fitted(spec, canvas.clientWidth), {
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
    return asRows(JSON.parse(await unpacked('page-data')));
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
  return { byId, counted, draw, element, field, fixed, folded, list, loaded, printable, ready, resort, save, saves, settled, stopsOnce };
})();

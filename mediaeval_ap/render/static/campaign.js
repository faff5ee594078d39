'use strict';
/* What follows from the choice of a cutoff, two runs, or a query, on the page of a comparison; of a
   campaign, there are rankings, too. */
Page.ready.then((data) => {
  const { byId, counted, draw, element, fixed, folded, list, printable, resort, save, saves, settled, stopsOnce } = Page;
  const { comparison, metrics, queries, rankings, runs } = data;
  /* By query, which compresses best, and by metric */
  const byRun = (number) => runs.map((_, run) => data.values.map((ofQuery) => ofQuery[number][run]));
  data.values = Object.fromEntries(metrics.map((name, number) => [name, byRun(number)]));
  const [one, many] = byId('main').dataset.terms.split(' ');
  const [low, high] = comparison.manifest.parameters.range ?? [0, 1];
  const sign = comparison.manifest.parameters.lower_is_better ? -1 : 1;
  const second = Math.min(1, runs.length - 1);
  const begin = {
    cutoff: 0, a: 0, b: second, run: 0, beside: second, confused: 0,
    query: Number(byId('query')?.dataset.first ?? 0), // of pages without rankings always 0
  };
  const chosen = { ...begin };
  const metric = () => metrics[chosen.cutoff];
  const values = () => data.values[metric()];
  const apName = () => metric().replace(/\bMAP\b|\bmacro AP\b/, 'AP');
  const cells = (row, list) => list.forEach(([text, kind]) => row.append(element('td', text, kind ? { class: kind } : {})));

  /* A figure of other rows, with only those entries of its legend that it shows. */
  const withRows = (name, values, isShown = () => true) => {
    const { spec, legend } = structuredClone(data.figures[name]);
    spec.data.values = values;
    return { spec, legend: legend.filter((entry) => isShown(entry.label)) };
  };

  /* Leaderboard, loss, distribution and queries at the chosen cutoff */
  const rowsOf = (id) => [...byId(id)?.tBodies[0].rows ?? []];  // in the order of the data, before they are sorted
  const [lossRows, binRows] = ['losses', 'bins'].map(rowsOf);
  const lossParts = [...byId('losses')?.tHead.rows[0].cells ?? []].slice(2).map((head) => head.dataset.part);
  const classes = [...byId('bins').tHead.rows[0].cells].slice(1).map((head) => head.textContent);
  const standings = () => comparison.leaderboard.filter((row) => row.metric === metric());
  const lost = () => {
    const means = new Map(standings().map((row) => [row.run, row.map]));
    return runs.map((run) => [means.get(run), ...lossParts.map((part) => data.loss.metrics[run][metric()][part])]);
  };
  const counts = () => {
    const { values: rows } = data.figures[`distribution ${metric()}`].spec.data;
    const bins = new Map(rows.map((row) => [`${row.run}\n${row.class}`, row.count]));
    return runs.map((run) => classes.map((label) => bins.get(`${run}\n${label}`) ?? 0));
  };
  const show = (rows, table) => rows.forEach((row, i) => {
    table[i].forEach((text, column) => { row.cells[column + 1].textContent = text; });
  });
  const queryButton = (query) => {
    if (!rankings) return printable(queries[query]);
    const button = element('button', queries[query], { type: 'button' });
    button.addEventListener('click', () => openQuery(query, button));
    return button;
  };
  const strength = (ap) => {
    const share = (ap - low) / (high - low || 1);
    return share <= 0 ? 0 : Math.min(9, 1 + Math.floor(9 * share));
  };
  const drawQueries = list(byId('per-query'), {
    count: queries.length,
    name: (query) => printable(queries[query]),
    value: (query, column) => [printable(queries[query]), ...(data.n_relevant ? [data.n_relevant[query]] : [])][column]
      ?? values()[column - (data.n_relevant ? 2 : 1)][query],
    cells: (query) => [
      [queryButton(query)], ...(data.n_relevant ? [[String(data.n_relevant[query])]] : []),
      ...values().map((ap) => [fixed(ap[query]), `q${strength(ap[query])}`]),
    ],
  });
  const showMetric = () => {
    for (const board of document.querySelectorAll('.board')) board.hidden = board.dataset.metric !== metric();
    for (const each of document.querySelectorAll('.metric')) {
      each.textContent = each.classList.contains('ap') ? apName() : metric();
    }
    show(lossRows, lost().map((row) => row.map((value) => fixed(value))));
    show(binRows, counts().map((row) => row.map((n) => n.toLocaleString('en'))));
    drawQueries();
    ['per-query', 'losses', 'bins'].forEach(resort);
    if (data.loss) draw('loss', data.figures[`loss ${metric()}`]);
    draw('distribution', data.figures[`distribution ${metric()}`]);
  };
  /* Pairs of runs, by the metric that claims are about */
  const pairs = comparison.pairs.filter((row) => row.metric === metrics[0]);
  const interval = ({ low: from, high: to, reason, excludes_zero: isOpen }) => {
    if (from === null) return element('span', `none: ${reason}`, { class: 'quiet', title: printable(reason) });
    return `${isOpen && from === 0 ? 'above ' : ''}${fixed(from)} to ${isOpen && to === 0 ? 'below ' : ''}${fixed(to)}`;
  };
  const shortP = (p) => (p == null ? '–' : p < 1e-4 ? 'below 0.0001' : fixed(p, 4));
  if (byId('pairs')) {
    list(byId('pairs'), {
      count: pairs.length,
      name: (i) => `${printable(pairs[i].a)} ${printable(pairs[i].b)}`,
      value: (i, column) => {
        const pair = pairs[i];
        return [pair.a, pair.b, pair.difference, pair.interval.low, pair.p, pair.p_adjusted, pair.wins, pair.ties, pair.losses, pair.dz][column] ?? -Infinity;
      },
      cells: (i) => {
        const { a, b, difference, interval: ends, p, p_adjusted: corrected, wins, ties, losses, dz } = pairs[i];
        return [[a], [b], [fixed(difference)], [interval(ends)], [shortP(p)], [shortP(corrected)],
          ...[wins, ties, losses].map((n) => [n === null ? '–' : String(n)]), [fixed(dz, 2)]];
      },
    })();
  }
  /* Two runs */
  const points = () => {
    const [a, b] = [values()[chosen.a], values()[chosen.b]];
    const found = new Map();
    a.forEach((ap, query) => {
      const key = `${ap} ${b[query]}`;
      if (!found.has(key)) found.set(key, { key, a: ap, b: b[query], queries: [] });
      found.get(key).queries.push(query);
    });
    return [...found.values()].sort((one, other) => Math.abs(other.a - other.b) - Math.abs(one.a - one.b));
  };
  const showPoint = (point) => {
    const list = element('ul');
    for (const query of point.queries) {
      const item = element('li');
      item.append(queryButton(query));
      list.append(item);
    }
    const n = counted(point.queries.length, one, many);
    const title = element('h3', `${n} with ${fixed(point.a)} and ${fixed(point.b)}`);
    byId('coinciding').replaceChildren(title, list);
    for (const row of byId('points').tBodies[0].rows) row.toggleAttribute('aria-current', false);
    for (const row of byId('points').tBodies[0].rows) {
      if (row.dataset.key === point.key) row.setAttribute('aria-current', 'true');
    }
  };
  const showTwo = () => {
    if (runs.length < 2) return;
    const found = points();
    const byKey = new Map(found.map((point) => [point.key, point]));
    const [nameA, nameB] = [runs[chosen.a], runs[chosen.b]];
    const count = (test) => found.filter(test).reduce((n, point) => n + point.queries.length, 0);
    const [better, equal] = [count((p) => sign * (p.a - p.b) > 0), count((p) => p.a === p.b)];
    const worse = queries.length - better - equal;
    byId('two-runs-summary').textContent =
      `${nameA} is better for ${counted(better, one, many)}, ${nameB} for ${counted(worse, one, many)}; ` +
      `${counted(equal, `${one} has`, `${many} have`)} the same ${apName()} in both.`;
    byId('points').tBodies[0].replaceChildren(...found.map((point) => {
      const row = element('tr', '', { 'data-key': point.key });
      cells(row, [[fixed(point.a), 'number'], [fixed(point.b), 'number'], [fixed(point.a - point.b), 'number']]);
      const cell = element('td');
      const name = point.queries.length === 1 ? queries[point.queries[0]] : counted(point.queries.length, one, many);
      const button = element('button', name, { type: 'button' });
      button.addEventListener('click', () => showPoint(point));
      button.addEventListener('focus', () => showPoint(point));
      cell.append(button);
      row.append(cell);
      return row;
    }));
    resort('points');
    byId('coinciding').replaceChildren();
    const figure = withRows('scatter', found.map(({ key, a, b, queries }) => ({
      key, x: a, y: b, count: queries.length, names: firstOf(queries),
    })));
    const all = values().flat();
    const ends = [all.reduce((a, b) => Math.min(a, b), low), all.reduce((a, b) => Math.max(a, b), high)];
    for (const { data: diagonal, encoding } of figure.spec.layer) {
      if (diagonal) diagonal.values = ends.map((end) => ({ x: end, y: end }));
      if (!encoding.x.axis) continue;
      encoding.x.scale.domain = encoding.y.scale.domain = ends;
      const title = (name) => `${apName()} of ${name}`.match(/.{1,36}$|.{1,36}[_/ -]|.{1,36}/gu).slice(0, 3); // lines
      encoding.x.axis.title = title(nameA);
      encoding.y.axis.title = title(nameB);
    }
    draw('scatter', figure, {
      onView: (view) => view.addEventListener('click', (_event, item) => {
        const point = byKey.get(item?.datum?.key);
        if (point) showPoint(point);
      }),
    });
  };
  const firstOf = (some) => {
    const first = printable(some.slice(0, 5).map((query) => queries[query]).join(', '));
    return some.length > 5 ? `${first} and ${some.length - 5} more` : first;
  };

  /* One query: of its ranking, steps from one number to the next are given. */
  const sums = (steps) => {
    let sum = 0;
    return steps.map((step) => { sum += step; return sum; });
  };
  const ranked = !rankings ? [] : runs.map((_, run) => {
    const { tops, lengths, shot, decimals, confidence } = data.rankings;
    const begins = [0, ...sums(lengths[run])];
    const scale = 10 ** (decimals[run] ?? 0);
    const integers = decimals[run] === null ? confidence[run] : sums(confidence[run]);
    return { rows: sums(tops[run]), begins, shots: sums(shot[run]), confidence: integers.map((n) => n / scale) };
  });
  const ranking = () => {
    const { query, run } = chosen;
    const { rows, begins, shots, confidence } = ranked[run];
    const isHit = new Set(sums(rankings.hits[run][query]));
    return rows.slice(begins[query], begins[query + 1]).map((number, i) => {
      const [video, shot] = rankings.shots[shots[number]];
      const distance = rankings.distances[rankings.distance[run][query][i]];
      return [i + 1, isHit.has(i + 1), rankings.names[rankings.name[run][number]], distance, confidence[number], ...rankings.videos[video], shot];
    });
  };
  const apOf = (query) => runs.map((run, each) => [run, ...metrics.map((name) => data.values[name][each][query])]);
  const showQuery = () => {
    const { query, run } = chosen;
    const relevant = data.n_relevant[query];
    const again = rankings.repeats[run][query].length;
    byId('query-summary').textContent = printable(
      `${queries[query]}: ${counted(relevant, 'relevant shot', 'relevant shots')}. ` +
      `${runs[run]}: ${counted(rankings.hits[run][query].length, 'hit', 'hits')}` +
      `${again ? `, ${again.toLocaleString('en')} of them ${again === 1 ? 'a repeat' : 'repeats'}` : ''}.`);
    byId('query-values').tBodies[0].replaceChildren(...apOf(query).map(([name, ...found], each) => {
      const row = element('tr');
      row.append(element('th', name, { scope: 'row' }));
      cells(row, found.map((ap) => [fixed(ap), 'number']));
      if (each === run) row.setAttribute('aria-current', 'true');
      return row;
    }));
    resort('query-values');
    byId('ranking').caption.firstChild.textContent = printable(`Top of the ranking of ${runs[run]} for ${queries[query]}`);
    byId('unanswerable').hidden = relevant > 0;
    byId('ranking').tBodies[0].replaceChildren(...ranking().map(([rank, isHit, name, distance, confidence, ...shot]) => {
      const row = element('tr', '', { role: 'row', class: isHit ? 'hit' : '' });
      cells(row, [
        [String(rank), 'number'], [isHit ? 'yes' : 'no', ''], [name, ''],
        [fixed(distance), 'number'], [String(confidence), 'number'], [shot.filter(Boolean).join(' '), ''],
      ]);
      for (const cell of row.cells) cell.setAttribute('role', 'cell');
      return row;
    }));
    const drawn = [...new Set([run, chosen.beside])];
    const curves = drawn.flatMap((each) => {
      const repeats = new Set(sums(rankings.repeats[each][query]));
      let found = 0;
      return sums(rankings.hits[each][query]).map((rank, i) => {
        if (!repeats.has(rank)) found += 1;
        return { series: printable(runs[each]), rank, x: found / relevant, value: (i + 1) / rank };
      });
    });
    const names = drawn.map((each) => printable(runs[each]));
    const figure = withRows('precision_recall', curves, (name) => names.includes(name));
    /* The second line is dashed, with crosses, so that an equal one can be seen below it */
    const [line, marks] = figure.spec.layer.map(({ encoding }) => encoding);
    line.strokeDash.scale = { domain: names, range: [[1, 0], [4, 4]] };
    marks.shape.scale = { domain: names, range: ['circle', 'cross'] };
    for (const entry of figure.legend) entry.dash = entry.label === names[0] ? '' : '4 4';
    draw('precision_recall', figure, { isLines: true });
  };
  let cameFrom = null;
  const openQuery = (query, from) => {
    cameFrom = from;
    byId('back').hidden = false;
    choose({ query }, 'query');
    byId('query').scrollIntoView();
    byId('query').focus({ preventScroll: true });
  };
  byId('back')?.querySelector('button').addEventListener('click', () => {
    cameFrom?.scrollIntoView({ block: 'center' });
    cameFrom?.focus({ preventScroll: true });
  });

  /* Names that were confused: in all runs, or one of them */
  const total = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);
  const confusedRows = byId('confusions') ? [...byId('confusions').tBodies[0].rows] : [];
  const showConfused = () => {
    const run = runs[chosen.confused - 1];
    confusedRows.forEach((row, i) => {
      const { counts } = data.confused[i];
      const shots = !run ? total(counts) : Object.hasOwn(counts, run) ? counts[run] : 0;
      row.cells[4].textContent = shots.toLocaleString('en');
      row.toggleAttribute('data-out', shots === 0);
    });
    resort('confusions');
    byId('confusions-filter').dispatchEvent(new Event('input'));
  };

  /* The address holds what is chosen, by its name, unless it is what the page begins with */
  const controls = {
    cutoff: ['metric', metrics.map((each) => (each.startsWith('MAP') ? each.split('@')[1] ?? 'all' : each))],
    a: ['run-a', runs], b: ['run-b', runs], run: ['run-choice', runs], beside: ['other-choice', runs],
    query: ['query-choice', queries], confused: ['confused-run', ['all runs', ...runs]],
  };
  const sections = [
    [['cutoff'], showMetric], [['cutoff', 'a', 'b'], showTwo], [['query', 'run', 'beside'], () => { if (rankings) showQuery(); }],
    [['confused'], () => { if (byId('confusions')) showConfused(); }],
  ];
  let section = '';
  let shown = {};
  const update = () => {
    for (const [key, [id]] of Object.entries(controls)) {
      if (byId(id)) byId(id).value = key === 'query' ? printable(queries[chosen.query]) : String(chosen[key]);
    }
    const last = shown;
    shown = { ...chosen };
    for (const [keys, display] of sections) if (keys.some((key) => chosen[key] !== last[key])) display();
  };
  const address = () => {
    const parameters = new URLSearchParams();
    for (const [key, [, names]] of Object.entries(controls)) {
      if (chosen[key] !== begin[key]) parameters.set(key, names[chosen[key]]);
    }
    return `#${section}${String(parameters) && `?${parameters}`}`;
  };
  const readAddress = () => {
    const [place, ...rest] = location.hash.slice(1).split('?');
    const parameters = new URLSearchParams(rest.join('?'));
    section = place;
    for (const [key, [, names]] of Object.entries(controls)) {
      const at = names.indexOf(parameters.get(key));
      chosen[key] = at < 0 ? begin[key] : at;
    }
  };
  const choose = (changes, place = section) => {
    Object.assign(chosen, changes);
    section = place;
    update();
    if (address() !== (location.hash || '#')) history.pushState({}, '', address());
  };
  const land = () => byId(section)?.scrollIntoView({ behavior: 'instant' });
  addEventListener('popstate', ({ state }) => {
    if (state === null && !location.hash.includes('?')) { // a link of the page: only the place is new
      section = location.hash.slice(1);
      history.replaceState({}, '', address());
      return;
    }
    readAddress();
    update();
    if (state === null) land(); // a step back stays where the reader was
  });
  for (const [key, [id]] of Object.entries(controls)) {
    const place = byId(id)?.closest('section')?.getAttribute('aria-labelledby');
    if (key !== 'query') byId(id)?.addEventListener('change', (event) => choose({ [key]: Number(event.target.value) }, place));
  }

  /* The query is searched: by its name, else the first that has the text in it */
  const box = byId('query-choice');
  const names = queries.map(printable);
  const foldedNames = names.map(folded);
  const search = () => {
    const wanted = folded(box.value);
    const tests = [(_, i) => names[i] === box.value.trim(), (name) => name === wanted, (name) => wanted && name.includes(wanted)];
    const query = tests.map((test) => foldedNames.findIndex(test)).find((i) => i >= 0) ?? -1;
    box.parentNode.querySelector('output').textContent = query < 0 && wanted ? 'nothing matches' : '';
    if (query >= 0) choose({ query }, 'query');
  };
  /* A browser suggests an option if its value or its label has the text in it */
  const suggest = () => byId('query-names').replaceChildren(...names.filter((_, i) => foldedNames[i].includes(folded(box.value)))
    .map((value) => element('option', '', value.toLowerCase().includes(box.value.toLowerCase()) ? { value } : { value, label: box.value })));
  if (box) suggest();
  box?.addEventListener('input', suggest);
  box?.addEventListener('change', search);
  box?.addEventListener('input', (event) => { if (names.includes(box.value) && event.inputType === 'insertReplacementText') search(); });
  box?.addEventListener('focus', () => box.select());

  /* Tables as CSV: headers and rows, from the data. An object becomes a row, without what is null */
  const flat = (value, name = '') => (value === null ? [] : typeof value !== 'object' ? [[name, value]]
    : Object.entries(Array.isArray(value) ? { low: value[0], high: value[1] } : value)
      .flatMap(([key, each]) => flat(each, name ? `${name}_${key}` : key)));
  const records = (list) => {
    const rows = list.map((each) => new Map(flat(each)));
    const heads = [...new Set(rows.flatMap((row) => [...row.keys()]))];
    return [heads, ...rows.map((row) => heads.map((head) => row.get(head)))];
  };
  const byQuery = (list) => [[one, ...(rankings ? ['R'] : []), ...list.map((run) => runs[run])],
    ...queries.map((query, i) => [query, ...(rankings ? [data.n_relevant[i]] : []), ...list.map((run) => values()[run][i])])];
  const named = (heads, rows) => [['run', ...heads], ...rows.map((row, run) => [runs[run], ...row])];
  const tables = {
    pairs: () => records(pairs),
    losses: () => named([metric(), ...lossParts], lost()),
    orders: () => records(comparison.orders),
    points: () => byQuery([chosen.a, chosen.b]),
    bins: () => named(classes, counts()),
    'query-values': () => [['run', ...metrics], ...apOf(chosen.query)],
    ranking: () => [['rank', 'relevant', 'name', 'distance', 'confidence', 'corpus', 'video', 'shot'], ...ranking()],
    confusions: () => [['query', 'name', 'kind', 'distance', ...runs], ...data.confused.map(({ query, name, kind, distance, counts: of }) =>
      [query, name, kind, distance, ...runs.map((run) => (Object.hasOwn(of, run) ? of[run] : 0))])],
    'per-query': () => byQuery([...runs.keys()]),
    remarks: () => [['what', 'queries', 'of', 'runs'], ...data.remarks.map((each) => [each.what, each.queries, each.of, each.runs.join(', ')])],
    inputs: () => records(data.manifest.inputs),
  };
  for (const id of ['verdicts', 'power', 'by', 'by-pairs']) tables[id] = () => records(comparison[id.replace('-', '_')]);
  for (const [id, rows] of Object.entries(tables)) if (byId(id)) saves(byId(id), rows);
  for (const table of document.querySelectorAll('.board table')) saves(table, () => records(standings()));

  for (const box of [byId('points')?.tBodies[0], byId('coinciding'), byId('per-query').tBodies[0]]) if (box) stopsOnce(box);
  byId('download').addEventListener('click', () => save(JSON.stringify(data), 'report.json', 'application/json'));
  if (data.figures.pool) draw('pool', data.figures.pool);
  if (data.figures.map_by_k) draw('map_by_k', data.figures.map_by_k, { isLines: true });
  readAddress();
  update();
  history.replaceState({}, '', location.href);
  /* What stands above grows while figures are drawn: land again behind that, if nobody moved on */
  let isMoved = false;
  for (const kind of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
    addEventListener(kind, () => { isMoved = true; }, { once: true, passive: true });
  }
  land();
  return settled().then(() => { if (!isMoved) land(); });
}).finally(Page.loaded);

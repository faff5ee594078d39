'use strict';
/* The page of a campaign: what follows from the choice of a cutoff, two runs, or a query. */
Page.ready.then((data) => {
  const { byId, counted, draw, element, fixed, printable, save } = Page;
  const last = data.metrics.length - 1;
  const chosen = { metric: last, a: 0, b: Math.min(1, data.runs.length - 1), run: 0, other: Math.min(1, data.runs.length - 1), query: 0, confused: 0 };
  const values = () => data.values[data.metrics[chosen.metric]];
  const apName = () => data.metrics[chosen.metric].slice(1);
  const short = (value) => (value === 0 || value === 1 ? String(value) : fixed(value));
  const cells = (row, list) => list.forEach(([text, kind]) => row.append(element('td', text, kind ? { class: kind } : {})));

  /* A figure of other rows, with only those entries of its legend that it shows. */
  const withRows = (name, values, isShown = () => true) => {
    const { spec, legend } = structuredClone(data.figures[name]);
    spec.data.values = values;
    return { spec, legend: legend.filter((entry) => isShown(entry.label)) };
  };

  /* Leaderboard, distribution and queries at the chosen cutoff */
  const tableRows = [...byId('per-query').tBodies[0].rows];
  const showMetric = () => {
    const metric = data.metrics[chosen.metric];
    for (const board of document.querySelectorAll('.board')) board.hidden = board.dataset.metric !== metric;
    for (const each of document.querySelectorAll('.metric')) each.textContent = apName();
    tableRows.forEach((row, query) => {
      values().forEach((ap, run) => {
        const cell = row.cells[run + 2];
        cell.textContent = short(ap[query]);
        cell.className = `q${ap[query] <= 0 ? 0 : Math.min(9, 1 + Math.floor(9 * ap[query]))}`;
      });
    });
    const { spec } = data.figures[`distribution ${metric}`];
    const bins = new Map(spec.data.values.map((row) => [`${row.run}\n${row.class}`, row.count]));
    const labels = [...byId('bins').tHead.rows[0].cells].map((head) => head.textContent);
    [...byId('bins').tBodies[0].rows].forEach((row) => {
      labels.slice(1).forEach((label, bin) => {
        const n = bins.get(`${row.cells[0].textContent}\n${label}`) ?? 0;
        row.cells[bin + 1].textContent = n.toLocaleString('en');
      });
    });
    draw('distribution', data.figures[`distribution ${metric}`]);
    showTwo();
  };
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
  const queryButton = (query) => {
    const button = element('button', data.queries[query], { type: 'button' });
    button.addEventListener('click', () => openQuery(query, button));
    return button;
  };
  const showPoint = (point) => {
    const list = element('ul');
    for (const query of point.queries) {
      const item = element('li');
      item.append(queryButton(query));
      list.append(item);
    }
    const n = counted(point.queries.length, 'query', 'queries');
    const title = element('h3', `${n} with ${short(point.a)} and ${short(point.b)}`);
    byId('coinciding').replaceChildren(title, list);
    for (const row of byId('points').tBodies[0].rows) row.toggleAttribute('aria-current', false);
    for (const row of byId('points').tBodies[0].rows) {
      if (row.dataset.key === point.key) row.setAttribute('aria-current', 'true');
    }
  };
  const showTwo = () => {
    if (data.runs.length < 2) return;
    const found = points();
    const byKey = new Map(found.map((point) => [point.key, point]));
    const [nameA, nameB] = [data.runs[chosen.a], data.runs[chosen.b]];
    const count = (test) => found.filter(test).reduce((n, point) => n + point.queries.length, 0);
    const [better, equal] = [count((p) => p.a > p.b), count((p) => p.a === p.b)];
    const worse = data.queries.length - better - equal;
    byId('two-runs-summary').textContent =
      `${nameA} is better for ${counted(better, 'query', 'queries')}, ${nameB} for ${counted(worse, 'query', 'queries')}; ` +
      `${counted(equal, 'query has', 'queries have')} the same ${apName()} in both.`;
    byId('points').tBodies[0].replaceChildren(...found.map((point) => {
      const row = element('tr', '', { 'data-key': point.key });
      cells(row, [[short(point.a), 'number'], [short(point.b), 'number'], [fixed(point.a - point.b), 'number']]);
      const cell = element('td');
      const button = element('button', counted(point.queries.length, 'query', 'queries'), { type: 'button' });
      button.addEventListener('click', () => showPoint(point));
      button.addEventListener('focus', () => showPoint(point));
      cell.append(button);
      row.append(cell);
      return row;
    }));
    byId('coinciding').replaceChildren();
    const figure = withRows('scatter', found.map(({ key, a, b, queries }) => ({
      key, x: a, y: b, count: queries.length, names: named(queries),
    })));
    for (const { encoding } of figure.spec.layer) {
      if (!encoding.x.axis) continue;
      encoding.x.axis.title = `${apName()} of ${nameA}`;
      encoding.y.axis.title = `${apName()} of ${nameB}`;
    }
    draw('scatter', figure, {
      onView: (view) => view.addEventListener('click', (_event, item) => {
        const point = byKey.get(item?.datum?.key);
        if (point) showPoint(point);
      }),
    });
  };
  const named = (queries) => {
    const first = printable(queries.slice(0, 5).map((query) => data.queries[query]).join(', '));
    return queries.length > 5 ? `${first} and ${queries.length - 5} more` : first;
  };

  /* One query: of its ranking, steps from one number to the next are given. */
  const sums = (steps) => {
    let sum = 0;
    return steps.map((step) => { sum += step; return sum; });
  };
  const ranked = data.runs.map((_, run) => {
    const { tops, lengths, shot, decimals, confidence } = data.rankings;
    const begins = [0, ...sums(lengths[run])];
    const scale = 10 ** (decimals[run] ?? 0);
    const integers = decimals[run] === null ? confidence[run] : sums(confidence[run]);
    return { rows: sums(tops[run]), begins, shots: sums(shot[run]), confidence: integers.map((n) => n / scale) };
  });
  const showQuery = () => {
    const { query, run } = chosen;
    const { rankings } = data;
    const { rows, begins, shots, confidence } = ranked[run];
    const hits = sums(rankings.hits[run][query]);
    const relevant = data.n_relevant[query];
    byId('query-summary').textContent = printable(
      `${data.queries[query]}: ${counted(relevant, 'relevant shot', 'relevant shots')}; ${data.runs[run]} ` +
      `returned ${hits.length.toLocaleString('en')} of them in its ranking.`);
    byId('query-values').tBodies[0].replaceChildren(...data.runs.map((name, each) => {
      const row = element('tr');
      row.append(element('th', name, { scope: 'row' }));
      cells(row, data.metrics.map((metric) => [short(data.values[metric][each][query]), 'number']));
      if (each === run) row.setAttribute('aria-current', 'true');
      return row;
    }));
    byId('ranking').caption.textContent = printable(`Top of the ranking of ${data.runs[run]} for ${data.queries[query]}`);
    const isHit = new Set(hits);
    byId('unanswerable').hidden = relevant > 0;
    byId('ranking').tBodies[0].replaceChildren(...rows.slice(begins[query], begins[query + 1]).map((number, i) => {
      const row = element('tr', '', isHit.has(i + 1) ? { class: 'hit' } : {});
      const [video, shot] = rankings.shots[shots[number]];
      const distance = rankings.distances[rankings.distance[run][query][i]];
      cells(row, [
        [String(i + 1), 'number'], [isHit.has(i + 1) ? 'yes' : 'no', ''], [rankings.names[rankings.name[run][number]], ''],
        [fixed(distance), 'number'], [String(confidence[number]), 'number'],
        [[...rankings.videos[video], shot].join(' '), ''],
      ]);
      return row;
    }));
    const shown = [...new Set([run, chosen.other])];
    const curves = shown.flatMap((each) => sums(rankings.hits[each][query]).map((rank, i) => ({
      series: data.runs[each], rank, x: (i + 1) / relevant, value: (i + 1) / rank,
    })));
    const names = shown.map((each) => data.runs[each]);
    const figure = withRows('precision_recall', curves, (name) => names.includes(name));
    const most = Math.max(1, ...curves.map(({ x }) => x)); // above 1 where shots count again
    for (const { encoding } of figure.spec.layer) encoding.x.scale.domain = [0, most];
    draw('precision_recall', figure, { isLines: true });
  };
  let cameFrom = null;
  const openQuery = (query, from) => {
    chosen.query = query;
    byId('query-choice').value = String(query);
    cameFrom = from;
    byId('back').hidden = false;
    showQuery();
    byId('query').scrollIntoView();
    byId('query').focus({ preventScroll: true });
  };
  byId('back').querySelector('button').addEventListener('click', () => {
    cameFrom?.scrollIntoView({ block: 'center' });
    cameFrom?.focus({ preventScroll: true });
  });

  /* Names that were confused: in all runs, or one of them */
  const total = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);
  const confusedRows = byId('confusions') ? [...byId('confusions').tBodies[0].rows] : [];
  const showConfused = () => {
    const run = data.runs[chosen.confused - 1];
    confusedRows.forEach((row, i) => {
      const { counts } = data.confused[i];
      const shots = !run ? total(counts) : Object.hasOwn(counts, run) ? counts[run] : 0;
      row.cells[4].textContent = shots.toLocaleString('en');
      row.toggleAttribute('data-out', shots === 0);
    });
    byId('confusions-filter').dispatchEvent(new Event('input'));
  };

  /* Choices */
  const choice = (id, key, show) => {
    const select = byId(id);
    if (!select) return;
    select.value = String(chosen[key]);
    select.addEventListener('change', () => {
      chosen[key] = Number(select.value);
      show();
    });
  };
  byId('query-choice').append(...data.queries.map((query, i) => element('option', query, { value: String(i) })));
  const lost = data.queries.findIndex((_, query) => data.rankings.hits[0][query].length > 2);
  chosen.query = Math.max(0, lost);
  choice('metric', 'metric', showMetric);
  choice('run-a', 'a', showTwo);
  choice('run-b', 'b', showTwo);
  choice('query-choice', 'query', showQuery);
  choice('confused-run', 'confused', showConfused);
  choice('run-choice', 'run', showQuery);
  choice('other-choice', 'other', showQuery);
  tableRows.forEach((row, query) => {
    const head = row.cells[0];
    head.replaceChildren(queryButton(query));
  });
  byId('download').addEventListener('click', () => save(data, 'report.json'));
  draw('loss', data.figures.loss);
  if (data.metrics.length > 1) draw('map_by_k', data.figures.map_by_k, { isLines: true });
  showMetric();
  showQuery();
});

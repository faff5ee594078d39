'use strict';
/* The page of a run that grew: the names behind the number of changed queries, and newer points. */
Page.ready.then((data) => {
  const { byId, counted, draw, element, save, settled } = Page;
  const kept = { top: scrollY, reloads: true, ...history.state }; // what outlives a reload
  const keep = (changed) => history.replaceState(Object.assign(kept, changed), '');
  const showChanged = (point) => {
    keep({ shown: point.at });
    const names = point.changed.map((number) => element('li', data.queries[number]));
    const list = element('ul');
    list.append(...names);
    const n = counted(names.length, 'query', 'queries');
    const title = element('h3', `${n} changed at ${counted(point.at, ...data.unit)}`);
    byId('changed').replaceChildren(title, list);
  };
  for (const cell of document.querySelectorAll('[data-point]')) {
    const point = data.points[cell.dataset.point];
    if (point.changed.length === 0) continue;
    const button = element('button', cell.textContent, {
      type: 'button', 'aria-label': `${cell.textContent}, show the names`,
    });
    button.addEventListener('click', () => showChanged(point));
    cell.replaceChildren(button);
  }
  byId('download').addEventListener('click', () => save(JSON.stringify(data), 'watch.json', 'application/json'));
  const shown = data.points.find((point) => point.at === kept.shown);
  if (shown) showChanged(shown);
  draw('watch', data.figures.watch);
  const restored = settled().then(() => scrollTo(scrollX, kept.top));
  const reload = byId('reload');
  if (!reload) return;
  reload.checked = kept.reloads;
  reload.addEventListener('change', () => keep({ reloads: reload.checked }));
  restored.then(() => setInterval(() => {
    if (!reload.checked) return;
    keep({ top: scrollY });
    location.reload();
  }, 1000 * reload.dataset.seconds));
});

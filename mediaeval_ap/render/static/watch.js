'use strict';
/* The page of a run that grew: the names behind the number of changed queries. */
Page.ready.then((data) => {
  const { byId, counted, draw, element, save } = Page;
  const showChanged = (point) => {
    const names = point.changed.map((number) => element('li', data.queries[number]));
    const list = element('ul');
    list.append(...names);
    const n = counted(names.length, 'query', 'queries');
    const title = element('h3', `${n} changed at ${counted(point.hypotheses, 'hypothesis', 'hypotheses')}`);
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
  draw('watch', data.figures.watch);
});

// The run: what it came to, for whom, where, and every episode.
function overview(data) {
  const rows = data.rows.values.map((values) => Object.fromEntries(data.rows.columns.map((name, index) => [name, values[index]])));
  const replays = new Set(data.episodes.map((episode) => episode.id));
  const below = el('div');
  const select = choice('Policy', ['all policies', ...data.policies.map((policy) => policy.name)], (name) => redraw(name));
  const redraw = (name) => {
    const shown = rows.filter((row) => name === 'all policies' || row.policy === name);
    below.replaceChildren(
      data.truth ? faults(data, shown, name === 'all policies' && data.policies.length > 1) : '',
      distributions(shown), failures(shown), episodes(data, shown, replays),
    );
  };
  const view = el('div', { id: 'overview' },
    header(data, rows), numbers(data), policies(data), families(data),
    data.policies.length > 1 && el('div', { class: 'filters alone' }, select, el('span', { class: 'soft small' }, 'in everything below')),
    below, configuration(data));
  redraw('all policies');
  return view;
}

function choice(label, names, chosen) {
  return el('select', { 'aria-label': label, onchange: (event) => chosen(event.target.value) }, names.map((name) => el('option', { value: name }, name)));
}

function header(data, rows) {
  const packages = data.configuration.find(([name]) => name === 'package.sregym_env');
  const facts = [
    `${whole(rows.length)} episodes`, `${whole(new Set(rows.map((row) => row.task)).size)} problems`,
    data.policies.length === 1 ? data.policies[0].name : `${data.policies.length} policies`,
    packages && `sregym_env ${packages[1].join(', ')}`,
  ].filter(Boolean);
  return el('header', {}, el('h1', {}, data.title), el('p', { class: 'kicker' }, facts.join(' · ')));
}

function numbers(data) {
  const one = data.policies.length === 1 ? data.policies[0] : null;
  const card = (name, value, under) => el('div', { class: 'number' },
    el('div', { class: 'name' }, name), el('div', { class: 'value' }, value), el('div', { class: 'range' }, under));
  const estimate = (name, each, show) => each && card(name, show(each.value), range(each, show) || `of ${each.n}`);
  const all = data.all;
  const cards = one ? [
    estimate('Solved end to end', one.success, percent), estimate('Right diagnosis', one.diagnosed, percent),
    estimate('Right repair', one.repaired, percent), estimate('Return', one.return, plain(2)),
    estimate('Time to diagnosis', one.ttd_s, clock), estimate('Time to mitigation', one.ttm_s, clock),
    estimate('Commands', one.commands, plain(1)), estimate('Tokens', one.tokens, short), estimate('Cost', one.cost_usd, money),
  ] : [
    card('Best policy', data.policies[0].name, data.policies[0].success ? `solves ${percent(data.policies[0].success.value)} (${range(data.policies[0].success, percent)})` : ''),
    card('Episodes with an outcome', whole(all.scored), `of ${whole(all.episodes)}`),
    card('Problems', whole(all.problems), 'different ones'),
  ];
  if (all.spent_tokens) cards.push(card('Tokens spent', short(all.spent_tokens), 'by all episodes'));
  if (all.spent_usd !== null) cards.push(card('Money spent', money(all.spent_usd), 'by all episodes'));
  if (one) cards.push(card('Episodes with an outcome', whole(all.scored), `of ${whole(all.episodes)}`));
  return el('div', { class: 'numbers' }, cards.filter(Boolean));
}

function policies(data) {
  const cell = (estimate, show) => el('td', { class: 'right' }, estimate
    ? [show(estimate.value), range(estimate, show) && el('div', { class: 'range soft small' }, range(estimate, show))] : '–');
  const share = (estimate) => el('td', {}, el('div', { class: 'rate' }, whisker(estimate),
    el('span', {}, estimate ? percent(estimate.value) : '–')), el('div', { class: 'soft small' }, range(estimate, percent)));
  const modelled = data.policies.some((policy) => policy.tokens);
  const table = el('table', { id: 'policies' },
    el('thead', {}, el('tr', {}, ['Policy', 'Episodes', 'Solved', 'Diagnosed', 'Repaired', 'Return', 'TTD', 'TTM', 'Commands', modelled && 'Tokens', modelled && 'Cost']
      .filter(Boolean).map((name, index) => el('th', { class: index === 1 || index > 4 ? 'right' : '' }, name)))),
    el('tbody', {}, data.policies.map((policy) => el('tr', {},
      el('td', {}, el('b', {}, policy.name)),
      el('td', { class: 'right' }, whole(policy.scored), policy.episodes > policy.scored && el('div', { class: 'soft small' }, `+ ${policy.episodes - policy.scored} void`)),
      share(policy.success), share(policy.diagnosed), share(policy.repaired),
      cell(policy.return, plain(2)), cell(policy.ttd_s, clock), cell(policy.ttm_s, clock), cell(policy.commands, plain(1)),
      modelled && cell(policy.tokens, short), modelled && cell(policy.cost_usd, money)))));
  const compared = data.comparisons.filter((each) => each.pairs).map((each) => el('li', {},
    el('b', {}, each.second), ' against ', el('b', {}, each.first), `, ${whole(each.pairs)} pairs of the same problem and seed: `,
    `${each.success.value >= 0 ? '+' : '−'}${Math.abs(Math.round(each.success.value * 100))} points of success `,
    el('span', { class: 'soft' }, `(${Math.round(each.success.low * 100)} to ${Math.round(each.success.high * 100)}, p = ${each.p_value.toPrecision(2)}; `,
      `only ${each.second} ${each.only_second}, only ${each.first} ${each.only_first}, both ${each.both}, neither ${each.neither})`)));
  return el('section', {}, el('h2', {}, 'Policies'),
    el('p', { class: 'lead' }, 'Ranked by episodes solved from end to end: right diagnosis and right repair. Whiskers and ranges are 95 % intervals that count samples of one problem as related; times are simulated.'),
    el('div', { class: 'scroll' }, table),
    compared.length > 0 && [el('h3', { class: 'spaced' }, 'Pair by pair'), el('ul', { class: 'compared small' }, compared)]);
}

function families(data) {
  const names = data.policies.map((policy) => policy.name);
  if (!data.truth || !data.families.length) return '';
  const colours = names.map((_, index) => `var(--s${index % 8})`);
  return el('section', {}, el('h2', {}, 'Success by family of faults'),
    el('p', { class: 'lead' }, 'Where in the stack the cause lies, with 95 % intervals. Where only one problem of a family was played, the interval is about that problem.'),
    names.length > 1 && legend(...names.map((name, index) => [swatch(colours[index]), name])),
    painted((width) => {
      const [left, right, line] = [Math.min(150, width * 0.3), 96, 16];
      const tall = line * names.length + 14;
      const x = scale(0, 1, left, width - right);
      const height = data.families.length * tall + 26;
      return frame(width, height, 'Success by family of faults',
        (width < 560 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((at) => [
          svg('line', { class: 'gridline', x1: x(at), x2: x(at), y1: 0, y2: height - 22 }),
          svg('text', { class: 'soft tiny', x: x(at), y: height - 6, 'text-anchor': 'middle' }, percent(at))]),
        data.families.map((family, index) => svg('g', {},
          svg('text', { x: left - 12, y: index * tall + tall / 2 + 4, 'text-anchor': 'end' }, family.name),
          names.map((name, row) => {
            const estimate = family.policies[name];
            const y = index * tall + 7 + line * (row + 0.5);
            return estimate && [
              svg('line', { x1: x(estimate.low), x2: x(estimate.high), y1: y, y2: y, stroke: colours[row], 'stroke-width': 5, 'stroke-opacity': 0.35, 'stroke-linecap': 'round' }),
              svg('circle', { cx: x(estimate.value), cy: y, r: 4.5, fill: colours[row] }),
              svg('text', { class: 'tiny soft', x: width - right + 14, y: y + 4 }, `${percent(estimate.value)} of ${estimate.n}`)];
          }))));
    }));
}

function faults(data, rows, byPolicy) {
  const scored = rows.filter((row) => row.scored);
  const column = byPolicy ? 'policy' : 'target';
  const columns = [...new Set(scored.map((row) => row[column]))].sort();
  const listed = [...new Set(scored.map((row) => JSON.stringify([row.family, row.fault])))].sort().map((text) => JSON.parse(text));
  const cells = new Map();
  for (const row of scored) {
    const key = JSON.stringify([row.fault, row[column]]);
    const cell = cells.get(key) || { good: 0, all: 0 };
    cell.all += 1;
    cell.good += row.success ? 1 : 0;
    cells.set(key, cell);
  }
  let family = null;
  const body = listed.map(([layer, fault]) => {
    const head = layer !== family && el('tr', {}, el('th', { class: 'family', colspan: columns.length + 1 }, layer));
    family = layer;
    return [head, el('tr', {}, el('th', { class: 'row', scope: 'row' }, fault ? words(fault) : 'healthy system'),
      columns.map((name) => heat(cells.get(JSON.stringify([fault, name])), `${words(fault)}, ${name}`)))];
  });
  return el('section', {}, el('h2', {}, byPolicy ? 'Success by fault and policy' : 'Success by fault and target'),
    el('p', { class: 'lead' }, 'Share of episodes solved; the number of episodes under the pointer. ',
      byPolicy ? 'Choose one policy to see targets.' : 'Empty where nothing was played.'),
    el('div', { class: 'scroll' }, el('table', { class: byPolicy ? 'heat wide' : 'heat', id: 'heat' },
      el('thead', {}, el('tr', {}, el('th'), columns.map((name) => el('th', { class: 'column', scope: 'col' }, el('div', {}, name || 'none'))))),
      el('tbody', {}, body))));
}

function heat(cell, name) {
  if (!cell) return el('td', { class: 'cell none' });
  const share = cell.good / cell.all;
  const made = el('td', { class: 'cell', title: `${name}: ${cell.good} of ${cell.all} solved` }, Math.round(share * 100));
  const strength = Math.round(18 + Math.abs(share - 0.5) * 2 * 55);
  made.style.background = `color-mix(in srgb, var(${share >= 0.5 ? '--good' : '--bad'}) ${strength}%, var(--card))`;
  if (strength > 55) made.style.color = 'var(--card)';
  return made;
}

function distributions(rows) {
  const some = (name) => rows.some((row) => row.scored && row[name]);
  return el('section', { id: 'distributions' }, el('h2', {}, 'Distributions'),
    legend([swatch('var(--good)'), 'solved'], [swatch('var(--bad)'), 'not solved']),
    el('div', { class: 'grid many' },
      histogram('Return', rows, 'return', plain(1)),
      histogram('Time to diagnosis', rows, 'ttd', clock, 'time'),
      histogram('Time to mitigation', rows, 'ttm', clock, 'time'),
      histogram('Commands', rows, 'commands', short),
      some('tokens') && histogram('Tokens', rows, 'tokens', short),
      some('cost') && histogram('Cost', rows, 'cost', money)));
}

function failures(rows) {
  const counted = new Map();
  for (const row of rows.filter((each) => each.class)) {
    const key = JSON.stringify([row.class, row.reason]);
    counted.set(key, (counted.get(key) || 0) + 1);
  }
  const listed = [...counted].map(([key, count]) => [...JSON.parse(key), count]).sort((a, b) => (a[0] === 'agent' ? 0 : 1) - (b[0] === 'agent' ? 0 : 1) || b[2] - a[2]);
  const most = Math.max(1, ...listed.map(([, , count]) => count));
  return el('section', { id: 'failures' }, el('h2', {}, 'Why episodes did not succeed'),
    el('p', { class: 'lead' }, 'Only the agent’s failures count against it. What the world (an endpoint, a worker), the judge or this package broke has no outcome and no reward.'),
    listed.length === 0 ? el('p', { class: 'soft' }, 'Every episode succeeded.') : painted((width) => {
      const [left, line] = [Math.min(230, width * 0.5), 26];
      const x = scale(0, most, left, width - 44);
      return frame(width, listed.length * line, 'Failures by class and reason', listed.map(([kind, reason, count], index) => svg('g', {},
        svg('text', { x: left - 12, y: index * line + 17, 'text-anchor': 'end' }, words(reason), svg('tspan', { fill: 'var(--soft)' }, `  ${kind}`)),
        svg('rect', { x: left, y: index * line + 5, width: x(count) - left, height: line - 10, rx: 2, fill: kind === 'agent' ? 'var(--bad)' : 'var(--void)' }),
        svg('text', { class: 'soft', x: x(count) + 8, y: index * line + 17 }, count))));
    }));
}

const COLUMNS = [
  ['', 'id'], ['Outcome', 'reason'], ['Policy', 'policy'], ['Fault', 'fault'], ['Target', 'target'], ['Problem', 'task'], ['Seed', 'seed'], ['Sample', 'sample'],
  ['Diagnosis', 'diagnosed'], ['Repair', 'repaired'], ['Return', 'return', plain(2)], ['TTD', 'ttd', clock], ['TTM', 'ttm', clock],
  ['Steps', 'steps', whole], ['Commands', 'commands', whole], ['Tokens', 'tokens', short], ['Cost', 'cost', money],
];
const PAGE = 100;

function episodes(data, rows, replays) {
  const some = (name) => rows.some((row) => row[name]);
  const columns = COLUMNS.filter(([, name]) => (data.truth ? name !== 'task' : !['fault', 'target'].includes(name))
    && (!['tokens', 'cost'].includes(name) || some(name)) && (name !== 'sample' || rows.some((row) => row.sample > 0)));
  const state = { text: '', kind: 'all outcomes', sort: null, down: false, shown: PAGE };
  const body = el('tbody');
  const count = el('span', { class: 'soft small', id: 'count' });
  const more = el('button', { class: 'plain', onclick: () => { state.shown += PAGE; list(); } }, 'Show more');
  const kinds = { 'all outcomes': () => true, solved: (row) => row.scored && row.success, 'not solved': (row) => row.scored && !row.success,
    'no outcome': (row) => !row.scored, 'can be replayed': (row) => replays.has(row.id) };
  const rank = (row) => (state.sort === 'reason' ? (row.scored ? (row.success ? 0 : 1) : 2) : state.sort === 'id' ? !replays.has(row.id) : row[state.sort]);
  const list = () => {
    const found = rows.filter((row) => kinds[state.kind](row)
      && `${row.policy} ${row.fault} ${row.target} ${row.family} ${row.task} ${row.reason} ${row.exit} ${row.seed} ${row.id}`.toLowerCase().includes(state.text));
    if (state.sort !== null) found.sort((a, b) => order(rank(a), rank(b), state.down));
    body.replaceChildren(...found.slice(0, state.shown).map((row) => line(row, columns, replays)));
    count.textContent = `${whole(found.length)} of ${whole(rows.length)}`;
    more.hidden = found.length <= state.shown;
  };
  const heads = columns.map(([title, name, show]) => {
    const head = el('th', { class: show || name === 'seed' || name === 'sample' ? 'right' : '' }, el('button', { type: 'button', onclick: () => {
      state.down = state.sort === name && !state.down;
      state.sort = name;
      for (const each of heads) each.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      list();
    } }, title || el('span', { 'aria-label': 'replay' }, '▶')));
    return head;
  });
  list();
  return el('section', {}, el('h2', {}, 'Episodes'),
    el('p', { class: 'lead' }, `Those with ▶ can be replayed step by step. Click on a heading to sort.`),
    el('div', { class: 'filters' },
      el('input', { type: 'search', placeholder: 'Filter: fault, target, policy, reason …', 'aria-label': 'Filter', oninput: (event) => { state.text = event.target.value.toLowerCase(); list(); } }),
      choice('Outcome', Object.keys(kinds), (name) => { state.kind = name; list(); }), count),
    el('div', { class: 'scroll' }, el('table', { id: 'episodes' }, el('thead', {}, el('tr', {}, heads)), body)), more);
}

function order(a, b, down) {
  const [left, right] = [a ?? null, b ?? null];
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  return (left < right ? -1 : left > right ? 1 : 0) * (down ? -1 : 1);
}

function line(row, columns, replays) {
  const open = replays.has(row.id);
  const address = `#episode=${encodeURIComponent(row.id)}&step=0`;
  const cell = ([, name, show]) => {
    if (name === 'id') return el('td', {}, open && el('a', { href: address, 'aria-label': 'replay' }, '▶'));
    if (name === 'reason') return el('td', {}, outcome(row));
    if (name === 'diagnosed' || name === 'repaired') return el('td', {}, yes(row[name]));
    if (show || name === 'seed' || name === 'sample') return el('td', { class: 'right' }, row[name] === null ? '–' : (show || String)(row[name]));
    return el('td', {}, name === 'fault' ? words(row.fault) || 'healthy system' : row[name]);
  };
  return el('tr', { class: open ? 'open' : '', 'data-id': row.id, onclick: open ? () => { location.hash = address; } : null }, columns.map(cell));
}

function configuration(data) {
  const value = (values) => (values.length > 6 ? `${values.slice(0, 6).join(' | ')} | … (${values.length} values)` : values.join(' | '));
  return el('section', {}, el('h2', {}, 'Configuration'),
    el('details', {}, el('summary', {}, `${data.configuration.length} settings; values that differ between episodes are divided by |`),
      el('dl', { id: 'configuration' }, data.configuration.map(([name, values]) => [el('dt', {}, name), el('dd', { class: 'mono' }, value(values) || '–')]))));
}

// One episode, step by step: the transcript beside the world as it was. Step 0 is before the agent acted.
const STATES = {
  ok: ['●', 'serves', 'var(--ok)', 'var(--ok-bg)'], degraded: ['▲', 'errors or too few pods', 'var(--degraded)', 'var(--degraded-bg)'],
  down: ['✕', 'no ready pod', 'var(--down)', 'var(--down-bg)'], silent: ['◌', 'its usual requests do not come', 'var(--silent)', 'var(--silent-bg)'],
  idle: ['–', 'nothing is asked of it', 'var(--idle)', 'var(--idle-bg)'],
};
const DASHES = [null, '7 3', '2 3', '9 3 2 3', '4 4', '1 3', '12 3', '3 6'];
const LINES = 14;

function replay(data, episode, row, go) {
  const last = episode.steps.length;
  const world = episode.world && !episode.world.note ? episode.world : null;
  const times = [0, ...episode.steps.map((step) => step.time)];
  const state = { step: 0, timer: null };
  const followers = [];
  const slider = el('input', { type: 'range', min: 0, max: last, value: 0, 'aria-label': 'Step', oninput: () => go(Number(slider.value)) });
  const where = el('div', { class: 'where', id: 'where' });
  const button = (text, name, act) => el('button', { class: 'plain', type: 'button', 'aria-label': name, title: name, onclick: act }, text);
  const playing = button('▶', 'Play', () => (state.timer ? stop() : start()));
  const stop = () => { clearInterval(state.timer); state.timer = null; playing.textContent = '▶'; };
  const start = () => {
    if (state.step >= last) go(0);
    playing.textContent = '⏸';
    state.timer = setInterval(() => (state.step >= last || !slider.isConnected ? stop() : go(state.step + 1)), 1200);
  };
  const steps = transcript(episode, go);
  const column = el('div', { class: 'steps', id: 'steps', tabindex: 0, 'aria-label': 'Transcript' }, steps);
  const move = (step, scroll = true) => {
    state.step = Math.max(0, Math.min(last, step));
    slider.value = state.step;
    where.replaceChildren(el('b', {}, state.step ? `step ${state.step} of ${last}` : 'before the first step'), ` · ${clock(times[state.step])}`);
    steps.forEach((each, index) => {
      each.classList.toggle('now', index === state.step);
      each.classList.toggle('later', index > state.step);
    });
    followers.forEach((follow) => follow(state.step));
    if (scroll) reveal(column, steps[state.step]);
  };
  const pictures = world
    ? [callGraph(data.graphs[world.app], episode, world, followers), users(episode, world, times, state, followers, go), alarms(episode, world, times, state, followers, go)]
    : [el('div', { class: 'card soft small' }, (episode.world && episode.world.note) || 'There is nothing to show of the world.')];
  const view = el('div', { id: 'replay', 'data-episode': episode.id },
    heading(data, episode, row),
    el('div', { class: 'bar' }, button('‹', 'Previous step', () => go(state.step - 1)), playing, button('›', 'Next step', () => go(state.step + 1)), slider, where),
    el('div', { class: 'replay' }, el('div', { class: 'column' }, column), el('div', { class: 'pictures' }, pictures)),
    graded(episode, row));
  const pressed = (event) => {
    if (['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName)) return;
    if (event.key === 'ArrowRight') go(state.step + 1);
    else if (event.key === 'ArrowLeft') go(state.step - 1);
  };
  return { view, move, pressed, stop, last };
}

/** Scrolls the transcript, where it scrolls by itself, so that a step is seen. The page stays where it is. */
function reveal(column, step) {
  const [top, bottom] = [step.offsetTop - column.offsetTop - 8, step.offsetTop - column.offsetTop + step.offsetHeight + 8];
  if (top < column.scrollTop || step.offsetHeight > column.clientHeight) column.scrollTop = top;
  else if (bottom > column.scrollTop + column.clientHeight) column.scrollTop = Math.min(top, bottom - column.clientHeight);
}

function heading(data, episode, row) {
  const others = data.episodes.map((each) => each.id);
  const at = others.indexOf(episode.id);
  const link = (id, text) => el('a', { class: 'small', href: `#episode=${encodeURIComponent(id)}&step=0` }, text);
  const name = data.truth ? `${words(row.fault) || 'healthy system'} on ${row.target || 'nothing'}` : `problem ${row.task}`;
  const fact = (label, value) => value !== null && el('span', {}, `${label} `, el('b', {}, value));
  return [
    el('header', {},
      el('div', { class: 'top' }, el('a', { href: '#', class: 'small' }, `← ${data.title}`),
        el('nav', {}, at > 0 && link(others[at - 1], '‹ previous episode'), at < others.length - 1 && link(others[at + 1], 'next episode ›'))),
      el('h1', { class: 'spaced' }, name),
      el('div', { class: 'facts' }, outcome(row), fact('policy', row.policy), fact('seed', String(row.seed)), row.sample > 0 && fact('sample', String(row.sample)),
        fact('return', row.return === null ? null : plain(2)(row.return)), fact('diagnosis after', row.ttd === null ? null : clock(row.ttd)),
        fact('repair after', row.ttm === null ? null : clock(row.ttm)), fact('commands', String(row.commands)),
        fact('tokens', row.tokens === null ? null : short(row.tokens)), fact('ended by', words(row.exit || '–')))),
    episode.world && episode.world.warning && el('section', { class: 'small', id: 'warning' }, episode.world.warning),
    episode.failure && el('section', {}, el('h3', {}, 'What failed'), el('p', { class: 'mono small' }, episode.failure)),
    episode.causes.length > 0 && el('section', { class: 'truth', id: 'truth' },
      el('span', { class: 'tag' }, 'Ground truth – the agent did not see this'),
      episode.causes.slice(0, 2).map(told),
      episode.causes.length > 2 && el('details', { class: 'more' }, el('summary', {}, `${episode.causes.length - 2} more causes`), episode.causes.slice(2).map(told))),
  ];
}

const told = (cause) => el('dl', {},
  el('dt', {}, 'cause'), el('dd', {}, cause.cause),
  el('dt', {}, 'at fault'), el('dd', {}, cause.components.join(', ') || '–', cause.resource_kind && el('span', { class: 'soft' }, `  (${cause.resource_kind} ${cause.resource_name})`)),
  cause.field && [el('dt', {}, 'changed'), el('dd', { class: 'mono' }, `${cause.field}: ${cause.right || '(none)'} → ${cause.wrong || '(none)'}`)],
  cause.affected.length > 0 && [el('dt', {}, 'suffering'), el('dd', {}, cause.affected.join(', '))],
  cause.journeys.length > 0 && [el('dt', {}, 'journeys hurt'), el('dd', {}, cause.journeys.join(', '))]);

// --- the transcript ------------------------------------------------------------------------------

function transcript(episode, go) {
  const opening = el('article', { class: 'step', 'data-step': 0, onclick: () => go(0) },
    el('div', { class: 'head' }, el('b', {}, 'What the agent was told')),
    episode.opening.map((message) => [message.role !== 'user' && el('div', { class: 'soft small' }, message.role), folded(message.text, 'prose')]));
  return [opening, ...episode.steps.map((step, index) => {
    const terms = Object.entries(step.terms).map(([name, value]) => `${words(name)} ${value > 0 ? '+' : ''}${plain(2)(value)}`).join(', ');
    return el('article', { class: 'step', 'data-step': index + 1, onclick: () => go(index + 1, false) },
      el('div', { class: 'head' }, el('b', {}, index + 1), el('span', {}, clock(step.time)),
        step.error ? el('span', { class: 'mark bad' }, words(step.error)) : step.exit !== 0 && el('span', { class: 'mark bad' }, `exit ${step.exit}`),
        step.cut && el('span', {}, 'cut to fit'), step.commands !== 1 && el('span', {}, `${step.commands} commands`),
        step.tokens !== null && el('span', {}, `${short(step.tokens)} tokens`),
        step.potential !== null && el('span', {}, `potential ${plain(2)(step.potential)}`),
        (step.reward !== 0 || terms) && el('span', { class: 'push', title: terms }, 'reward ', el('b', {}, plain(2)(step.reward)))),
      step.thought && el('div', { class: 'thought' }, step.thought),
      el('pre', { class: 'command' }, step.command),
      folded(step.seen));
  })];
}

/** A text, of which only the beginning is shown if it is long. */
function folded(text, kind = '') {
  const trimmed = text.replace(/\n+$/, '');
  if (!trimmed) return '';
  const lines = trimmed.split('\n');
  const shown = el('pre', { class: `seen ${kind}` });
  if (lines.length <= LINES + 3 && trimmed.length <= 2400) {
    shown.textContent = trimmed;
    return shown;
  }
  const brief = lines.slice(0, LINES).join('\n').slice(0, 1800);
  shown.textContent = brief;
  const toggle = el('button', { class: 'plain', type: 'button', 'aria-expanded': 'false' }, `Show all ${whole(lines.length)} lines`);
  toggle.addEventListener('click', (event) => {
    event.stopPropagation();
    const open = toggle.getAttribute('aria-expanded') !== 'true';
    toggle.setAttribute('aria-expanded', String(open));
    shown.textContent = open ? trimmed : brief;
    toggle.textContent = open ? 'Show less' : `Show all ${whole(lines.length)} lines`;
  });
  return [shown, toggle];
}

// --- the world -----------------------------------------------------------------------------------

function callGraph(graph, episode, world, followers) {
  const height = graph.node_height;
  const at = Object.fromEntries(graph.nodes.map((node) => [node.name, node]));
  const blamed = new Set(episode.causes.flatMap((cause) => cause.components));
  const nodes = {};
  for (const node of graph.nodes) {
    const width = node.width;
    const parts = { title: svg('title'), box: svg('rect', { width, height, rx: 7, 'stroke-width': 1.5 }), mark: svg('text', { x: 14, y: 22, 'text-anchor': 'middle' }),
      under: svg('text', { class: 'tiny', x: 26, y: 29 }) };
    nodes[node.name] = { ...parts, group: svg('g', { class: 'node', transform: `translate(${node.x} ${node.y})`, 'data-component': node.name },
      parts.title, blamed.has(node.name) && svg('rect', { x: -4, y: -4, width: width + 8, height: height + 8, rx: 10, fill: 'none', stroke: 'var(--truth)', 'stroke-width': 2, 'stroke-dasharray': '5 3' }),
      parts.box, parts.mark, svg('text', { x: 26, y: 15 }, node.name), parts.under) };
  }
  const arrows = graph.arrows.map(([from, to, kind]) => {
    const [x1, y1, x2, y2] = [at[from].x + at[from].width, at[from].y + height / 2, at[to].x - 3, at[to].y + height / 2];
    const bend = Math.max(18, (x2 - x1) / 2);
    return svg('path', { d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, fill: 'none', stroke: 'var(--idle)', 'stroke-width': 1.3,
      'stroke-dasharray': kind === 'start' ? '3 4' : null, 'stroke-opacity': 0.8, 'marker-end': 'url(#arrow)' }, svg('title', {}, `${from} calls ${to}${kind === 'start' ? ' when it starts' : ''}`));
  });
  followers.push((step) => {
    const known = {};
    for (let index = 0; index <= Math.min(step, world.components.length - 1); index += 1) Object.assign(known, world.components[index]);
    for (const [name, parts] of Object.entries(nodes)) {
      const [word, rate, success, ready, wanted] = known[name] || ['idle', 0, null, 0, 0];
      const [mark, meaning, colour, back] = STATES[word];
      parts.group.setAttribute('data-state', word);
      parts.box.setAttribute('fill', back);
      parts.box.setAttribute('stroke', colour);
      parts.mark.textContent = mark;
      parts.mark.setAttribute('fill', colour);
      const share = success === null ? '' : `${success > 0.99 && success < 1 ? (success * 100).toFixed(1) : Math.round(success * 100)} %`;
      const pods = wanted ? `${ready}/${wanted} ready` : ready ? `${ready} ready` : 'no pods wanted';
      parts.under.textContent = { ok: `${rate >= 10 ? Math.round(rate) : rate} req/s`, idle: 'idle', silent: 'no requests', down: pods, degraded: ready < wanted ? pods : `${share} ok` }[word];
      parts.under.setAttribute('fill', 'var(--soft)');
      parts.title.textContent = `${name}: ${meaning}\n${pods}, ${rate} requests per second${share && `, ${share} of them served`}`;
    }
  });
  const pad = 6;
  return el('div', { class: 'card' }, el('h3', {}, 'Components'),
    legend(...Object.values(STATES).map(([mark, meaning, colour]) => [svg('svg', { viewBox: '0 0 18 12' }, svg('text', { x: 9, y: 10, 'text-anchor': 'middle', fill: colour }, mark)), meaning]),
      ...(blamed.size ? [[svg('svg', { viewBox: '0 0 18 12' }, svg('rect', { x: 1, y: 1, width: 16, height: 10, rx: 3, fill: 'none', stroke: 'var(--truth)', 'stroke-width': 2, 'stroke-dasharray': '4 2' })), 'at fault']] : [])),
    el('div', { class: 'scroll' }, svg('svg', { id: 'graph', viewBox: `${-pad} ${-pad} ${graph.width + 2 * pad} ${graph.height + 2 * pad}`, role: 'img', 'aria-label': 'Call graph' },
      svg('defs', {}, svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, svg('path', { d: 'M0 0.8 L7.5 4 L0 7.2 Z', fill: 'var(--idle)' }))),
      graph.shelf !== null && svg('line', { class: 'axis', x1: 0, x2: graph.width, y1: graph.shelf, y2: graph.shelf, 'stroke-dasharray': '2 4' }),
      arrows, Object.values(nodes).map((parts) => parts.group))));
}

/** The stretch of time that is shown: the episode, and enough before it to see the users begin to suffer. */
function stretch(world, times) {
  const end = Math.max(times[times.length - 1], 5);
  const hurt = world.times.findIndex((time, index) => time <= 0 && world.journeys.some((journey) => journey.success[index] !== null && journey.success[index] < world.slo));
  const onset = hurt > 0 ? world.times[hurt - 1] - 15 : 0;
  return [Math.max(Math.min(...world.times), Math.min(-Math.max(30, end * 0.4), Math.max(onset, -Math.max(120, end)))), end];
}

const SIDES = [34, 12];

/** A chart over the episode's time with a cursor at the step, on which a click goes to the nearest step. */
function overTime(world, times, state, followers, go, height, label, paint) {
  const [low, high] = stretch(world, times);
  let cursor = null;
  let x = null;
  const follow = (step) => cursor && x && cursor.setAttribute('transform', `translate(${x(times[step]).toFixed(1)} 0)`);
  followers.push(follow);
  return painted((width) => {
    x = scale(low, high, SIDES[0], width - SIDES[1]);
    cursor = svg('g', { class: 'cursor' }, svg('line', { y1: 0, y2: height - 20, stroke: 'var(--accent)', 'stroke-width': 2 }), svg('path', { d: 'M-5 0 H5 L0 7 Z', fill: 'var(--accent)' }));
    const picture = frame(width, height, label,
      svg('rect', { x: 0, y: 0, width, height, fill: 'transparent' }),
      svg('rect', { x: SIDES[0], y: 0, width: Math.max(0, x(0) - SIDES[0]), height: height - 20, fill: 'var(--sunk)' }),
      paint(x, width),
      ticks(low, high, width / 80, 'time').map((at) => svg('text', { class: 'soft tiny', x: x(at), y: height - 5, 'text-anchor': 'middle' }, clock(at))),
      cursor);
    picture.addEventListener('click', (event) => {
      const box = picture.getBoundingClientRect();
      const seen = low + ((((event.clientX - box.left) / box.width) * width - SIDES[0]) / (width - SIDES[0] - SIDES[1])) * (high - low);
      go(times.reduce((best, time, index) => (Math.abs(time - seen) <= Math.abs(times[best] - seen) ? index : best), 0));
    });
    follow(state.step);
    return picture;
  });
}

function users(episode, world, times, state, followers, go) {
  const colour = (index) => `var(--s${index % 8})`;
  const values = world.journeys.map(() => el('b'));
  const at = (journey, time) => {
    const index = world.times.findIndex((each) => each >= time - 0.01);
    return journey.success[index < 0 ? journey.success.length - 1 : index];
  };
  followers.push((step) => world.journeys.forEach((journey, index) => {
    const share = at(journey, times[step]);
    values[index].textContent = share === null || share === undefined ? '–' : percent(share);
  }));
  const height = 168;
  const marks = episode.steps.map((step, index) => ({ time: step.time, before: index ? episode.steps[index - 1].stage : 'diagnosis', stage: step.stage }));
  return el('div', { class: 'card' }, el('h3', {}, 'Users served'),
    legend(...world.journeys.map((journey, index) => [dash(colour(index), DASHES[index % 8]), [`${journey.name} `, values[index]]])),
    overTime(world, times, state, followers, go, height, 'Share of requests served over time', (x) => {
      const y = scale(0, 1, height - 38, 8);
      const right = x(Math.max(times[times.length - 1], 5));
      return [
        [0, 0.5, 1].map((share) => [svg('line', { class: 'gridline', x1: SIDES[0], x2: right, y1: y(share), y2: y(share) }),
          svg('text', { class: 'soft tiny', x: SIDES[0] - 6, y: y(share) + 4, 'text-anchor': 'end' }, `${share * 100} %`)]),
        world.journeys.map((journey, index) => svg('path', { class: 'journey', d: stairs(world.times, journey.success, x, (share) => y(share) + (index - (world.journeys.length - 1) / 2) * 2.4),
          fill: 'none', stroke: colour(index), 'stroke-width': 1.9, 'stroke-dasharray': DASHES[index % 8], 'stroke-linejoin': 'round' })),
        marks.map((mark) => (mark.before !== mark.stage
          ? svg('path', { d: `M${x(mark.time)} ${height - 34} l5 6 l-5 6 l-5 -6 Z`, fill: 'var(--truth)' }, svg('title', {}, mark.before === 'diagnosis' ? 'diagnosis handed in' : 'repair handed in'))
          : svg('circle', { cx: x(mark.time), cy: height - 28, r: 2.4, fill: 'var(--soft)' }))),
      ];
    }),
    el('p', { class: 'soft small' }, 'Dots are steps, diamonds submissions; grey is before the agent was called.'));
}

/** Each value holds from the time before it to its own. Left of the picture nothing is drawn. */
function stairs(times, values, x, y) {
  let path = '';
  let pen = false;
  for (let index = 0; index < times.length; index += 1) {
    const from = Math.max(SIDES[0], x(index ? times[index - 1] : times[0]));
    const to = x(times[index]);
    if (values[index] === null) pen = false;
    if (values[index] === null || to < SIDES[0]) continue;
    const height = y(values[index]).toFixed(1);
    path += `${pen ? 'L' : 'M'}${from.toFixed(1)} ${height} L${to.toFixed(1)} ${height} `;
    pen = true;
  }
  return path;
}

function alarms(episode, world, times, state, followers, go) {
  const names = [...new Set(world.alerts.flat().map((alert) => alert.name))].sort();
  const list = el('ul', { class: 'alerts', id: 'alerts' });
  const strongest = (alerts) => (alerts.some((alert) => alert.state === 'firing') ? 'firing' : alerts.length ? 'pending' : null);
  followers.push((step) => {
    const now = world.alerts[Math.min(step, world.alerts.length - 1)] || [];
    const sorted = [...now].sort((a, b) => (a.state === b.state ? 0 : a.state === 'firing' ? -1 : 1));
    list.replaceChildren(...(sorted.length ? sorted.slice(0, 8).map((alert) => el('li', {}, el('span', { class: alert.state === 'firing' ? 'mark bad' : 'soft' }, alert.state), ' ', alert.summary))
      : [el('li', { class: 'soft' }, 'No alert is pending or firing.')]), ...(sorted.length > 8 ? [el('li', { class: 'soft' }, `and ${sorted.length - 8} more`)] : []));
  });
  const [lane, height] = [27, names.length * 27 + 28];
  const bars = (name) => {
    const found = [];
    world.alerts.forEach((alerts, look) => {
      const mine = alerts.filter((alert) => alert.name === name);
      const kind = strongest(mine);
      const until = times[look + 1] === undefined ? times[look] : times[look + 1];
      const before = found[found.length - 1];
      if (kind && before && before.kind === kind && before.look === look - 1) Object.assign(before, { until, look, most: Math.max(before.most, mine.length) });
      else if (kind) found.push({ kind, look, from: look ? times[look] : Math.min(0, ...mine.map((alert) => alert.since)), until, most: mine.length });
    });
    return found;
  };
  return el('div', { class: 'card' }, el('h3', {}, 'Alerts'),
    names.length > 0 && [legend([swatch('var(--degraded-bg)', 'var(--degraded)'), 'pending'], [swatch('var(--down)'), 'firing']),
      overTime(world, times, state, followers, go, height, 'Alerts over time', (x) => names.map((name, index) => svg('g', {},
        bars(name).map((bar) => svg('rect', { x: Math.max(SIDES[0], x(bar.from)), y: index * lane + 16, width: Math.max(2, x(bar.until) - Math.max(SIDES[0], x(bar.from))), height: 8, rx: 2,
          fill: bar.kind === 'firing' ? 'var(--down)' : 'var(--degraded-bg)', stroke: bar.kind === 'firing' ? 'var(--down)' : 'var(--degraded)' },
        svg('title', {}, `${name} ${bar.kind}, ${bar.most} at most`))),
        svg('text', { class: 'tiny', x: SIDES[0], y: index * lane + 12 }, name))))],
    list);
}

// --- the end -------------------------------------------------------------------------------------

function graded(episode, row) {
  const table = (id, heads, rows) => el('div', { class: 'scroll' }, el('table', { id }, el('thead', {}, el('tr', {}, heads.map((head) => el('th', {}, head)))), el('tbody', {}, rows)));
  const detailed = episode.checks && episode.checks.some((check) => check.observed !== undefined);
  return [
    el('section', {}, el('h2', {}, 'The diagnosis ', yes(row.diagnosed)),
      episode.diagnosis === null ? el('p', { class: 'soft' }, 'None was handed in.') : el('pre', { class: 'seen prose', id: 'diagnosis' }, episode.diagnosis),
      episode.answers && table('answers', ['', 'Question', 'Evidence'], episode.answers.map((answer) => el('tr', {}, el('td', {}, yes(answer.passed)),
        el('td', { class: 'wrap' }, answer.question, el('span', { class: 'soft small' }, `  ${answer.id}`)), el('td', { class: 'wrap soft' }, answer.evidence || '–'))))),
    el('section', {}, el('h2', {}, 'The repair ', yes(row.repaired)),
      episode.checks === null ? el('p', { class: 'soft' }, 'It was not judged.')
        : table('checks', ['', 'Check', detailed && 'Seen', detailed && 'Wanted'].filter((head) => head !== false), episode.checks.map((check) => el('tr', {}, el('td', {}, yes(check.passed)), el('td', {}, words(check.name)),
          detailed && [el('td', { class: 'wrap' }, check.observed), el('td', { class: 'wrap soft' }, check.expected)])))),
  ];
}

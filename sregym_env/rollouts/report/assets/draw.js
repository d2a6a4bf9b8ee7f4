// Elements, scales and the charts that both views share. Texts become text nodes, never markup.
const SVG = 'http://www.w3.org/2000/svg';

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}
const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

const whole = (value) => Math.round(value).toLocaleString('en-US');
const percent = (value) => `${Math.round(value * 100)} %`;
const plain = (digits) => (value) => (Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value)
  .toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace('-', '−');
const money = (value) => `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
const short = (value) => (Math.abs(value) >= 1e6 ? `${+(value / 1e6).toFixed(1)} M` : Math.abs(value) >= 1e4 ? `${+(value / 1e3).toFixed(0)} k` : whole(value));
const words = (name) => name.replaceAll('_', ' ');

/** Seconds as a clock: 0:07, 12:30, 1:02:30. */
function clock(seconds) {
  const total = Math.round(Math.abs(seconds));
  const [h, m, s] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60), total % 60];
  const pad = (part) => String(part).padStart(2, '0');
  return `${seconds < -0.5 ? '−' : ''}${h ? `${h}:${pad(m)}` : m}:${pad(s)}`;
}

const STEPS = { number: null, time: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400] };

/** Round values from low to high, about as many as asked for. */
function ticks(low, high, count, kind = 'number') {
  const rough = Math.max((high - low) / Math.max(1, count), 1e-9);
  let step = STEPS[kind] && STEPS[kind].find((each) => each >= rough);
  if (!step) {
    const power = 10 ** Math.floor(Math.log10(rough));
    step = [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) * power;
  }
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) found.push(+(at * step).toPrecision(12));
  return found;
}

const scale = (from, to, start, end) => (value) => start + ((value - from) / (to - from || 1)) * (end - start);

/** A block that paints itself at its own width, and again when that changes. */
function painted(paint, least = 240) {
  const box = el('div', { class: 'chart' });
  let width = 0;
  const draw = () => {
    const now = Math.max(least, Math.round(box.clientWidth || 0));
    if (now === width || !box.isConnected) return;
    width = now;
    box.replaceChildren(paint(width));
  };
  // In the next frame: painting changes heights, of which the observer would complain.
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(box);
  queueMicrotask(draw);
  return box;
}

const frame = (width, height, label, ...children) =>
  svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, ...children);

/** A rate and its interval on a track from 0 to 1. */
function whisker(estimate, colour = 'var(--good)') {
  const [width, height] = [132, 18];
  const x = scale(0, 1, 6, width - 6);
  const track = svg('line', { class: 'axis', x1: x(0), x2: x(1), y1: 9, y2: 9 });
  if (!estimate) return frame(width, height, 'not measured', track);
  const picture = frame(
    width, height, `${percent(estimate.value)}, 95 % interval ${percent(estimate.low)} to ${percent(estimate.high)}`, track,
    [0, 0.5, 1].map((at) => svg('line', { class: 'axis', x1: x(at), x2: x(at), y1: 6, y2: 12 })),
    svg('line', { x1: x(estimate.low), x2: x(estimate.high), y1: 9, y2: 9, stroke: colour, 'stroke-width': 5, 'stroke-opacity': 0.35, 'stroke-linecap': 'round' }),
    svg('circle', { cx: x(estimate.value), cy: 9, r: 4.5, fill: colour }),
  );
  picture.setAttribute('width', width);
  picture.classList.add('whisker');
  return picture;
}

const range = (estimate, show) => (estimate && estimate.low !== null ? `${show(estimate.low)} – ${show(estimate.high)}` : '');

/** Bars of how many rows have which value; those that succeeded stand on the axis, the others on top of them. */
function histogram(title, rows, value, show, kind = 'number') {
  const known = rows.filter((row) => row.scored && row[value] !== null);
  const block = el('div', { class: 'histogram', 'data-of': value }, el('h3', {}, title));
  if (!known.length) {
    block.append(el('p', { class: 'soft small' }, 'Nothing to show.'));
    return block;
  }
  const values = known.map((row) => row[value]);
  const marks = bins(Math.min(...values), Math.max(...values), kind);
  const size = marks[1] - marks[0];
  const bars = marks.slice(0, -1).map((from, index) => {
    const last = index === marks.length - 2;
    const inside = known.filter((row) => row[value] >= from - size * 1e-9 && (row[value] < marks[index + 1] - size * 1e-9 || last));
    return { from, to: marks[index + 1], good: inside.filter((row) => row.success).length, all: inside.length };
  });
  const highest = Math.max(...bars.map((bar) => bar.all));
  block.append(painted((width) => {
    const [height, left, bottom, top] = [150, 30, 24, 8];
    const x = scale(marks[0], marks[marks.length - 1], left, width - 10);
    const y = scale(0, highest, height - bottom, top);
    const bar = (each, low, high, colour) => high > low && svg('rect', {
      x: x(each.from) + 1, width: Math.max(1, x(each.to) - x(each.from) - 2), y: y(high), height: y(low) - y(high), rx: 1.5, fill: colour,
    });
    return frame(
      width, height, `Distribution of ${title}`,
      ticks(0, highest, 3).filter(Number.isInteger).map((at) => [
        svg('line', { class: 'gridline', x1: left, x2: width - 10, y1: y(at), y2: y(at) }),
        svg('text', { class: 'soft tiny', x: left - 6, y: y(at) + 4, 'text-anchor': 'end' }, at),
      ]),
      bars.map((each) => svg('g', {}, svg('title', {}, `${show(each.from)} to ${show(each.to)}: ${each.all} episodes, ${each.good} solved`),
        bar(each, 0, each.good, 'var(--good)'), bar(each, each.good, each.all, 'var(--bad)'))),
      svg('line', { class: 'axis', x1: left, x2: width - 10, y1: y(0), y2: y(0) }),
      ticks(marks[0], marks[marks.length - 1], Math.max(2, width / 90), kind).map((at) =>
        svg('text', { class: 'soft tiny', x: x(at), y: height - 7, 'text-anchor': 'middle' }, show(at))),
    );
  }));
  return block;
}

/** Edges of about twelve bins with round bounds. */
function bins(low, high, kind) {
  if (high - low < 1e-9) return kind === 'time' || low >= 10 ? [low - 1, low, low + 1] : [low - 0.1, low, low + 0.1];
  const marks = ticks(low, high, 12, kind);
  const step = marks.length > 1 ? marks[1] - marks[0] : high - low;
  while (marks[0] > low + 1e-9) marks.unshift(+(marks[0] - step).toPrecision(12));
  while (marks[marks.length - 1] < high - 1e-9 || marks.length < 2) marks.push(+(marks[marks.length - 1] + step).toPrecision(12));
  return marks;
}

const legend = (...entries) => el('div', { class: 'legend' }, entries.map(([mark, text]) => el('span', {}, mark, text)));
const swatch = (colour, edge = null) => svg('svg', { viewBox: '0 0 18 12' }, svg('rect', { x: 3, y: 1, width: 12, height: 10, rx: 2, fill: colour, stroke: edge }));
const dash = (colour, pattern) => svg('svg', { viewBox: '0 0 18 12' },
  svg('line', { x1: 0, x2: 18, y1: 6, y2: 6, stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': pattern }));

function outcome(row) {
  if (!row.scored) return el('span', { class: 'badge void' }, `no outcome: ${words(row.reason || row.class)}`);
  if (row.success) return el('span', { class: 'badge good' }, '✓ solved');
  return el('span', { class: 'badge bad' }, `✗ ${words(row.reason || 'not solved')}`);
}

const yes = (value) => (value === null || value === undefined
  ? el('span', { class: 'mark void' }, '–')
  : el('span', { class: `mark ${value ? 'good' : 'bad'}` }, value ? '✓' : '✗'));

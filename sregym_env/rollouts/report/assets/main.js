// Which view the address asks for: #episode=ID&step=N, or the run.
const data = JSON.parse(document.getElementById('data').textContent);
const page = document.getElementById('page');
const known = new Map(data.episodes.map((episode) => [episode.id, episode]));
const rowOf = (id) => {
  const at = data.rows.columns.indexOf('id');
  const values = data.rows.values.find((each) => each[at] === id);
  return Object.fromEntries(data.rows.columns.map((name, index) => [name, values[index]]));
};
let current = null;
let run = null;
let left = 0;

function asked() {
  const given = new URLSearchParams(location.hash.slice(1));
  return { id: given.get('episode'), step: Number.parseInt(given.get('step') || '0', 10) || 0 };
}

function open() {
  const { id, step } = asked();
  if (!known.has(id)) {
    if (current) current.stop();
    current = null;
    run = run || overview(data);
    if (!run.isConnected) {
      page.replaceChildren(run);
      window.scrollTo(0, left);
    }
    return;
  }
  if (!current || current.id !== id) {
    if (current) current.stop();
    else left = window.scrollY;
    const go = (to, scroll = true) => {
      const next = Math.max(0, Math.min(current.last, to));
      history.replaceState(null, '', `#episode=${encodeURIComponent(id)}&step=${next}`);
      current.move(next, scroll);
    };
    current = { id, ...replay(data, known.get(id), rowOf(id), go) };
    page.replaceChildren(current.view);
    window.scrollTo(0, 0);
    current.move(step, step > 0);
    return;
  }
  current.move(step);
}

window.addEventListener('hashchange', open);
document.addEventListener('keydown', (event) => current && !event.ctrlKey && !event.metaKey && !event.altKey && current.pressed(event));
open();

// The last two minutes as lines. Each chart has a table of the same in numbers, which is also its legend.
import { h, render } from './dom.mjs';
import { bytesPerSecond, isNumber, perSecond, text } from './format.mjs';
import { list } from './parts.mjs';
import { colour } from './theme.mjs';

const SPAN_S = 120;
const LINES = 6; // More are added up in the last.
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2]];

const last = (rates, name) => rates?.[name]?.last_1s;

/** [[name, value], …] of all that carries frames or messages, now. */
export function frameRates(doc) {
  return [
    ...list(doc.streams).map(s => [text(s.name), last(s.rates, 'frames_per_second')]),
    ...list(doc.sensors).map(s => [text(s.name), last(s.rates, 'frames_per_second')]),
    ...list(doc.rings).flatMap(r => [
      [`${text(r.name)}, in`, last(r.rates, 'received_per_second')],
      [`${text(r.name)}, out`, last(r.rates, 'sent_per_second')],
    ]),
  ];
}

export function byteRates(doc) {
  return [...list(doc.streams), ...list(doc.sensors)].map(s => [
    text(s.name),
    last(s.rates, 'bytes_per_second'),
  ]);
}

/** The values of some lines over the span, oldest first; unknown ones are null. */
export class History {
  times = [];
  lines = new Map();

  /** time in seconds; values as [[name, value], …]. */
  add(time, values) {
    const named = new Map();
    values.forEach(([name, value], i) => {
      const line = i < LINES - 1 || values.length <= LINES ? name : 'all others';
      const known = isNumber(value) ? Number(value) : null;
      const before = named.get(line) ?? null;
      named.set(line, known === null ? before : known + (before ?? 0));
    });
    for (const name of named.keys()) {
      if (!this.lines.has(name))
        this.lines.set(
          name,
          this.times.map(() => null),
        );
    }
    this.times.push(time);
    for (const [name, line] of this.lines) line.push(named.get(name) ?? null);
    this.#forget(time - SPAN_S - 2);
  }

  /** The lines break here: nothing is known. */
  gap(time) {
    this.add(time, []);
  }

  #forget(before) {
    const keep = this.times.findIndex(time => time >= before);
    if (keep <= 0) return;
    this.times.splice(0, keep);
    for (const [name, line] of this.lines) {
      line.splice(0, keep);
      if (line.every(value => value === null)) this.lines.delete(name);
    }
  }
}

const lineColour = i => colour(`line-${i % LINES}`);

function options(names, width, unit) {
  const axis = {
    stroke: () => colour('muted'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, "DejaVu Sans", sans-serif',
  };
  return {
    width,
    height: 190,
    padding: [10, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [-SPAN_S, 0] },
      y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.12 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        splits: () => [-120, -90, -60, -30, 0],
        values: (_u, at) => at.map(s => (s === 0 ? 'now' : `${s} s`)),
      },
      {
        ...axis,
        size: 74,
        space: 36,
        values: (_u, at) => at.map(value => unit(value).replace(/\.0+(?=\u00a0)/, '')),
      },
    ],
    series: [
      {},
      ...names.map((name, i) => ({
        label: name,
        stroke: () => lineColour(i),
        width: 2,
        dash: DASHES[i % DASHES.length],
        points: { show: false },
        spanGaps: false,
        fill: names.length === 1 ? () => colour('line-0-wash') : undefined,
      })),
    ],
  };
}

function swatch(i) {
  return h(
    'svg',
    { viewBox: '0 0 26 8', class: 'swatch', 'aria-hidden': 'true' },
    h('line', {
      x1: 0,
      x2: 26,
      y1: 4,
      y2: 4,
      'stroke-dasharray': DASHES[i % DASHES.length].join(' ') || null,
      style: `stroke: var(--line-${i % LINES})`,
    }),
  );
}

function numbers(line) {
  const known = line.filter(value => value !== null);
  const now = line.at(-1);
  if (!known.length) return [now, null, null];
  return [now, Math.min(...known), Math.max(...known)];
}

/** One chart with its table, in root. */
export class Chart {
  #root;
  #plot = null;
  #names = '';
  #width = 0;

  constructor(root, title, unit, history) {
    Object.assign(this, { title, unit, history });
    this.#root = root;
    render(
      root,
      h('h3', null, title),
      h('div', { class: 'plot', role: 'img' }),
      h('div', { class: 'legend' }),
    );
    new ResizeObserver(() => this.show()).observe(root);
  }

  show() {
    const names = [...this.history.lines.keys()];
    this.#root.hidden = names.length === 0;
    if (this.#root.hidden) return;
    const area = this.#root.querySelector('.plot');
    const newest = this.history.times.at(-1) ?? 0;
    const data = [this.history.times.map(time => time - newest), ...this.history.lines.values()];
    this.#fitPlot(area, names);
    this.#plot.setData(data);
    area.setAttribute(
      'aria-label',
      `Line chart: ${this.title} over the last two minutes, of ${names.join(', ')}. ` +
        'The table that follows has its numbers.',
    );
    this.#table(names);
  }

  /** After a change of colours. */
  redraw() {
    this.#plot?.redraw(false, true);
    this.show();
  }

  #fitPlot(area, names) {
    const width = Math.max(200, Math.floor(area.clientWidth));
    if (this.#plot && this.#names === names.join('\n')) {
      if (width !== this.#width) this.#plot.setSize({ width, height: 190 });
    } else {
      this.#plot?.destroy();
      this.#plot = new uPlot(options(names, width, this.unit), [[0], ...names.map(() => [null])], area);
      this.#names = names.join('\n');
    }
    this.#width = width;
  }

  #table(names) {
    const rows = names.map((name, i) =>
      h(
        'tr',
        { key: name },
        h('th', { scope: 'row' }, swatch(i), name),
        numbers(this.history.lines.get(name)).map(value =>
          h('td', { class: 'right number' }, this.unit(value)),
        ),
      ),
    );
    render(
      this.#root.querySelector('.legend'),
      h(
        'table',
        null,
        h('caption', { class: 'unseen' }, `${this.title}: now, lowest and highest of the last two minutes`),
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'col' }, h('span', { class: 'unseen' }, 'Of')),
            ['now', 'lowest', 'highest'].map(name => h('th', { scope: 'col', class: 'right' }, name)),
          ),
        ),
        h('tbody', null, rows),
      ),
    );
  }
}

/** The charts of the page, in root; add(doc) once for each document. */
export class Traffic {
  #frames = new History();
  #bytes = new History();
  #charts;
  #root;

  constructor(root) {
    this.#root = root;
    render(
      root,
      h(
        'section',
        { id: 'traffic-section', 'aria-labelledby': 'traffic-title' },
        h('h2', { id: 'traffic-title' }, 'Traffic'),
        h(
          'div',
          { class: 'pair' },
          h('div', { class: 'card', id: 'frame-chart' }),
          h('div', { class: 'card', id: 'byte-chart' }),
        ),
      ),
    );
    const [frames, bytes] = root.querySelectorAll('.pair > div');
    this.#charts = [
      new Chart(frames, 'Frames and messages per second', perSecond, this.#frames),
      new Chart(bytes, 'Bytes per second', bytesPerSecond, this.#bytes),
    ];
    root.hidden = true;
  }

  add(doc) {
    const now = performance.now() / 1000;
    this.#frames.add(now, frameRates(doc));
    this.#bytes.add(now, byteRates(doc));
    this.#root.hidden = this.empty;
    this.#charts.forEach(chart => chart.show());
  }

  gap() {
    const now = performance.now() / 1000;
    this.#frames.gap(now);
    this.#bytes.gap(now);
  }

  get empty() {
    return this.#frames.lines.size === 0 && this.#bytes.lines.size === 0;
  }

  redraw() {
    this.#charts.forEach(chart => chart.redraw());
  }
}

// What one wants to know at a glance: key figures and the picture of the path.
import { h } from './dom.mjs';
import { byteRates, frameRates } from './charts.mjs';
import {
  bytes,
  bytesPerSecond,
  count,
  nanoseconds,
  percent,
  perSecond,
  plural,
  scaled,
  seconds,
  span,
  sumKnown,
  text,
} from './format.mjs';
import { list, mark, section, toneOf } from './parts.mjs';
import { pathPicture } from './path_picture.mjs';
import { troubleTotals } from './troubles.mjs';

const tile = (name, value, detail, tone) =>
  h(
    'div',
    { class: `tile ${tone ?? ''}`, key: name },
    h('dt', null, name),
    h(
      'dd',
      null,
      h('span', { class: 'tile-value' }, tone && mark(tone), value),
      h('span', { class: 'tile-detail muted' }, detail),
    ),
  );

function frameTile(doc) {
  const rates = frameRates(doc);
  if (!rates.length) return null;
  const total = sumKnown([
    ...list(doc.streams).map(s => s.rx_frame_count),
    ...list(doc.sensors).map(s => s.frames),
    ...list(doc.rings).flatMap(r => [r.received, r.sent]),
  ]);
  const name = list(doc.rings).length ? 'Frames and messages' : 'Frames';
  return tile(name, perSecond(sumKnown(rates.map(([, value]) => value))), `${count(total)} so far`);
}

function byteTile(doc) {
  const rates = byteRates(doc);
  if (!rates.length) return null;
  const total = sumKnown([
    ...list(doc.streams).map(s => s.rx_byte_count),
    ...list(doc.sensors).map(s => s.bytes),
  ]);
  return tile('Data', bytesPerSecond(sumKnown(rates.map(([, value]) => value))), `${bytes(total)} so far`);
}

function slotTile(doc) {
  const streams = list(doc.streams).filter(s => s.slots);
  if (!streams.length) return null;
  const stalled = streams.find(s => s.stalled_by);
  const of = name => sumKnown(streams.map(s => s.slots[name]));
  const all = sumKnown([of('posted'), of('lent'), of('free')]);
  const oldest = Math.max(...streams.map(s => Number(s.oldest_lease_seconds ?? 0)));
  return tile(
    'Slots posted',
    `${count(of('posted'))} of ${count(all)}`,
    stalled
      ? `sender held by ${stalled.stalled_by}`
      : oldest > 0
        ? `oldest lease ${seconds(oldest)}`
        : of('lent') > 0
          ? `${count(of('lent'))} lent`
          : 'none lent',
    stalled ? 'bad' : null,
  );
}

function callTile(doc) {
  const services = list(doc.services);
  if (!services.length) return null;
  const slowest = Math.max(
    0,
    ...services.flatMap(s => list(s.functions)).map(f => Number(f.latency?.p99_ns ?? 0)),
  );
  return tile(
    'Calls answered',
    scaled(sumKnown(services.map(s => s.answered))),
    slowest > 0 ? `99 % within ${nanoseconds(slowest)}` : 'no calls yet',
  );
}

function engineTile(doc) {
  const engines = list(doc.engines);
  if (!engines.length) return null;
  const gap = Math.max(...engines.map(e => Number(e.longest_gap_ns ?? 0)));
  return tile(
    'CPU',
    percent(sumKnown(engines.map(e => e.cpu_share?.last_1s))),
    `longest gap ${nanoseconds(gap)}`,
  );
}

function troubleTile(doc, movements, time) {
  const { total, kinds, places } = troubleTotals(doc);
  const moved = places.map(at => movements.since(at, time)).filter(since => since !== null);
  const latest = moved.length ? Math.min(...moved) : null;
  const when = latest === null ? '' : latest < 2 ? ', the last now' : `, the last ${span(latest)} ago`;
  return tile(
    'Losses and refusals',
    scaled(total),
    kinds ? `${plural(kinds, 'reason')}${when}` : 'none',
    kinds ? 'bad' : 'good',
  );
}

function tiles(doc, movements, time) {
  return h(
    'dl',
    { class: 'tiles' },
    frameTile(doc),
    byteTile(doc),
    slotTile(doc),
    callTile(doc),
    engineTile(doc),
    troubleTile(doc, movements, time),
  );
}

export function overview(doc, movements, time, width) {
  const pictures = pathPicture(doc, width);
  return [
    section('summary', 'Summary', tiles(doc, movements, time)),
    pictures.length ? section('path', 'Path', h('div', { class: 'paths', id: 'paths' }, pictures)) : null,
  ].filter(Boolean);
}

/** [what, state] of everything whose change of state is worth being told. */
export function states(doc) {
  return [
    ...list(doc.streams).map(s => [
      `stream ${s.name}`,
      s.stalled_by ? `held by ${s.stalled_by}` : text(s.state),
    ]),
    ...list(doc.rings).map(r => [`ring ${r.name}`, text(r.state)]),
    ...list(doc.sensors).map(s => [`sensor ${s.name}`, text(s.state)]),
    ...list(doc.fpgas).map(f => [`FPGA session ${f.name}`, text(f.session?.state)]),
    ...list(doc.devices).map(d => [`device ${d.name}`, `port ${text(d.port_state)}`]),
  ];
}

export function titleOf(doc) {
  const bad = states(doc).some(([, state]) => toneOf(state) === 'bad' || state.startsWith('held by'));
  return `${bad ? '\u25b2 ' : ''}${doc.process?.name || 'rocio'}`;
}

// The path of the data as a picture: FPGA → device → slots → channels, one row for each stream, ring and sensor.
import { h } from './dom.mjs';
import { bytesPerSecond, count, errorText, perSecond, plural, text } from './format.mjs';
import { list, shape, toneOf } from './parts.mjs';

const WIDE = 820; // From this width on the row lies, below it stands.
const BOX_HEIGHT = 88;
const PLAIN_HEIGHT = 78; // Of a box without a bar, where the row stands.
const LINK_HEIGHT = 34;

const rate = (rates, name) => rates?.[name]?.last_1s;

function deviceBox(doc, name, queuePair) {
  const device = list(doc.devices).find(d => d.name === name);
  const port = device ? `port ${text(device.port_state)}` : 'port not shown';
  const fine = device?.port_state === 'active';
  return {
    caption: 'Device',
    main: text(name),
    detail: !queuePair ? port : fine ? `queue pair ${queuePair}` : `${port}, queue pair ${queuePair}`,
    tone: device ? toneOf(device.port_state) : 'quiet',
  };
}

function streamRow(doc, stream) {
  const slots = stream.slots ?? {};
  const channels = list(stream.channels);
  const gaps = channels.some(channel => channel.gaps > 0);
  const frames = rate(stream.rates, 'frames_per_second');
  const shown = channels
    .slice(0, 3)
    .map(c => `${c.channel}: ${perSecond(rate(c.rates, 'frames_per_second'))}`);
  return {
    name: stream.name,
    state: stream.state,
    flowing: frames > 0,
    boxes: [
      {
        caption: 'FPGA',
        main: text(stream.fpga_ip),
        detail: stream.fpga_qpn ? `queue pair ${stream.fpga_qpn}` : 'not connected',
        tone: toneOf(stream.state),
      },
      deviceBox(doc, stream.device, stream.host_qpn),
      {
        caption: 'Slots',
        main: `${count(slots.posted)} posted`,
        detail: `${count(slots.lent)} lent, ${count(slots.free)} free`,
        tone: stream.stalled_by ? 'bad' : 'good',
        parts: [slots.posted, slots.lent, slots.free],
      },
      {
        caption: 'Channels',
        main: channels.length ? plural(channels.length, 'channel') : `${count(stream.rx_frame_count)} frames`,
        detail: channels.length ? shown.join(', ') + (channels.length > 3 ? ' …' : '') : 'none yet',
        tone: gaps ? 'bad' : channels.length ? 'good' : 'quiet',
      },
    ],
    links: [
      { label: text(stream.state), tone: toneOf(stream.state) },
      { label: perSecond(frames) },
      stream.stalled_by
        ? { label: 'held', tone: 'bad' }
        : { label: bytesPerSecond(rate(stream.rates, 'bytes_per_second')) },
    ],
    problem: stream.stalled_by
      ? `no slot is posted, the sender waits: held by ${stream.stalled_by}`
      : errorText(stream.last_error),
  };
}

function ringRow(doc, ring) {
  const peer = ring.peer ?? {};
  const received = rate(ring.rates, 'received_per_second');
  const sent = rate(ring.rates, 'sent_per_second');
  return {
    name: ring.name,
    state: ring.state,
    flowing: received > 0 || sent > 0,
    boxes: [
      {
        caption: 'Peer',
        main: text(peer.address),
        detail: peer.qpn ? `queue pair ${peer.qpn}` : 'not connected',
        tone: toneOf(ring.state),
      },
      deviceBox(doc, ring.device, ring.local?.qpn),
      {
        caption: 'Ring',
        main: plural(ring.slots, 'slot'),
        detail: `${count(ring.occupancy?.rx_held)} held, ${count(ring.occupancy?.tx_in_flight)} in flight`,
        tone: ring.overwritten > 0 ? 'bad' : 'good',
        parts: [ring.slots - (ring.occupancy?.rx_held ?? 0), ring.occupancy?.rx_held, 0],
      },
      {
        caption: 'Messages',
        main: `${perSecond(received)} in`,
        detail: `${perSecond(sent)} out`,
        tone: toneOf(ring.state),
      },
    ],
    links: [
      { label: text(ring.state), tone: toneOf(ring.state) },
      { label: perSecond(received) },
      { label: text(ring.mode) },
    ],
    bothWays: !/^rx/.test(ring.mode),
    problem: errorText(ring.last_error),
  };
}

function sensorRow(doc, sensor) {
  const frames = rate(sensor.rates, 'frames_per_second');
  const bad = sensor.lost > 0 || sensor.dropped > 0;
  const from = list(doc.fpgas).find(fpga => fpga.name === sensor.name);
  return {
    name: sensor.name,
    state: sensor.state,
    flowing: frames > 0,
    boxes: [
      {
        caption: 'Sensor',
        main: text(from?.fpga_ip ?? sensor.peer?.address ?? sensor.name),
        detail: text(sensor.state),
        tone: toneOf(sensor.state),
      },
      deviceBox(doc, sensor.device, sensor.local?.qpn),
      {
        caption: 'Pages',
        main: plural(sensor.pages, 'page'),
        detail: `frames of ${count(sensor.frame_size)} B`,
        tone: 'good',
      },
      {
        caption: 'Frames',
        main: perSecond(frames),
        detail: `${count(sensor.lost)} lost, ${count(sensor.dropped)} dropped`,
        tone: bad ? 'bad' : 'good',
      },
    ],
    links: [
      { label: text(sensor.state), tone: toneOf(sensor.state) },
      { label: text(sensor.policy) },
      { label: bytesPerSecond(rate(sensor.rates, 'bytes_per_second')) },
    ],
    problem: errorText(sensor.last_error),
  };
}

export function pathRows(doc) {
  return [
    ...list(doc.streams).map(s => streamRow(doc, s)),
    ...list(doc.rings).map(r => ringRow(doc, r)),
    ...list(doc.sensors).map(s => sensorRow(doc, s)),
  ];
}

/** The row as a sentence, for those who do not see it. */
export function rowText(row) {
  const boxes = row.boxes.map(box => `${box.caption}: ${box.main}, ${box.detail}`).join('; ');
  return `${text(row.name)} is ${text(row.state)}. ${boxes}.${row.problem ? ` ${row.problem}.` : ''}`;
}

const ruler = typeof document === 'undefined' ? null : document.createElement('canvas').getContext('2d');

const inTheMiddle = (text, kept) =>
  `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
const atTheEnd = (text, kept) =>
  `${text
    .slice(0, kept)
    .replace(/,[^,]*$/, '')
    .trimEnd()} …`; // Before a comma if there is one.

/** text, cut to the width; addresses in the middle, because they differ at both ends. */
function fit(text, width, font, how = atTheEnd) {
  ruler.font = font;
  if (ruler.measureText(text).width <= width) return text;
  let kept = Math.min(text.length - 1, 200);
  const cut = n => how(text, n);
  while (kept > 1 && ruler.measureText(cut(kept)).width > width) --kept;
  return cut(kept);
}

const FONT = 'system-ui, "DejaVu Sans", sans-serif';

function occupancy(parts, x, y, width) {
  const total = parts.reduce((all, n) => all + (Number(n) || 0), 0);
  let at = x;
  return h(
    'g',
    null,
    h('rect', { x, y, width, height: 6, rx: 3, class: 'bar-free' }),
    ['bar-posted', 'bar-lent'].map((name, i) => {
      const length = total > 0 ? (width * (Number(parts[i]) || 0)) / total : 0;
      const rect = h('rect', {
        x: at.toFixed(1),
        y,
        width: length.toFixed(1),
        height: 6,
        rx: Math.min(3, length / 2),
        class: name,
      });
      at += length;
      return rect;
    }),
  );
}

function boxNode(box, x, y, width, height = BOX_HEIGHT) {
  const room = width - 28;
  return h(
    'g',
    { class: `box ${box.tone}` },
    h('title', null, `${box.caption}: ${box.main}, ${box.detail}`),
    h('rect', { x, y, width, height, rx: 8, class: 'box-frame' }),
    h('text', { x: x + 14, y: y + 22, class: 'box-caption' }, box.caption),
    /bad|busy/.test(box.tone) && shape(box.tone, { transform: `translate(${x + width - 26} ${y + 12})` }),
    h(
      'text',
      { x: x + 14, y: y + 45, class: 'box-main' },
      fit(box.main, room, `600 15px ${FONT}`, inTheMiddle),
    ),
    h('text', { x: x + 14, y: y + 65, class: 'box-detail' }, fit(box.detail, room, `12.5px ${FONT}`)),
    box.parts && occupancy(box.parts, x + 14, y + 73, room),
  );
}

const arrowHead = (x, y, down) =>
  h('path', {
    class: 'arrow',
    d: down
      ? `M${x - 5} ${y - 7}L${x} ${y}L${x + 5} ${y - 7}`
      : `M${x - 7} ${y - 5}L${x} ${y}L${x - 7} ${y + 5}`,
  });

function linkNode(link, row, x, y, length, down) {
  const broken = toneOf(row.state) !== 'good';
  const label = fit(link.label, down ? 220 : length - (link.tone ? 26 : 10), `12.5px ${FONT}`);
  ruler.font = `12.5px ${FONT}`;
  const width = ruler.measureText(label).width + (link.tone ? 17 : 0);
  const textX = down ? x + 16 : x + (length - width) / 2;
  const textY = down ? y + length / 2 + 4 : y - 10;
  return h(
    'g',
    { class: `link ${broken ? 'broken' : ''} ${row.flowing ? 'flowing' : ''}` },
    h('line', { x1: x, y1: y, x2: down ? x : x + length - 2, y2: down ? y + length - 2 : y }),
    arrowHead(down ? x : x + length - 1, down ? y + length - 1 : y, down),
    row.bothWays &&
      h(
        'g',
        { transform: down ? `rotate(180 ${x} ${y + length / 2})` : `rotate(180 ${x + length / 2} ${y})` },
        arrowHead(down ? x : x + length - 1, down ? y + length - 1 : y, down),
      ),
    link.tone && shape(link.tone, { transform: `translate(${textX.toFixed(1)} ${textY - 10})` }),
    h(
      'text',
      { x: (textX + (link.tone ? 17 : 0)).toFixed(1), y: textY, class: `link-label ${link.tone ?? ''}` },
      label,
    ),
  );
}

function lying(row, width) {
  const gap = Math.min(150, Math.max(104, width * 0.11));
  const box = (width - 2 - 3 * gap) / 4;
  const nodes = [
    row.boxes.map((b, i) => boxNode(b, 1 + i * (box + gap), 1, box)),
    row.links.map((l, i) => linkNode(l, row, 5 + box + i * (box + gap), 1 + BOX_HEIGHT / 2, gap - 8, false)),
  ];
  return { height: BOX_HEIGHT + 2, nodes };
}

function standing(row, width) {
  let y = 1;
  const nodes = row.boxes.map((box, i) => {
    const height = box.parts ? BOX_HEIGHT : PLAIN_HEIGHT;
    const end = y + height;
    const both = [
      boxNode(box, 1, y, width - 2, height),
      row.links[i] && linkNode(row.links[i], row, 26, end + 3, LINK_HEIGHT - 6, true),
    ];
    y = end + LINK_HEIGHT;
    return both;
  });
  return { height: y - LINK_HEIGHT + 1, nodes };
}

/** The picture, width pixels wide. */
export function pathPicture(doc, width) {
  const rows = pathRows(doc);
  return rows.slice(0, 24).map((row, i) => {
    const { height, nodes } = width >= WIDE ? lying(row, width) : standing(row, width);
    return h(
      'figure',
      { class: 'path', key: `${row.name}/${i}` },
      h('figcaption', null, text(row.name)),
      h(
        'svg',
        { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': rowText(row) },
        nodes,
      ),
      row.problem && h('p', { class: 'error-line' }, row.problem),
    );
  });
}

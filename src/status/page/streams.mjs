// One card for each stream: slots, channels, views, and the variables of the receive server.
import { h } from './dom.mjs';
import { bytes, bytesPerSecond, count, isNumber, perSecond, percent, seconds, text } from './format.mjs';
import {
  badge,
  card,
  code,
  errorLine,
  facts,
  list,
  mark,
  more,
  number,
  section,
  table,
  trouble,
} from './parts.mjs';

const SLOTS = [
  ['posted', 'posted: the FPGA may fill them'],
  ['lent', 'lent: in views and with the user'],
  ['free', 'free: about to be posted'],
];

function occupancyBar(slots, at) {
  const values = SLOTS.map(([name]) => Number(slots?.[name] ?? 0));
  const total = values.reduce((a, b) => a + b, 0);
  return h(
    'div',
    { class: 'slots' },
    h(
      'div',
      { class: 'slot-bar', 'aria-hidden': 'true' },
      SLOTS.map(
        ([name], i) =>
          values[i] > 0 && h('div', { class: `slot ${name}`, key: name, style: `flex-grow: ${values[i]}` }),
      ),
    ),
    h(
      'ul',
      { class: 'slot-legend' },
      SLOTS.map(([name, meaning]) =>
        h(
          'li',
          { key: name, title: meaning },
          h('span', { class: `slot-key ${name}`, 'aria-hidden': 'true' }),
          number(slots?.[name], `${at}/slots/${name}`),
          ` ${name}`,
          total > 0 && h('span', { class: 'muted' }, ` (${percent(Number(slots?.[name] ?? 0) / total)})`),
        ),
      ),
    ),
  );
}

function channelTable(stream, at) {
  const channels = list(stream.channels);
  if (!channels.length) return null;
  return table(
    'Channels',
    [
      'Channel',
      { name: 'Frames', number: true },
      { name: 'Bytes', number: true },
      { name: 'Frames/s', number: true },
      { name: 'Over 10 s', number: true },
      { name: 'Missing', number: true },
    ],
    channels.map((channel, i) => ({
      key: String(channel.channel),
      cells: [
        String(channel.channel),
        number(channel.frames, `${at}/channels/${i}/frames`),
        number(channel.bytes, `${at}/channels/${i}/bytes`),
        perSecond(channel.rates?.frames_per_second?.last_1s),
        perSecond(channel.rates?.frames_per_second?.last_10s),
        isNumber(channel.gaps)
          ? trouble(channel.gaps, `${at}/channels/${i}/gaps`)
          : h(
              'span',
              { class: 'muted', title: 'The configuration does not say where the counter wraps.' },
              'unknown',
            ),
      ],
    })),
  );
}

function viewTable(stream, at) {
  const views = list(stream.views);
  if (!views.length) return null;
  return table(
    'Views',
    [
      'View',
      { name: 'Queued', number: true },
      { name: 'Delivered', number: true },
      { name: 'Dropped', number: true },
    ],
    views.map((view, i) => ({
      key: `${view.name}/${i}`,
      cells: [
        text(view.name),
        number(view.queued, `${at}/views/${i}/queued`),
        number(view.delivered, `${at}/views/${i}/delivered`),
        trouble(view.dropped, `${at}/views/${i}/dropped`),
      ],
    })),
  );
}

const VARIABLES = [
  'fpga_ip',
  'fpga_gid',
  'fpga_qpn',
  'fpga_lkey',
  'host_ip',
  'host_gid',
  'host_qpn',
  'host_rq_psn',
  'host_sq_psn',
  'mr_addr',
  'mr_rkey',
  'mr_len',
  'rx_frame_count',
  'rx_byte_count',
  'max_payload',
  'rx_queue_depth',
];

function variableTable(doc, stream, at) {
  const value = name =>
    isNumber(stream[name])
      ? number(stream[name], `${at}/${name}`)
      : h('span', { class: 'code', 'data-at': `${at}/${name}` }, text(stream[name]));
  return table(
    'Variables of the receive server',
    ['Variable', 'Value', 'Meaning'],
    VARIABLES.map(name => ({
      key: name,
      cells: [code(name), value(name), text(doc.stream_variables?.[name] ?? '\u2013')],
    })),
    { class: 'table-frame wordy' },
  );
}

function streamCard(doc, stream, i) {
  const at = `streams/${i}`;
  const rates = stream.rates ?? {};
  return card(
    `${stream.name}/${i}`,
    stream.name,
    badge(stream.state),
    errorLine(stream.last_error),
    stream.stalled_by &&
      h(
        'p',
        { class: 'error-line' },
        mark('bad'),
        h(
          'span',
          null,
          'No slot is posted, so the sender waits. They are held by ',
          h('b', null, stream.stalled_by),
          '.',
        ),
      ),
    occupancyBar(stream.slots, at),
    facts([
      ['Frames', number(stream.rx_frame_count, `${at}/rx_frame_count`)],
      [
        'Bytes',
        h(
          'span',
          null,
          number(stream.rx_byte_count, `${at}/rx_byte_count`),
          h('span', { class: 'muted' }, ` (${bytes(stream.rx_byte_count)})`),
        ),
      ],
      [
        'Last second',
        `${perSecond(rates.frames_per_second?.last_1s)}, ${bytesPerSecond(rates.bytes_per_second?.last_1s)}`,
      ],
      [
        'Last 10 seconds',
        `${perSecond(rates.frames_per_second?.last_10s)}, ${bytesPerSecond(rates.bytes_per_second?.last_10s)}`,
      ],
      ['Oldest lease', seconds(stream.oldest_lease_seconds)],
      [
        'Sessions',
        h(
          'span',
          null,
          number(stream.sessions, `${at}/sessions`),
          stream.idle_ends > 0 && ` (${count(stream.idle_ends)} ended idle)`,
        ),
      ],
      ['Device', text(stream.device)],
    ]),
    channelTable(stream, at),
    viewTable(stream, at),
    more('Variables', variableTable(doc, stream, at)),
  );
}

export function streamSection(doc) {
  const streams = list(doc.streams);
  if (!streams.length) return null;
  return section(
    'streams',
    'Streams',
    h(
      'div',
      { class: 'cards wide' },
      streams.slice(0, 50).map((stream, i) => streamCard(doc, stream, i)),
    ),
  );
}

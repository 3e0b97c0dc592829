// What carries the traffic: engines, devices, queue pairs, boards and handshakes.
import { h } from './dom.mjs';
import {
  capital,
  clock,
  errorText,
  exactBytes,
  nanoseconds,
  percent,
  seconds,
  text,
  words,
} from './format.mjs';
import {
  badge,
  card,
  code,
  counterList,
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
import { flatCounters } from './troubles.mjs';

const WORK = [
  'turns',
  'sweeps',
  'empty_sweeps',
  'completions',
  'upcalls',
  'arms',
  'waits',
  'wakes',
];

function engineCard(engine, i) {
  const at = `engines/${i}`;
  const name = engine.name || `engine ${i + 1}`;
  const work = WORK.map(key => [key, engine[key], `${at}/${key}`]);
  return card(
    `${name}/${i}`,
    name,
    h('span', { class: 'badge quiet' }, text(engine.policy)),
    facts([
      ['CPU, last second', percent(engine.cpu_share?.last_1s)],
      ['CPU, last 10 seconds', percent(engine.cpu_share?.last_10s)],
      ['CPU time', engine.cpu_seconds > 0 ? seconds(engine.cpu_seconds) : 'unknown'],
      ['Longest gap between turns', nanoseconds(engine.longest_gap_ns)],
      ['99 % of gaps below', engine.gaps?.count > 0 ? nanoseconds(engine.gaps.p99_ns) : 'unknown'],
      engine.in_turn_seconds > 0 && ['This turn lasts for', seconds(engine.in_turn_seconds)],
      engine.turn_due_seconds > 0 && ['A turn is due since', seconds(engine.turn_due_seconds)],
      ['Late turns', trouble(engine.late_turns, `${at}/late_turns`)],
      ['Outstanding', number(engine.outstanding, `${at}/outstanding`)],
      ['Queue pairs', number(engine.queue_pairs, `${at}/queue_pairs`)],
      ['Devices', number(engine.devices, `${at}/devices`)],
    ]),
    more('Work done', counterList(work, false)),
  );
}

function gidTable(device) {
  const gids = list(device.gids);
  if (!gids.length) return null;
  return table(
    'GID table',
    ['Index', 'Address', 'Type', 'Interface'],
    gids.map(gid => ({
      key: String(gid.index),
      cells: [
        text(gid.index),
        h('span', { class: 'code', title: gid.gid }, text(gid.address)),
        text(gid.type),
        `${text(gid.netdev)}${gid.prefix === null || gid.prefix === undefined ? '' : ` /${gid.prefix}`}`,
      ],
    })),
  );
}

function deviceCard(device, i) {
  const at = `devices/${i}`;
  const counters = flatCounters(device.counters, `${at}/counters`);
  const plain = counters.filter(([, , , bad]) => !bad);
  const limits = Object.entries(device.limits ?? {}).map(([name, value]) => [
    name,
    value,
    `${at}/limits/${name}`,
  ]);
  return card(
    `${device.name}/${i}`,
    device.name,
    badge(device.port_state),
    facts([
      ['Kind', text(device.kind)],
      ['Active MTU', exactBytes(device.active_mtu)],
    ]),
    counterList(plain, false),
    gidTable(device),
    limits.length > 0 && more('Limits', counterList(limits, false)),
  );
}

function pairTable(doc) {
  return table(
    'Queue pairs',
    [
      'Number',
      'Of',
      'Type',
      'State',
      'Peer',
      'Path MTU',
      { name: 'Messages', number: true },
      'PSNs',
      'Retries',
    ],
    list(doc.queue_pairs).map((pair, i) => ({
      key: `${pair.device}/${pair.number}/${i}`,
      cells: [
        String(pair.number),
        text(pair.owner || pair.device),
        text(pair.type).toUpperCase(),
        badge(pair.state),
        pair.peer_address ? `${pair.peer_address}, ${pair.peer_number}` : 'none',
        exactBytes(pair.path_mtu),
        pair.counters
          ? h(
              'span',
              null,
              number(pair.counters.messages_received, `queue_pairs/${i}/counters/messages_received`),
              ' in, ',
              number(pair.counters.messages_sent, `queue_pairs/${i}/counters/messages_sent`),
              ' out',
            )
          : 'unknown',
        `${text(pair.receive_psn)} in, ${text(pair.send_psn)} out`,
        `${text(pair.retry_count)}, RNR ${text(pair.rnr_retry)}, timer ${text(pair.min_rnr_timer)}`,
      ],
    })),
  );
}

const SESSION_SHOWN = new Set(['kind', 'state', 'last_error', 'last_error_time', 'last_warning', 'stage']);

function boardCard(board, i) {
  const session = board.session ?? {};
  const own = Object.entries(session).filter(
    ([name, value]) => !SESSION_SHOWN.has(name) && typeof value !== 'object',
  );
  const when = session.last_error_time
    ? `Last error, at ${clock(session.last_error_time)}: `
    : 'Last error: ';
  return card(
    `${board.name}/${i}`,
    board.name,
    badge(session.state),
    errorLine(session.last_error, when),
    session.last_warning &&
      h(
        'p',
        { class: 'warning-line' },
        mark('busy'),
        h('span', null, `Last warning: ${session.last_warning}`),
      ),
    facts([
      ['FPGA', text(board.fpga_ip)],
      ['Registers', text(board.registers)],
      ['Kind', text(session.kind)],
      ['Attempts', number(board.attempts, `fpgas/${i}/attempts`)],
      session.stage && ['Stage', text(session.stage)],
      ...own.map(([name, value]) => [
        capital(words(name)),
        typeof value === 'string' ? code(value) : number(value, `fpgas/${i}/session/${name}`),
      ]),
    ]),
  );
}

function handshakeTable(doc) {
  const lastError = one =>
    one.last_error
      ? h(
          'span',
          null,
          mark('bad'),
          errorText(one.last_error),
          h(
            'span',
            { class: 'muted' },
            `${one.last_error_peer ? `, by ${one.last_error_peer}` : ''}${one.last_error_time ? `, ${clock(one.last_error_time)}` : ''}`,
          ),
        )
      : 'none';
  return table(
    'Handshakes',
    [
      'Of',
      'Kind',
      'Where',
      { name: 'Attempts', number: true },
      { name: 'Made', number: true },
      { name: 'Failed', number: true },
      'Last error',
    ],
    list(doc.handshakes).map((one, i) => ({
      key: `${one.name}/${i}`,
      cells: [
        text(one.name),
        text(one.kind),
        text(one.endpoint),
        number(one.attempts, `handshakes/${i}/attempts`),
        number(one.established, `handshakes/${i}/established`),
        trouble(one.failed, `handshakes/${i}/failed`),
        lastError(one),
      ],
    })),
    { class: 'table-frame wordy' },
  );
}

const any = (doc, part) => list(doc[part]).length > 0;
const cards = (doc, part, make) => h('div', { class: 'cards' }, list(doc[part]).slice(0, 50).map(make));

export const engineSection = doc =>
  any(doc, 'engines') ? section('engines', 'Engines', cards(doc, 'engines', engineCard)) : null;
export const deviceSection = doc =>
  any(doc, 'devices') ? section('devices', 'Devices', cards(doc, 'devices', deviceCard)) : null;
export const pairSection = doc =>
  any(doc, 'queue_pairs') ? section('pairs', 'Queue pairs', pairTable(doc)) : null;
export const boardSection = doc =>
  any(doc, 'fpgas') ? section('boards', 'FPGA sessions', cards(doc, 'fpgas', boardCard)) : null;
export const handshakeSection = doc =>
  any(doc, 'handshakes') ? section('handshakes', 'Handshakes', handshakeTable(doc)) : null;

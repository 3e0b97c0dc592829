// Everything that counts losses, repeats and refusals, in one place.
import { h } from './dom.mjs';
import { count, isNumber, span, sumKnown, words } from './format.mjs';
import { counterList, list, mark, more, section, table, trouble } from './parts.mjs';

const TROUBLE = new RegExp(
  'drop|lost|loss|err|nak|retrans|retry|timeout|duplicate|out_of|overrun|overflow|overwrit|bad_|discard|miss|gap|' +
    'interrupt|unexpected|invalid|corrupt|fault|violation|exceeded|down|failed|fail_|refused|stale|incomplete|late_|foreign|unclaimed|without_imm|' +
    'too_large|short_slots|unknown_function|exceptions|not_answers|cancelled|ended_early|repeated|silent|congest|mismatch',
);
// Counters of a queue pair that a device shows in a group are trouble by their group: "drops", "uc", "faults".
const GROUPS = /^(drops|uc|faults)$/;

// Receiver not ready: the sender is held back and nothing is lost.
const HOLD = /rnr/;

const toneOfCounter = name => (HOLD.test(name) ? 'busy' : 'bad');

export const isTroubleName = (name, group = '') => TROUBLE.test(name) || GROUPS.test(group);

/** The counters of an object, also those in groups, as [name, value, where, is trouble]. */
export function flatCounters(counters, at) {
  return Object.entries(counters ?? {}).flatMap(([name, value]) => {
    if (isNumber(value)) return [[name, value, `${at}/${name}`, isTroubleName(name)]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value)
      .filter(([, n]) => isNumber(n))
      .map(([inner, n]) => [`${name}: ${inner}`, n, `${at}/${name}/${inner}`, isTroubleName(inner, name)]);
  });
}

function ownCounters(object, at, names) {
  return names
    .filter(name => isNumber(object[name]))
    .map(name => [name, object[name], `${at}/${name}`, true]);
}

const STREAM_TROUBLES = ['unclaimed', 'without_immediate', 'bad_length', 'unexpected_opcode'];
export const RING_TROUBLES = ['overwritten', 'bad_immediate', 'unexpected', 'bad_flag', 'send_errors', 'receive_errors'];
export const SENSOR_TROUBLES = [
  'lost',
  'dropped',
  'overwritten',
  'ended_early',
  'renumbered',
  'bad_page',
  'unexpected',
  'receive_errors',
];
export const SERVICE_TROUBLES = ['silent', 'bad_magic', 'short_slots', 'unknown_function', 'repeated', 'publish_errors'];
const FUNCTION = ['failed', 'exceptions', 'bad_length', 'too_large'];
export const CALLER_TROUBLES = [
  'failed',
  'bad_responses',
  'deadline_exceeded',
  'cancelled',
  'refused',
  'late_answers',
  'duplicate_answers',
  'foreign_answers',
  'not_answers',
];
const ENGINE = ['stale_completions', 'incomplete_drains', 'late_turns'];
const HANDSHAKE = ['failed'];

function streamSource(stream, i) {
  const at = `streams/${i}`;
  return {
    name: `stream ${stream.name}`,
    counters: [
      ...ownCounters(stream, at, STREAM_TROUBLES),
      ...list(stream.channels)
        .filter(c => isNumber(c.gaps))
        .map((c, k) => [`channel ${c.channel}: frames missing`, c.gaps, `${at}/channels/${k}/gaps`, true]),
      ...list(stream.views).map((v, k) => [
        `view ${v.name}: dropped`,
        v.dropped,
        `${at}/views/${k}/dropped`,
        true,
      ]),
    ],
  };
}

const sources = (doc, part, kind, names) =>
  list(doc[part]).map((object, i) => ({
    name: `${kind} ${object.name || i + 1}`,
    counters: ownCounters(object, `${part}/${i}`, names),
  }));

/** The names that a device counts for all its queue pairs together. */
function countedByDevice(doc, name) {
  const counters = list(doc.devices).find(device => device.name === name)?.counters ?? {};
  return new Set([...Object.keys(counters), ...Object.keys(counters.uc ?? {})]);
}

/** What the device counted for those that have no queue pair any more. */
const formerPairs = (doc, part, kind) =>
  list(doc[part])
    .map((object, i) => ({
      name: `${kind} ${object.name}, its queue pairs`,
      owner: object.name,
      counters: flatCounters(object.counters, `${part}/${i}/counters`),
      counted: countedByDevice(doc, object.device),
    }))
    .filter(
      source => source.counters.length && !list(doc.queue_pairs).some(pair => pair.owner === source.owner),
    );

/**
 * {name, counters, counted} of all parts of the document, in the order in which one would look; counted: names that
 * stand in the device's counters already.
 */
export function troubleSources(doc) {
  return [
    ...list(doc.devices).map((device, i) => ({
      name: `device ${device.name}`,
      counters: flatCounters(device.counters, `devices/${i}/counters`),
    })),
    ...list(doc.queue_pairs).map((pair, i) => ({
      name: `queue pair ${pair.number}${pair.owner ? ` of ${pair.owner}` : ''}`,
      counters: flatCounters(pair.counters, `queue_pairs/${i}/counters`),
      counted: countedByDevice(doc, pair.device),
    })),
    ...formerPairs(doc, 'streams', 'stream'),
    ...formerPairs(doc, 'rings', 'ring'),
    ...formerPairs(doc, 'sensors', 'sensor'),
    ...list(doc.streams).map(streamSource),
    ...sources(doc, 'rings', 'ring', RING_TROUBLES),
    ...sources(doc, 'sensors', 'sensor', SENSOR_TROUBLES),
    ...sources(doc, 'services', 'service', SERVICE_TROUBLES),
    ...list(doc.services).flatMap((service, i) =>
      list(service.functions).map((f, k) => ({
        name: `function ${f.name}`,
        counters: ownCounters(f, `services/${i}/functions/${k}`, FUNCTION),
      })),
    ),
    ...sources(doc, 'callers', 'caller', CALLER_TROUBLES),
    ...sources(doc, 'engines', 'engine', ENGINE),
    ...sources(doc, 'handshakes', 'handshake', HANDSHAKE),
  ];
}

/** Remembers when a counter last moved, by where it stands. */
export class Movements {
  #seen = new Map();

  /** time in seconds. */
  look(doc, time) {
    for (const { counters } of troubleSources(doc)) {
      for (const [, value, at, bad] of counters) {
        const before = this.#seen.get(at);
        if (bad && (!before || before.value !== value))
          this.#seen.set(at, { value, moved: before ? time : null });
      }
    }
  }

  /** Seconds since it moved; null if it did not since the page was opened. */
  since(at, time) {
    const moved = this.#seen.get(at)?.moved ?? null;
    return moved === null ? null : time - moved;
  }
}

/** Without those that only hold the sender back; each thing once. */
export function troubleTotals(doc) {
  const bad = troubleSources(doc)
    .flatMap(({ counters, counted }) => counters.filter(([name]) => !counted?.has(name)))
    .filter(([name, value, , isBad]) => isBad && value > 0 && !HOLD.test(name));
  return {
    total: sumKnown(bad.map(([, value]) => value)) ?? 0,
    kinds: bad.length,
    places: bad.map(([, , at]) => at),
  };
}

function movedText(seconds) {
  if (seconds === null) return 'earlier';
  return seconds < 2 ? 'now' : `${span(seconds)} ago`;
}

export function troubleSection(doc, movements, time) {
  const all = troubleSources(doc);
  const rows = all.flatMap(source =>
    source.counters
      .filter(([, value, , bad]) => bad && value > 0)
      .map(([name, value, at]) => ({
        key: at,
        cells: [
          words(name),
          source.name,
          trouble(value, at, toneOfCounter(name)),
          movedText(movements.since(at, time)),
        ],
      })),
  );
  const zeros = all
    .map(source => ({
      name: source.name,
      counters: source.counters.filter(([, value, , bad]) => bad && !(value > 0)),
    }))
    .filter(source => source.counters.length);
  if (!rows.length && !zeros.length) return null;
  const zeroCount = zeros.reduce((n, source) => n + source.counters.length, 0);
  return section(
    'losses',
    ['Losses', 'Losses, repeats and refusals'],
    rows.length > 0
      ? table(
          'What went wrong so far, by reason',
          ['Reason', 'Where', { name: 'Count', number: true }, 'Last change'],
          rows,
          { class: 'table-frame brief' },
        )
      : h('p', { class: 'fine' }, mark('good'), 'None: every such counter is at zero.'),
    zeroCount > 0 &&
      more(
        `${count(zeroCount)} ${zeroCount === 1 ? 'reason' : 'reasons'} at zero`,
        h(
          'div',
          { class: 'cards' },
          zeros
            .slice(0, 60)
            .map(source =>
              h(
                'div',
                { class: 'zeros', key: source.name },
                h('h3', null, source.name),
                counterList(source.counters, true),
              ),
            ),
        ),
      ),
  );
}

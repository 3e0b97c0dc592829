// Rings, sensors, and calls over rings.
import { h } from './dom.mjs';
import { bytes, bytesPerSecond, count, exactBytes, nanoseconds, perSecond, text } from './format.mjs';
import {
  badge,
  card,
  code,
  counterList,
  errorLine,
  facts,
  list,
  number,
  section,
  table,
  trouble,
} from './parts.mjs';
import { CALLER_TROUBLES, RING_TROUBLES, SENSOR_TROUBLES, SERVICE_TROUBLES } from './troubles.mjs';

const endpoint = side => (side ? `${text(side.address)}, queue pair ${text(side.qpn)}` : 'none yet');
const rest = (object, at, names) =>
  counterList(
    names.map(name => [name, object[name], `${at}/${name}`]).filter(([, value]) => value !== undefined),
    true,
  );

function ringCard(ring, i) {
  const at = `rings/${i}`;
  return card(
    `${ring.name}/${i}`,
    ring.name,
    badge(ring.state),
    errorLine(ring.last_error),
    facts([
      ['Mode', text(ring.mode)],
      ['Device', text(ring.device)],
      ['Peer', endpoint(ring.peer)],
      ['Ours', endpoint(ring.local)],
      [
        'Slots',
        h(
          'span',
          null,
          number(ring.slots, `${at}/slots`),
          ` of ${exactBytes(ring.slot_size)}, frames of ${exactBytes(ring.frame_size)}`,
        ),
      ],
      ['Held now', number(ring.occupancy?.rx_held, `${at}/occupancy/rx_held`)],
      ['In flight', number(ring.occupancy?.tx_in_flight, `${at}/occupancy/tx_in_flight`)],
      [
        'Received',
        h(
          'span',
          null,
          number(ring.received, `${at}/received`),
          ` (${perSecond(ring.rates?.received_per_second?.last_1s)})`,
        ),
      ],
      [
        'Sent',
        h(
          'span',
          null,
          number(ring.sent, `${at}/sent`),
          ` (${perSecond(ring.rates?.sent_per_second?.last_1s)}), ${bytes(ring.bytes_sent)}`,
        ),
      ],
    ]),
    rest(ring, at, RING_TROUBLES),
  );
}

function sensorCard(sensor, i) {
  const at = `sensors/${i}`;
  return card(
    `${sensor.name}/${i}`,
    sensor.name,
    badge(sensor.state),
    errorLine(sensor.last_error),
    facts([
      ['Gives', sensor.policy === 'latest' ? 'the latest frame' : `${text(sensor.policy)} frame`],
      ['Device', text(sensor.device)],
      [
        'Pages',
        h(
          'span',
          null,
          number(sensor.pages, `${at}/pages`),
          ` of ${bytes(sensor.page_size)}, frames of ${bytes(sensor.frame_size)}`,
        ),
      ],
      [
        'Frames',
        h(
          'span',
          null,
          number(sensor.frames, `${at}/frames`),
          ` (${perSecond(sensor.rates?.frames_per_second?.last_1s)})`,
        ),
      ],
      [
        'Bytes',
        h(
          'span',
          null,
          number(sensor.bytes, `${at}/bytes`),
          ` (${bytesPerSecond(sensor.rates?.bytes_per_second?.last_1s)})`,
        ),
      ],
      sensor.delivered !== undefined && ['Delivered', number(sensor.delivered, `${at}/delivered`)],
      sensor.skipped !== undefined && ['Skipped', number(sensor.skipped, `${at}/skipped`)],
      sensor.held !== undefined && ['Held now', number(sensor.held, `${at}/held`)],
    ]),
    rest(sensor, at, SENSOR_TROUBLES),
  );
}

function functionTable(service, at) {
  const functions = list(service.functions);
  if (!functions.length) return h('p', { class: 'muted' }, 'No functions.');
  return table(
    'Functions',
    [
      'Function',
      'Id',
      { name: 'Calls', number: true },
      { name: 'Failed', number: true },
      { name: 'Half below', number: true },
      { name: '99 % below', number: true },
      { name: '99.9 % below', number: true },
      { name: 'Longest', number: true },
    ],
    functions.map((f, k) => ({
      key: `${f.id}/${k}`,
      cells: [
        text(f.name),
        code(f.id),
        number(f.calls, `${at}/functions/${k}/calls`),
        trouble(f.failed, `${at}/functions/${k}/failed`),
        ...['p50_ns', 'p99_ns', 'p999_ns', 'max_ns'].map(name =>
          f.latency?.count > 0 ? nanoseconds(f.latency[name]) : '\u2013',
        ),
      ],
    })),
  );
}

function serviceCard(service, i) {
  const at = `services/${i}`;
  return card(
    `${service.name}/${i}`,
    service.name,
    null,
    errorLine(service.last_publish_error, 'Last answer that was not sent: '),
    facts([
      ['Requests', number(service.requests, `${at}/requests`)],
      ['Answered', number(service.answered, `${at}/answered`)],
      ['With executors', number(service.with_executors, `${at}/with_executors`)],
      ['Waiting', number(service.waiting, `${at}/waiting`)],
    ]),
    functionTable(service, at),
    rest(service, at, SERVICE_TROUBLES),
  );
}

function callerCard(caller, i) {
  const at = `callers/${i}`;
  const latency = caller.latency;
  return card(
    `${caller.name}/${i}`,
    caller.name,
    null,
    facts([
      ['Calls', number(caller.calls, `${at}/calls`)],
      ['Succeeded', number(caller.succeeded, `${at}/succeeded`)],
      ['In flight', number(caller.in_flight, `${at}/in_flight`)],
      ['Waiting', number(caller.waiting, `${at}/waiting`)],
      latency?.count > 0 && ['Half below', nanoseconds(latency.p50_ns)],
      latency?.count > 0 && ['99 % below', nanoseconds(latency.p99_ns)],
    ]),
    rest(caller, at, CALLER_TROUBLES),
  );
}

function cardsOf(doc, part, id, title, make, wide = '') {
  const objects = list(doc[part]);
  if (!objects.length) return null;
  return section(
    id,
    title,
    h('div', { class: `cards ${wide}` }, objects.slice(0, 50).map(make)),
    objects.length > 50 &&
      h('p', { class: 'muted' }, `and ${count(objects.length - 50)} more: see status as JSON`),
  );
}

export const ringSection = doc => cardsOf(doc, 'rings', 'rings', 'Rings', ringCard);
export const sensorSection = doc => cardsOf(doc, 'sensors', 'sensors', 'Sensors', sensorCard);
export const serviceSection = doc => cardsOf(doc, 'services', 'services', 'Services', serviceCard, 'wide');
export const callerSection = doc => cardsOf(doc, 'callers', 'callers', 'Callers', callerCard);

// The page's own parts that need no browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EventStream } from '../../src/status/page/event_stream.mjs';
import {
  bytesPerSecond,
  clock,
  count,
  nanoseconds,
  scaled,
  seconds,
  span,
  sum,
  sumKnown,
  words,
} from '../../src/status/page/format.mjs';
import { filledBuckets } from '../../src/status/page/histogram.mjs';
import { mergePatch, parseExactly } from '../../src/status/page/json.mjs';
import { Movements, flatCounters, troubleTotals } from '../../src/status/page/troubles.mjs';
import { documentAt, stalledAt } from './support/document.mjs';
import { patchBetween } from './support/fake_server.mjs';
import { breaches } from './support/schema.mjs';

test('a merge patch does what the examples of RFC 7396 say', () => {
  const examples = [
    // Appendix A: the original, the patch, the result.
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [original, patch, result] of examples) assert.deepEqual(mergePatch(original, patch), result);
});

test('a merge patch leaves the document it is applied to as it was, and is no way to a prototype', () => {
  const before = { a: { b: 1 }, c: [1] };
  mergePatch(before, { a: { b: 2 }, c: null });
  assert.deepEqual(before, { a: { b: 1 }, c: [1] });
  mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'));
  assert.equal({}.polluted, undefined);
});

test('patches from one second to the next make the next document', () => {
  for (let second = 0; second < 5; ++second) {
    const [before, after] = [documentAt(second), second % 2 ? stalledAt(second + 1) : documentAt(second + 1)];
    assert.deepEqual(mergePatch(before, patchBetween(before, after)), after);
  }
});

test('the synthetic document follows the schema of the status', () => {
  const schema = JSON.parse(readFileSync(new URL('../../docs/status.schema.json', import.meta.url)));
  for (const document of [documentAt(0), documentAt(77), stalledAt(3)])
    assert.deepEqual(breaches(document, schema), []);
  const broken = documentAt(0);
  delete broken.streams[0].slots;
  broken.engines[0].turns = 'many';
  assert.equal(breaches(broken, schema).length, 2);
});

function eventsOf(chunks) {
  const events = [];
  const stream = new EventStream((name, data) => events.push([name, data]));
  chunks.forEach(chunk => stream.push(chunk));
  return events;
}

test('events are the same however the text is cut', () => {
  const text =
    ': hello\r\n\r\nretry: 1000\nevent: status\ndata: {"a":1}\n\nevent: device\rdata: x\rdata:y\r\rid: 7\ndata\n\nevent: nothing\n\ndata: last\r\n\r\n';
  const wanted = [
    ['status', '{"a":1}'],
    ['device', 'x\ny'],
    ['message', ''],
    ['message', 'last'],
  ];
  assert.deepEqual(eventsOf([text]), wanted);
  assert.deepEqual(eventsOf([...text]), wanted);
  for (let cut = 1; cut < text.length; ++cut)
    assert.deepEqual(eventsOf([text.slice(0, cut), text.slice(cut)]), wanted);
});

test('an event that has not ended is not told', () => {
  assert.deepEqual(eventsOf(['event: status\ndata: {}\n']), []);
});

test('counters keep all 64 bits where the runtime shows the text of a number', () => {
  const parsed = parseExactly(
    '{"a": 18446744073709551615, "b": 9007199254740991, "c": 1.5, "d": "18446744073709551615", "e": 1e300}',
  );
  assert.equal(parsed.b, 9007199254740991);
  assert.equal(parsed.c, 1.5);
  assert.equal(parsed.d, '18446744073709551615');
  assert.equal(parsed.e, 1e300);
  const shows = JSON.parse('1', (_key, _value, context) => context?.source) === '1';
  assert.equal(count(parsed.a), shows ? '18,446,744,073,709,551,615' : count(18446744073709551615));
  assert.equal(sum([18446744073709551615n, 1]), 18446744073709551616n);
});

test('numbers read well', () => {
  const plain = text => text.replaceAll('\u00a0', ' ');
  assert.equal(count(1234567), '1,234,567');
  assert.equal(count(null), 'unknown');
  assert.equal(count(undefined), 'unknown');
  assert.equal(plain(scaled(999)), '999');
  assert.equal(plain(scaled(999.6)), '1.00 k');
  assert.equal(plain(scaled(123456)), '123 k');
  assert.equal(plain(bytesPerSecond(409600)), '410 kB/s');
  assert.equal(plain(bytesPerSecond(0)), '0 B/s');
  assert.equal(plain(nanoseconds(1)), '1 ns');
  assert.equal(plain(nanoseconds(1536)), '1.54 µs');
  assert.equal(plain(nanoseconds(2e9)), '2.00 s');
  assert.equal(plain(seconds(0.0015)), '1.50 ms');
  assert.equal(plain(seconds(0)), '0 s');
  assert.equal(plain(span(12.9)), '12 s');
  assert.equal(plain(span(3725)), '1 h 02 min 05 s');
  assert.equal(plain(span(172803)), '2 d 00 h 00 min 03 s');
  assert.equal(words('rnr_naks_sent'), 'RNR NAKs sent');
  assert.equal(words('bad_icrc'), 'bad ICRC');
  assert.equal(
    clock('2026-01-02T03:04:05.678Z', new Date('2027-01-01T00:00:00Z')).length,
    '2026-01-02 03:04:05'.length,
  );
  assert.equal(clock('yesterday'), 'yesterday');
  assert.equal(sumKnown([null, undefined]), null);
  assert.equal(sumKnown([null, 2, 3.5]), 5.5);
});

test('a histogram has a bar for each power of two between its ends', () => {
  assert.deepEqual(
    filledBuckets([
      { below_ns: 4096, count: 2 },
      { below_ns: 1024, count: 1 },
    ]),
    [
      { below: 1024, count: 1 },
      { below: 2048, count: 0 },
      { below: 4096, count: 2 },
    ],
  );
  assert.deepEqual(filledBuckets([{ below_ns: 1, count: 5 }]), [{ below: 1, count: 5 }]);
  assert.deepEqual(filledBuckets([]), []);
  assert.deepEqual(filledBuckets(null), []);
});

test('what counts as trouble: drops, repeats and refusals, not traffic', () => {
  const flat = flatCounters(
    {
      packets_in: 7,
      socket_overflows: 1,
      drops: { port_down: 2 },
      uc: { psn_gaps: 3 },
      faults: { delayed: 4 },
      queue_pairs: 1,
      hw_counters: { rcvd_pkts: 9, duplicate_request: 2 },
    },
    'd',
  );
  const bad = flat.filter(([, , , isBad]) => isBad).map(([, , at]) => at);
  assert.deepEqual(bad, [
    'd/socket_overflows',
    'd/drops/port_down',
    'd/uc/psn_gaps',
    'd/faults/delayed',
    'd/hw_counters/duplicate_request',
  ]);
});

test('a sender that is held back is no loss', () => {
  const quiet = documentAt(0);
  const noisy = documentAt(0);
  noisy.queue_pairs[0].counters.rnr_naks_sent += 1000;
  assert.deepEqual(troubleTotals(noisy), troubleTotals(quiet));
  noisy.devices[0].counters.retransmits += 1000;
  assert.equal(troubleTotals(noisy).total, troubleTotals(quiet).total + 1000);
});

test('what a device and its queue pair both count is summed once', () => {
  const document = documentAt(0);
  const { total, kinds } = troubleTotals(document);
  document.devices[0].counters.duplicates += 7;
  document.queue_pairs[0].counters.duplicates += 7;
  assert.deepEqual([troubleTotals(document).total, troubleTotals(document).kinds], [total + 7, kinds]);
  document.queue_pairs[0].counters.other_naks_sent += 1;
  assert.equal(troubleTotals(document).total, total + 8);
});

test('a counter moved when it changed while the page looked, not before', () => {
  const movements = new Movements();
  const document = documentAt(0);
  const at = 'devices/0/counters/drops/bad_icrc';
  movements.look(document, 10);
  assert.equal(movements.since(at, 11), null);
  document.devices[0].counters.drops.bad_icrc += 1;
  movements.look(document, 12);
  assert.equal(movements.since(at, 15), 3);
});

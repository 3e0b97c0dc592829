// Durations by powers of two.
import { h } from './dom.mjs';
import { count, nanoseconds } from './format.mjs';
import { card, facts, list, more, number, section, table } from './parts.mjs';

/** Every power of two from the first to the last that has something, with zeros between. */
export function filledBuckets(buckets) {
  const known = list(buckets)
    .filter(bucket => bucket.count > 0)
    .map(bucket => ({ below: Number(bucket.below_ns), count: bucket.count }))
    .sort((a, b) => a.below - b.below);
  if (!known.length) return [];
  const counts = new Map(known.map(bucket => [bucket.below, bucket.count]));
  const result = [];
  for (let below = known[0].below; below <= known.at(-1).below; below *= 2) {
    result.push({ below, count: counts.get(below) ?? 0 });
    if (below < 1) break;
  }
  return result;
}

const height = (n, most) => (n > 0 ? Math.max(4, (100 * Math.log1p(Number(n))) / Math.log1p(most)) : 0);

function bars(name, buckets) {
  const most = Math.max(...buckets.map(bucket => Number(bucket.count)));
  const label =
    `Histogram of ${name}, ${buckets.length} powers of two from below ${nanoseconds(buckets[0].below)} to below ` +
    `${nanoseconds(buckets.at(-1).below)}. The table has its numbers.`;
  return h(
    'div',
    { class: 'histogram' },
    h(
      'div',
      { class: 'bars', role: 'img', 'aria-label': label },
      buckets.map(bucket =>
        h(
          'div',
          {
            class: 'bar-room',
            key: String(bucket.below),
            title: `below ${nanoseconds(bucket.below)}: ${count(bucket.count)}`,
          },
          h('div', { class: 'bar', style: `height: ${height(bucket.count, most).toFixed(1)}%` }),
        ),
      ),
    ),
    h(
      'div',
      { class: 'bars-ends', 'aria-hidden': 'true' },
      h('span', null, `< ${nanoseconds(buckets[0].below)}`),
      buckets.length > 1 && h('span', null, `< ${nanoseconds(buckets.at(-1).below)}`),
    ),
  );
}

function histogramCard(name, summary, at) {
  const buckets = filledBuckets(summary.buckets);
  return card(
    at,
    name,
    null,
    buckets.length > 0 && bars(name, buckets),
    facts([
      ['Half below', nanoseconds(summary.p50_ns)],
      ['99 % below', nanoseconds(summary.p99_ns)],
      ['99.9 % below', nanoseconds(summary.p999_ns)],
      ['Longest', nanoseconds(summary.max_ns)],
      ['Counted', number(summary.count, `${at}/count`)],
    ]),
    buckets.length > 0 &&
      more(
        'Numbers',
        table(
          `${name}: how many below each power of two`,
          ['Below', { name: 'Count', number: true }],
          buckets.map(bucket => ({
            key: String(bucket.below),
            cells: [nanoseconds(bucket.below), count(bucket.count)],
          })),
        ),
      ),
  );
}

/** [name, summary, where it stands in the document] of all histograms that counted something. */
export function histograms(doc) {
  const of = (part, field, name) =>
    list(doc[part]).map((x, i) => [name(x), x[field], `${part}/${i}/${field}`]);
  return [
    ...list(doc.services).flatMap((service, i) =>
      list(service.functions).map((f, k) => [
        `${f.name}: answered in`,
        f.latency,
        `services/${i}/functions/${k}/latency`,
      ]),
    ),
    ...of('callers', 'latency', caller => `${caller.name}: calls took`),
    ...of('rings', 'held', ring => `${ring.name}: slots held for`),
    ...of('engines', 'gaps', engine => `${engine.name || 'engine'}: gaps between turns`),
  ].filter(([, summary]) => summary && summary.count > 0);
}

export function latencySection(doc) {
  const cards = histograms(doc).map(([name, summary, at]) => histogramCard(name, summary, at));
  if (!cards.length) return null;
  return section(
    'latency',
    'Latency',
    h('p', { class: 'muted' }, 'One bar for each power of two; its height is the logarithm of the count.'),
    h('div', { class: 'cards' }, cards),
  );
}

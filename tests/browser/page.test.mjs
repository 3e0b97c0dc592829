// The page against a server of the tests' own, for what a real one cannot easily be made to show.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, afterEach, test } from 'node:test';
import { contrastBreaches, structureBreaches } from './support/accessibility.mjs';
import {
  PHONE,
  launch,
  numbersOn,
  openPage,
  pageFile,
  shown,
  valueAt,
  waitForNumber,
  waitForText,
} from './support/browser.mjs';
import { documentAt, stalledAt } from './support/document.mjs';
import { FakeServer } from './support/fake_server.mjs';

const FRAMES = 'streams/0/rx_frame_count';
let browser;
let server;

before(async () => {
  browser = await launch();
});
after(() => browser.close());
beforeEach(async () => {
  server = await new FakeServer(documentAt(0), pageFile()).start();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map(context => context.close()));
  await server.stop().catch(() => {});
});

/** The page, showing the document the server has. */
async function opened(options) {
  const page = await openPage(browser, server.url, options);
  await page.waitForSelector('#rest section');
  return page;
}

async function moveTo(page, document) {
  server.update(document);
  await waitForNumber(page, FRAMES, document.streams[0].rx_frame_count);
}

function assertQuiet(page) {
  assert.deepEqual(page.watched.errors, []);
  assert.deepEqual(page.watched.foreign, []);
}

test('every number on the page is the one of the document', async () => {
  const page = await opened();
  for (const second of [0, 1, 7]) {
    const document = documentAt(second);
    await moveTo(page, document);
    const numbers = await numbersOn(page);
    assert.ok(numbers.length > 200, `only ${numbers.length} numbers`);
    for (const [at, digits] of numbers) assert.equal(digits, String(valueAt(document, at)), at);
  }
  assertQuiet(page);
});

test('every counter of devices and queue pairs stands somewhere on the page', async () => {
  const page = await opened();
  const places = new Set((await numbersOn(page)).map(([at]) => at));
  const document = documentAt(0);
  for (const part of ['devices', 'queue_pairs']) {
    document[part].forEach((object, i) => {
      const flat = Object.entries(object.counters).flatMap(([name, value]) =>
        typeof value === 'object' ? Object.keys(value).map(inner => `${name}/${inner}`) : [name],
      );
      for (const name of flat) {
        const plain = part === 'queue_pairs' && /^(messages|bytes|packets)_/.test(name);
        assert.ok(plain || places.has(`${part}/${i}/counters/${name}`), `${part}/${i}: ${name}`);
      }
    });
  }
});

test('counters that are not zero are marked with a shape, those at zero are not', async () => {
  const page = await opened();
  const marked = await page
    .locator('#losses tbody .trouble')
    .evaluateAll(all => all.map(one => [one.dataset.at, one.querySelector('svg') !== null]));
  assert.ok(marked.some(([at]) => at === 'devices/0/counters/drops/socket_overflow'));
  assert.ok(marked.every(([, hasShape]) => hasShape));
  assert.equal(await page.locator('#losses details .trouble').count(), 0);
  const quiet = documentAt(1);
  Object.assign(quiet.devices[0].counters, { drops: { bad_icrc: 0, socket_overflow: 0 } });
  await moveTo(page, quiet);
  assert.equal(
    await page.locator('#losses tbody [data-at="devices/0/counters/drops/socket_overflow"]').count(),
    0,
  );
});

test('counters beyond 2^53 keep all digits', async () => {
  const huge = JSON.stringify(documentAt(0)).replace(
    '"rx_byte_count":4096000',
    '"rx_byte_count":18446744073709551615',
  );
  server.document = huge;
  const page = await opened();
  assert.equal(await shown(page, 'streams/0/rx_byte_count').textContent(), '18,446,744,073,709,551,615');
  assertQuiet(page);
});

test('names are text and never markup', async () => {
  const evil = documentAt(0);
  const name = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>&amp;"\'';
  for (const part of [
    'streams',
    'devices',
    'rings',
    'sensors',
    'services',
    'callers',
    'fpgas',
    'handshakes',
    'engines',
  ])
    evil[part][0].name = name;
  evil.process.name = name;
  evil.streams[0].device = name;
  evil.streams[0].state = name;
  evil.streams[0].stalled_by = name;
  evil.streams[0].last_error = { code: 1, category: 'rocio', text: name };
  evil.streams[0].views[0].name = name;
  evil.services[0].functions[0].name = name;
  evil.devices[0].events[0].text = name;
  evil.devices[0].counters[name] = 3;
  evil.stale = [{ part: name, age_seconds: 1, reason: name }];
  server.document = evil;
  const page = await opened();
  server.device({ device: name, time: '2026-01-02T03:04:06.000Z', text: name });
  await waitForText(page, '#events', 'onerror');
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  assert.equal(await page.locator('h1').textContent(), name);
  assertQuiet(page);
});

test('what the document does not have is not shown, and null is unknown', async () => {
  const all = documentAt(0);
  all.engines[0].cpu_share = { last_1s: null, last_10s: null };
  all.streams[0].rates = {
    frames_per_second: { last_1s: null, last_10s: null },
    bytes_per_second: { last_1s: null, last_10s: null },
  };
  const { schema_version, process, stale, streams, engines, stream_variables } = all;
  server.document = {
    schema_version,
    process,
    stale,
    streams,
    engines,
    stream_variables,
    devices: [],
    rings: [],
  };
  const page = await opened();
  const titles = await page.locator('h2').allTextContents();
  for (const absent of [
    'Rings',
    'Sensors',
    'Services',
    'Callers',
    'Devices',
    'Queue pairs',
    'FPGA sessions',
    'Handshakes',
  ]) {
    assert.ok(!titles.includes(absent), absent);
  }
  for (const there of ['Path', 'Streams', 'Engines', 'Events']) assert.ok(titles.includes(there), there);
  assert.match(await page.locator('#engines').textContent(), /CPU, last secondunknown/);
  assert.doesNotMatch(await page.locator('main').textContent(), /null|undefined|NaN|Infinity/);
  assertQuiet(page);
});

test('the smallest document is a page too', async () => {
  server.document = {
    schema_version: 1,
    process: { name: '', version: '0.1.0', build: '', uptime_seconds: 0, time: null, pid: 1 },
  };
  const page = await opened();
  assert.equal(await page.locator('h1').textContent(), 'rocio');
  assert.ok(await page.locator('#traffic').isHidden());
  assert.doesNotMatch(await page.locator('body').innerText(), /null|undefined|NaN|Infinity/);
  assertQuiet(page);
});

test('a stream with hundreds of channels and queue pairs is cut, and says so', async () => {
  const big = documentAt(0);
  big.streams[0].channels = Array.from({ length: 256 }, (_, i) => ({
    ...big.streams[0].channels[0],
    channel: i,
  }));
  big.queue_pairs = Array.from({ length: 1024 }, (_, i) => ({ ...big.queue_pairs[0], number: i }));
  server.document = big;
  const page = await opened();
  assert.match(await page.locator('#streams').textContent(), /and 156 more/);
  assert.match(await page.locator('#pairs').textContent(), /and 924 more/);
  assertQuiet(page);
});

test('the picture of the path says in words what it shows', async () => {
  const page = await opened();
  const label = () => page.locator('#path svg[role="img"]').first().getAttribute('aria-label');
  assert.match(
    await label(),
    /stream is connected.*FPGA: 127\.0\.0\.3, queue pair 18.*Device: soft:127\.0\.0\.2.*Slots: 218 posted.*Channels: 3 channels/,
  );
  await moveTo(page, stalledAt(1));
  assert.match(await label(), /Slots: 0 posted, 256 lent.*held by channel 2/);
  const lost = documentAt(2);
  Object.assign(lost.streams[0], {
    state: 'disconnected',
    last_error: { code: 5, category: 'rocio', text: 'the peer went away' },
  });
  await moveTo(page, lost);
  assert.match(await label(), /disconnected.*the peer went away/);
  assert.equal(await page.locator('#path figure').first().locator('.link.broken').count(), 3);
  assertQuiet(page);
});

test('a change of state is announced once, and the seconds of a banner are not', async () => {
  const page = await opened();
  await moveTo(page, stalledAt(1));
  await waitForText(page, '#announcer', 'stream stream: connected → held by channel 2');
  assert.match(
    await page.locator('#banners').textContent(),
    /engine data plane is stale.*3\.20\ss old.*its turn lasts for 3\.2 s/,
  );
  const announced = await page.locator('#announcer').innerHTML();
  const next = stalledAt(2);
  next.stale[0].age_seconds = 4.2;
  await moveTo(page, next);
  await waitForText(page, '#banners', '4.20');
  assert.equal(await page.locator('#announcer').innerHTML(), announced);
  await moveTo(page, documentAt(3));
  assert.equal(await page.locator('#banners .banner').count(), 0);
  await waitForText(page, '#events', 'held by channel 2 → connected');
  assertQuiet(page);
});

test('an event of a device is in the log at once, and only once', async () => {
  const page = await opened();
  const event = { time: '2026-01-02T03:04:06.250Z', text: 'port 1: down' };
  server.device({ device: 'soft:127.0.0.4', ...event });
  await waitForText(page, '#announcer', 'device soft:127.0.0.4: port 1: down');
  const first = page.locator('#events li').first();
  assert.match(await first.textContent(), /soft:127\.0\.0\.4port 1: down/);
  const next = documentAt(1);
  next.devices[1].events.push(event);
  const before = await page.locator('#events li').count();
  await moveTo(page, next);
  assert.equal(await page.locator('#events li').count(), before);
  assertQuiet(page);
});

test('the lines of the charts move, and their table has the newest numbers', async () => {
  const page = await opened();
  const picture = () => page.locator('#frame-chart canvas').evaluate(canvas => canvas.toDataURL());
  await moveTo(page, documentAt(1));
  const blankOrFirst = await picture();
  for (const second of [2, 3, 4, 5]) await moveTo(page, documentAt(second));
  await page.waitForFunction(
    old => document.querySelector('#frame-chart canvas').toDataURL() !== old,
    blankOrFirst,
  );
  const rate = documentAt(5).streams[0].rates.frames_per_second.last_1s;
  assert.equal(
    (await page.locator('#frame-chart tbody tr').first().locator('td').first().textContent()).replaceAll(
      '\u00a0',
      ' ',
    ),
    `${Math.round(rate / 1000)} k/s`,
  );
  assert.match(
    await page.locator('#byte-chart .plot').getAttribute('aria-label'),
    /Bytes per second over the last two minutes, of stream, camera/,
  );
  assertQuiet(page);
});

test('opened details, the focus and the elements stay through an update', async () => {
  const page = await opened();
  const summary = page.locator('#streams details summary').first();
  await summary.focus();
  await page.keyboard.press('Enter');
  await page.evaluate(() => {
    document.querySelector('#streams tr[role="row"]').kept = true;
  });
  await moveTo(page, documentAt(1));
  assert.ok(
    await page
      .locator('#streams details')
      .first()
      .evaluate(element => element.open),
  );
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SUMMARY');
  assert.ok(await page.evaluate(() => document.querySelector('#streams tr[role="row"]').kept));
  assert.ok(await page.locator('#streams [data-at="streams/0/mr_len"]').isVisible());
});

test('the page holds all it needs and tells whose charts it uses', async () => {
  const page = await opened();
  await moveTo(page, documentAt(1));
  assert.deepEqual([...new Set(server.requests)].sort(), ['GET /', 'GET /events']);
  const source = readFileSync(pageFile(), 'utf8');
  const licence = readFileSync(new URL('../../third_party/uplot/LICENSE', import.meta.url), 'utf8').trim();
  assert.ok(source.includes(licence));
  assert.doesNotMatch(source, /<(link|script|img|iframe)[^>]*(src|href)="(?!data:|#)/);
  assertQuiet(page);
});

test('on a phone nothing is wider than the screen, in any state', async () => {
  const page = await opened({ viewport: PHONE });
  const long = stalledAt(1);
  long.streams[0].name = 'a-stream-with-a-name-that-goes-on-and-on-and-has-no-place-to-break-it-anywhere';
  long.devices[0].name = long.streams[0].device = 'soft:[2001:db8:1234:5678:9abc:def0:1234:5678]:4791';
  long.streams[0].last_error = { code: 1, category: 'rocio', text: 'x'.repeat(300) };
  for (const document of [documentAt(0), long]) {
    await moveTo(page, document);
    await page.evaluate(() =>
      document.querySelectorAll('details').forEach(element => {
        element.open = true;
      }),
    );
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('body *')]
        .filter(
          element =>
            element.getBoundingClientRect().right > innerWidth + 0.5 &&
            !element.closest('.unseen, .plot, thead'),
        )
        .map(element => element.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(wide, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width);
  }
  for (const control of await page.locator('button, nav a').all())
    assert.ok((await control.boundingBox()).height >= 24);
  assertQuiet(page);
});

test('light and dark: as the system says, then as chosen, also after a reload', async () => {
  const ground = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground(await opened({ colorScheme: 'light' }));
  const page = await opened({ colorScheme: 'dark' });
  const dark = await ground(page);
  assert.notEqual(dark, light);
  const button = page.getByRole('button', { name: /Theme/ });
  await button.click();
  assert.equal(await ground(page), light);
  assert.match(await button.textContent(), /Theme: light/);
  await page.reload();
  await page.waitForSelector('#rest section');
  assert.equal(await ground(page), light);
  await button.click();
  await button.click();
  assert.match(await button.textContent(), /Theme: as the system/);
  assert.equal(await ground(page), dark);
  assertQuiet(page);
});

test('the keyboard reaches the content, the theme, the sections and the details, in this order', async () => {
  const page = await opened();
  const reached = [];
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => document.activeElement.textContent.trim()));
    if (i === 0)
      assert.ok(
        (await page.locator('.skip').boundingBox()).y >= 0,
        'the skip link is seen when it has the focus',
      );
  }
  const order = [
    'Skip to the content',
    'Theme: as the system',
    'Summary',
    'Streams',
    'Events',
    'Variables',
    'Numbers',
  ].map(name => reached.indexOf(name));
  assert.ok(
    order.every((at, i) => at >= 0 && (i === 0 || at > order[i - 1])),
    `${order}: ${reached.join(' | ')}`,
  );
  await page.getByRole('button', { name: /Theme/ }).focus();
  await page.keyboard.press('Space');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, 'none');
});

for (const colorScheme of ['light', 'dark']) {
  test(`structure and contrast hold, ${colorScheme}`, async () => {
    const page = await opened({ colorScheme });
    for (const document of [documentAt(0), stalledAt(1)]) {
      await moveTo(page, document);
      assert.deepEqual(await structureBreaches(page), []);
      assert.deepEqual(await contrastBreaches(page), []);
    }
    await page.setViewportSize(PHONE);
    assert.deepEqual(await contrastBreaches(page), []);
  });
}

// How the page finds its server, loses it and finds it again. The page's clock is the tests' own.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { launch, openPage, pageFile, waitForNumber, waitForText } from './support/browser.mjs';
import { documentAt } from './support/document.mjs';
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

const opened = hash => openPage(browser, server.url, { fakeClock: true, hash });

/** Lets the page's time run, a little at a time, until condition() holds; fails when it has run for as long as most seconds. */
async function runUntil(page, mostSeconds, condition) {
  for (let ran = 0; ran <= mostSeconds * 1000; ran += 250) {
    if (await condition()) return ran / 1000;
    await page.clock.runFor(250);
  }
  assert.fail(`not within ${mostSeconds} s`);
}

const text = (page, selector) => page.locator(selector).textContent();
const says = (page, selector, words) => async () => (await text(page, selector)).includes(words);

async function showing(page, second) {
  await waitForNumber(page, FRAMES, documentAt(second).streams[0].rx_frame_count);
}

test('a server that is gone is said to be gone, with the time, and what is shown is from before', async () => {
  const page = await opened();
  await showing(page, 0);
  assert.match(await text(page, '#link'), /live/);
  await server.stop();
  await waitForText(page, '#banners', 'No answer from the server');
  await runUntil(
    page,
    20,
    says(page, '#banners', 'No answer from the server since 12\u00a0s; trying again.'),
  );
  assert.match(await text(page, '#banners'), /What you see is from before/);
  assert.match(await text(page, '#link'), /no answer/);
  await showing(page, 0);
  assert.match(await text(page, '#announcer'), /^no answer from the server$/);
});

test('it comes back by itself within five seconds of the server, however long that was gone', async () => {
  const page = await opened();
  await showing(page, 0);
  await server.stop();
  await waitForText(page, '#banners', 'No answer');
  await page.clock.runFor(120_000);
  server.document = documentAt(9);
  await server.start();
  await runUntil(page, 5.5, async () => server.followers === 1);
  await showing(page, 9);
  await waitForText(page, '#link', 'live');
  assert.equal(await page.locator('#banners .banner').count(), 0);
  assert.match(await text(page, '#events'), /the server answers again/);
  server.update(documentAt(10));
  await showing(page, 10);
  assert.deepEqual(page.watched.foreign, []);
});

test('while the server is gone it is asked ever less often, but at least every five seconds', async () => {
  const page = await opened();
  await showing(page, 0);
  await page.evaluate(() => {
    // Notes the page's time whenever it asks.
    window.asked = [];
    const real = window.fetch;
    window.fetch = (...args) => {
      window.asked.push(performance.now());
      return real(...args);
    };
  });
  await server.stop();
  await waitForText(page, '#banners', 'No answer');
  const asked = () => page.evaluate(() => window.asked);
  while ((await asked()).length < 9) {
    const refused = page.waitForEvent('requestfailed', { timeout: 200 }).catch(() => null); // Then the next pause begins.
    await page.clock.runFor(250);
    await refused;
  }
  const times = await asked();
  const pauses = times.slice(1).map((time, i) => Math.round(time - times[i]));
  assert.ok(pauses[0] < 2000 && pauses.every(pause => pause <= 5600), `pauses ${pauses}`);
  assert.ok(pauses.at(-1) >= 5000, `pauses ${pauses}`);
});

test('a server that was started anew is followed, and told apart from one that only was out of reach', async () => {
  const page = await opened();
  await showing(page, 0);
  await server.stop();
  await waitForText(page, '#banners', 'No answer');
  const fresh = documentAt(1);
  Object.assign(fresh.process, { pid: 5000, uptime_seconds: 1.5 });
  server.document = fresh;
  await server.start();
  await runUntil(page, 5.5, async () => server.followers === 1);
  await waitForText(page, '#events', 'the server was started anew, as process 5000');
  await waitForText(page, '#process', 'process 5000');
});

test('a server that takes requests and says nothing is gone too', async () => {
  const page = await opened();
  await showing(page, 0);
  server.beats = false;
  server.silent = true;
  await runUntil(page, 6, says(page, '#banners', 'No answer'));
  server.silent = false;
  server.beats = true;
  await runUntil(page, 12, says(page, '#link', 'live'));
});

test('without events the page asks for the status every second, and says so', async () => {
  server.hasEvents = false;
  const page = await opened();
  await showing(page, 0);
  await waitForText(page, '#link', 'asked every second');
  const before = server.requests.length;
  for (const second of [1, 2, 3]) {
    server.document = documentAt(second);
    await page.clock.runFor(1000);
    await showing(page, second);
  }
  assert.equal(server.requests.slice(before).filter(request => request === 'GET /status').length, 3);
  await server.stop();
  await runUntil(page, 3, says(page, '#banners', 'No answer'));
  server.hasEvents = true;
  await server.start();
  await runUntil(page, 6, async () => server.followers === 1);
  await waitForText(page, '#link', 'live');
});

test('a token in the fragment goes with every request; without one the page says what is wanted', async () => {
  server.token = 'secret-1';
  const page = await opened();
  await waitForText(page, '#banners', 'The server wants a token');
  assert.equal(await page.locator('#rest section').count(), 0);
  await page.evaluate(() => {
    location.hash = '#token=wrong';
  });
  await runUntil(page, 6, says(page, '#link', 'refused'));
  await page.evaluate(() => {
    location.hash = '#token=secret-1';
  });
  await runUntil(page, 6, async () => server.followers === 1);
  await showing(page, 0);
  await page.locator('nav a', { hasText: 'Engines' }).click();
  assert.equal(await page.evaluate(() => location.hash), '#engines');
  server.followers && (await server.stop());
  await server.start();
  await runUntil(page, 6, async () => server.followers === 1);
  await waitForText(page, '#link', 'live');
});

test('a token given at once is enough', async () => {
  server.token = 'a+b/c=';
  const page = await opened(`#token=${encodeURIComponent('a+b/c=')}`);
  await showing(page, 0);
  assert.deepEqual(page.watched.errors, []);
});

test('nonsense instead of a document is no document, and is asked for again', async () => {
  const page = await opened();
  await showing(page, 0);
  server.update('{"schema_version": 1, "streams": [');
  await waitForText(page, '#banners', 'No answer');
  server.document = documentAt(4);
  await runUntil(page, 3, async () => server.followers === 1);
  await showing(page, 4);
});

// The page of a real program: rocio demo.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { takePictures } from './screenshots.mjs';
import { contrastBreaches, structureBreaches } from './support/accessibility.mjs';
import {
  PHONE,
  artifacts,
  launch,
  numbersOn,
  openPage,
  pageFile,
  shown,
  valueAt,
  waitForText,
} from './support/browser.mjs';
import { Demo } from './support/demo.mjs';

const FRAMES = 'streams/0/rx_frame_count';
const demo = new Demo();
let browser;

before(async () => {
  browser = await launch();
  await demo.start();
});
after(async () => {
  await demo.stop();
  await browser.close();
});
afterEach(() => Promise.all(browser.contexts().map(context => context.close())));

async function opened(options) {
  const page = await openPage(browser, demo.url, options);
  await waitForText(page, '#path', 'connected');
  return page;
}

const framesShown = async page => Number((await shown(page, FRAMES).textContent()).replaceAll(',', ''));
const framesCounted = async () => (await demo.status()).streams[0].rx_frame_count;

function assertQuiet(page) {
  assert.deepEqual(page.watched.errors, []);
  assert.deepEqual(page.watched.foreign, []);
}

test('the server serves the page that was built', async () => {
  const answer = await fetch(demo.url);
  assert.match(answer.headers.get('Content-Type'), /^text\/html/);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), readFileSync(pageFile()));
});

test('every number on the page is the one of /status', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  let answer = null; // The first one, again and again.
  await page.route('**/events', route => route.fulfill({ status: 404, body: '{}' }));
  await page.route('**/status', async route => {
    answer ??= await (await route.fetch()).text();
    await route.fulfill({ contentType: 'application/json', body: answer });
  });
  await page.goto(demo.url);
  await waitForText(page, '#link', 'asked every second');
  await page.waitForSelector('#rest section');
  const document = JSON.parse(answer);
  const numbers = await numbersOn(page);
  assert.ok(numbers.length > 80, `only ${numbers.length} numbers`);
  for (const [at, digits] of numbers) assert.equal(digits, String(valueAt(document, at)), at);
});

test('the numbers follow the stream through the events', async () => {
  const page = await opened();
  for (let i = 0; i < 3; ++i) {
    const floor = await framesShown(page);
    await page.waitForFunction(
      ([at, old]) =>
        Number(document.querySelector(`[data-at="${at}"]`).textContent.replaceAll(',', '')) > old,
      [FRAMES, floor],
    );
    const now = await framesShown(page);
    assert.ok(now <= (await framesCounted()), 'the page runs ahead of the server');
  }
  await waitForText(page, '#link', 'live');
  assert.doesNotMatch(await page.locator('#link').textContent(), /asked/);
  assertQuiet(page);
});

test('the lines of the charts move', async () => {
  const page = await opened();
  const known = row =>
    page.waitForFunction(wanted => !document.querySelector(wanted)?.textContent.includes('unknown'), row);
  await page.waitForSelector('#frame-chart canvas');
  await known('#frame-chart tbody tr td');
  const before = await page.locator('#frame-chart canvas').evaluate(canvas => canvas.toDataURL());
  await page.waitForFunction(
    old => document.querySelector('#frame-chart canvas').toDataURL() !== old,
    before,
  );
  assertQuiet(page);
});

test('structure and contrast hold, and nothing is wider than a phone', async () => {
  const page = await opened({ viewport: PHONE });
  assert.deepEqual(await structureBreaches(page), []);
  assert.deepEqual(await contrastBreaches(page), []);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width);
  assert.doesNotMatch(await page.locator('body').innerText(), /null|undefined|NaN|Infinity/);
  assertQuiet(page);
});

test('its pictures are kept', async () => {
  const folder = `${artifacts()}/demo`;
  const files = await takePictures(browser, demo.url, folder, pages => pages[2].waitForTimeout(5000));
  assert.equal(files.length, 3);
});

for (const signal of ['SIGINT', 'SIGKILL']) {
  test(`after ${signal} and a new start on the same port the page goes on by itself`, async () => {
    const page = await opened();
    await demo.stop(signal);
    await waitForText(page, '#banners', 'No answer from the server');
    await demo.start();
    await waitForText(page, '#link', 'live');
    await waitForText(page, '#process', `process ${demo.pid}`);
    await waitForText(page, '#events', `the server was started anew, as process ${demo.pid}`);
    await waitForText(page, '#path', 'connected');
    const floor = await framesShown(page);
    await page.waitForFunction(
      ([at, old]) =>
        Number(document.querySelector(`[data-at="${at}"]`).textContent.replaceAll(',', '')) > old,
      [FRAMES, floor],
    );
    assert.equal(await page.locator('#banners .banner').count(), 0);
    assert.deepEqual(page.watched.foreign, []);
  });
}

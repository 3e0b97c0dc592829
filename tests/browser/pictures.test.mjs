// Pictures of a busy program, of a stalled one and of a server that is gone, kept for those who review the page.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { PICTURES, takePictures } from './screenshots.mjs';
import { artifacts, launch, openPage, pageFile, waitForNumber, waitForText } from './support/browser.mjs';
import { documentAt, stalledAt } from './support/document.mjs';
import { FakeServer } from './support/fake_server.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const sizeOf = file => {
  // Of a PNG: width and height stand at byte 16 of it.
  const bytes = readFileSync(file);
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
};

test('the page has its picture taken in light, dark and on a phone', async () => {
  const server = await new FakeServer(documentAt(0), pageFile()).start();
  const files = await takePictures(browser, server.url, artifacts(), async pages => {
    for (let second = 1; second <= 30; ++second) {
      server.update(documentAt(second));
      for (const page of pages)
        await waitForNumber(page, 'streams/0/rx_frame_count', documentAt(second).streams[0].rx_frame_count);
    }
    pages.forEach(page => assert.deepEqual([...page.watched.errors, ...page.watched.foreign], []));
  });
  files.forEach((file, i) => assert.deepEqual(sizeOf(file), PICTURES[i].viewport));
  await server.stop();
});

test('and in bad times', async () => {
  const server = await new FakeServer(stalledAt(0), pageFile()).start();
  const page = await openPage(browser, server.url, {
    colorScheme: 'dark',
    viewport: { width: 1000, height: 900 },
  });
  await waitForText(page, '#banners', 'stale');
  await page.screenshot({ path: path.join(artifacts(), 'stalled.png') });
  await server.stop();
  await waitForText(page, '#banners', 'No answer');
  await page.screenshot({ path: path.join(artifacts(), 'gone.png') });
});

test('the pictures of the documentation are small and of the same sizes', () => {
  for (const { name, viewport } of PICTURES) {
    const file = new URL(`../../docs/images/${name}`, import.meta.url);
    assert.ok(statSync(file).size < 200_000, name);
    assert.deepEqual(sizeOf(file), viewport, name);
  }
});

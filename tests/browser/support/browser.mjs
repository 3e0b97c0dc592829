// One Chromium for a file of tests, and pages that remember what must not happen.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

function setting(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; ctest sets it, see tests/browser/CMakeLists.txt`);
  return value;
}

/** The folder with node_modules. */
export const packages = () => setting('ROCIO_BROWSER_PACKAGES');
export const pageFile = () => setting('ROCIO_PAGE');
export const tool = () => setting('ROCIO_TOOL');
/** Where screenshots are kept. */
export function artifacts() {
  const folder = setting('ROCIO_BROWSER_ARTIFACTS');
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function chromiumProgram() {
  const asked = process.env.ROCIO_CHROMIUM;
  const known = [asked, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].filter(
    Boolean,
  );
  const found = known.find(program => existsSync(program));
  assert.ok(found, `no Chromium at ${known.join(', ')}: apt-get install chromium, or set ROCIO_CHROMIUM`);
  return found;
}

export function launch() {
  const { chromium } = createRequire(path.join(packages(), 'package.json'))('playwright-core');
  return chromium.launch({ executablePath: chromiumProgram() });
}

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 900 };

/**
 * The page of url in a context of its own. options: viewport, colorScheme, fakeClock, hash. The page's watched has
 * console errors, exceptions and requests to other hosts.
 */
export async function openPage(browser, url, options = {}) {
  const { viewport = DESK, colorScheme = 'light', fakeClock = false, hash = '' } = options;
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-GB', timezoneId: 'UTC' });
  const page = await context.newPage();
  page.watched = { errors: [], foreign: [] };
  const own = new URL(url).host;
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) page.watched.errors.push(message.text());
  });
  page.on('pageerror', error => page.watched.errors.push(error.stack ?? String(error)));
  page.on('request', request => {
    const to = new URL(request.url());
    if (to.protocol !== 'data:' && to.host !== own) page.watched.foreign.push(request.url());
  });
  if (fakeClock) await page.clock.install();
  await page.goto(url + hash);
  return page;
}

export const shown = (page, at) => page.locator(`[data-at="${at}"]`).first();

/** Waits until the page shows this number (without separators) of the document. */
export async function waitForNumber(page, at, value) {
  await page.waitForFunction(
    ([where, wanted]) => {
      const element = document.querySelector(`[data-at="${CSS.escape(where).replaceAll('\\/', '/')}"]`);
      return element?.textContent.replaceAll(',', '') === wanted;
    },
    [at, String(value)],
  );
}

export const waitForText = (page, selector, words) =>
  page.waitForFunction(
    ([where, wanted]) => document.querySelector(where)?.textContent.includes(wanted),
    [selector, words],
  );

/** All numbers on the page, as [where in the document, digits]. */
export const numbersOn = page =>
  page.evaluate(() =>
    [...document.querySelectorAll('[data-at]')].map(element => [
      element.dataset.at,
      element.textContent.replaceAll(',', ''),
    ]),
  );

/** What stands at "streams/0/slots/posted" of a document. */
export const valueAt = (document, at) => at.split('/').reduce((part, name) => part?.[name], document);

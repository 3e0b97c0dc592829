// third_party/uplot is what npm gives for that version, whose hash package-lock.json holds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packages } from './support/browser.mjs';

const vendored = name => readFileSync(new URL(`../../third_party/uplot/${name}`, import.meta.url));
const own = name => JSON.parse(readFileSync(new URL(name, import.meta.url)));

test('the files of uPlot are those of the npm package', () => {
  const package_ = path.join(packages(), 'node_modules', 'uplot');
  for (const [name, there] of [
    ['uPlot.iife.min.js', 'dist/uPlot.iife.min.js'],
    ['uPlot.min.css', 'dist/uPlot.min.css'],
    ['LICENSE', 'LICENSE'],
  ]) {
    assert.ok(vendored(name).equals(readFileSync(path.join(package_, there))), name);
  }
});

test('the version and hash in the README are those of the lock file', () => {
  const locked = own('package-lock.json').packages['node_modules/uplot'];
  const readme = vendored('README.md').toString();
  assert.match(readme, new RegExp(`^# uPlot ${locked.version.replaceAll('.', '\\.')}$`, 'm'));
  assert.ok(readme.includes(locked.integrity));
  assert.equal(own('package.json').dependencies.uplot, locked.version);
});

test('the lock file names no registry', () => {
  assert.doesNotMatch(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'), /https?:/);
});

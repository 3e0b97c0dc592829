// Values of the status as people read them. Null and absent are "unknown": the server did not say.

const UNKNOWN = 'unknown';
const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const isNumber = value => typeof value === 'bigint' || Number.isFinite(value);

/** A count with all its digits: 1,234,567. */
export function count(value) {
  return isNumber(value) ? grouped.format(value) : UNKNOWN;
}

/** 1 slot, 2 slots. */
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

function threeDigits(value) {
  const size = Math.abs(value);
  return size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Three digits and a decimal prefix: 1.23 M. */
export function scaled(value, unit = '') {
  if (!isNumber(value)) return UNKNOWN;
  let rest = Number(value);
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
  let at = 0;
  while (Math.abs(rest) >= 999.5 && at < prefixes.length - 1) {
    rest /= 1000;
    ++at;
  }
  const whole = at === 0 && Number.isInteger(rest);
  const digits = whole ? String(rest) : threeDigits(rest);
  const suffix = prefixes[at] + unit;
  return suffix ? `${digits}\u00a0${suffix}` : digits;
}

/** All bytes, for sizes of one thing: 4,096 B. */
export const exactBytes = value => (isNumber(value) ? `${count(value)}\u00a0B` : UNKNOWN);
export const bytes = value => scaled(value, 'B');
export const perSecond = value => scaled(value, '/s');
export const bytesPerSecond = value => scaled(value, 'B/s');

/** Nanoseconds in the unit that fits. */
export function nanoseconds(value) {
  if (!isNumber(value)) return UNKNOWN;
  const ns = Number(value);
  if (ns < 999.5) return `${Math.round(ns)}\u00a0ns`;
  if (ns < 999.5e3) return `${threeDigits(ns / 1e3)}\u00a0\u00b5s`;
  if (ns < 999.5e6) return `${threeDigits(ns / 1e6)}\u00a0ms`;
  return seconds(ns / 1e9);
}

/** Seconds in the unit that fits; past two minutes as 1 h 02 min 03 s. */
export function seconds(value) {
  if (!isNumber(value)) return UNKNOWN;
  const s = Number(value);
  if (s === 0) return '0\u00a0s';
  if (s < 0.9995) return nanoseconds(s * 1e9);
  if (s < 120) return `${threeDigits(s)}\u00a0s`;
  return span(s);
}

/** A time span in whole seconds: 12 s, 1 min 05 s, 2 d 03 h 00 min 07 s. */
export function span(value) {
  if (!isNumber(value)) return UNKNOWN;
  const whole = Math.floor(Number(value));
  const parts = [
    [Math.floor(whole / 86400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const first = Math.max(
    0,
    parts.findIndex(([n]) => n > 0),
  );
  if (parts.every(([n]) => n === 0)) return '0\u00a0s';
  return parts
    .slice(first)
    .map(([n, unit], i) => `${i > 0 ? String(n).padStart(2, '0') : n}\u00a0${unit}`)
    .join(' ');
}

export function percent(value) {
  return isNumber(value) ? `${(Number(value) * 100).toFixed(1)}\u00a0%` : UNKNOWN;
}

/** The server's text, or "unknown". */
export function text(value) {
  return value === null || value === undefined || value === '' ? UNKNOWN : String(value);
}

/** An error of the document: {code, category, text}, or a text. */
export function errorText(error) {
  if (error === null || error === undefined) return '';
  return typeof error === 'object' ? text(error.text) : String(error);
}

/** "2026-01-02T03:04:05.678Z" in this browser's time zone: the time alone if it is today's. */
export function clock(time, now = new Date()) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return text(time);
  const two = n => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const hour = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return at.toDateString() === now.toDateString() ? hour : `${day} ${hour}`;
}

const CAPITALS = /\b(icrc|rnr|naks?|psns?|qpn|mtu|gid|cpu|ip|uc|rc|fpga|crc)\b/g;

/** "bad_icrc" as words: "bad ICRC". */
export const words = name =>
  String(name)
    .replaceAll('_', ' ')
    .replace(CAPITALS, short =>
      short.length > 3 && short.endsWith('s') ? `${short.slice(0, -1).toUpperCase()}s` : short.toUpperCase(),
    );

export const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

/** A sum that stays exact: numbers and BigInts, absent ones count as nothing. */
export function sum(values) {
  let total = 0n;
  let fraction = 0;
  for (const value of values) {
    if (!isNumber(value)) continue;
    if (typeof value === 'bigint' || Number.isInteger(value)) total += BigInt(value);
    else fraction += value;
  }
  const small = total <= BigInt(Number.MAX_SAFE_INTEGER) && total >= -BigInt(Number.MAX_SAFE_INTEGER);
  return small ? Number(total) + fraction : total;
}

/** The sum of those that are known; null if none is. */
export function sumKnown(values) {
  const known = values.filter(isNumber);
  return known.length ? sum(known) : null;
}

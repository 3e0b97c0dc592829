// JSON with 64-bit counters, and merge patches.

/** JSON.parse, but integers beyond 2^53 become BigInts where the browser shows the text of a number (else doubles). */
export function parseExactly(source) {
  return JSON.parse(source, (_key, value, context) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return context && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
  });
}

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The target after a merge patch (RFC 7396); the target itself stays as it is. */
export function mergePatch(target, patch) {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}

// As much of JSON Schema as docs/status.schema.json uses; another keyword is an error of its own.

const KNOWN = new Set([
  '$schema',
  '$id',
  '$defs',
  '$ref',
  'title',
  'description',
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'oneOf',
  'anyOf',
  'pattern',
  'minimum',
  'maximum',
  'maxItems',
  'patternProperties',
]);

function typeOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function isOfType(value, type) {
  return [type]
    .flat()
    .some(name => name === typeOf(value) || (name === 'number' && typeof value === 'number'));
}

/** What is wrong with value, as texts; none if it follows the schema. */
export function breaches(value, schema, root = schema, at = '') {
  if (schema === true) return [];
  if (schema === false) return [`${at} may not be there`];
  const unknown = Object.keys(schema)
    .filter(name => !KNOWN.has(name))
    .map(name => `keyword ${name} is not known here`);
  const wrong = [...unknown, ...simpleBreaches(value, schema, at)];
  if (schema.$ref)
    wrong.push(
      ...breaches(
        value,
        schema.$ref
          .slice(2)
          .split('/')
          .reduce((part, name) => part[name], root),
        root,
        at,
      ),
    );
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices && !choices.some(choice => breaches(value, choice, root, at).length === 0)) {
    wrong.push(`${at} is none of the choices`);
  }
  if (Array.isArray(value) && schema.items)
    value.forEach((item, i) => wrong.push(...breaches(item, schema.items, root, `${at}/${i}`)));
  if (typeOf(value) === 'object') wrong.push(...memberBreaches(value, schema, root, at));
  return wrong;
}

function simpleBreaches(value, schema, at) {
  const wrong = [];
  if (schema.type && !isOfType(value, schema.type))
    wrong.push(`${at} is ${typeOf(value)}, not ${schema.type}`);
  if ('const' in schema && value !== schema.const) wrong.push(`${at} is not ${schema.const}`);
  if (schema.enum && !schema.enum.includes(value)) wrong.push(`${at}: ${value} is none of ${schema.enum}`);
  if (typeof value === 'string' && schema.pattern && !new RegExp(schema.pattern).test(value))
    wrong.push(`${at}: ${value} is not ${schema.pattern}`);
  if (typeof value === 'number' && (value < schema.minimum || value > schema.maximum))
    wrong.push(`${at}: ${value} is out of range`);
  if (Array.isArray(value) && value.length > schema.maxItems)
    wrong.push(`${at} is longer than ${schema.maxItems}`);
  return wrong;
}

function memberBreaches(value, schema, root, at) {
  const wrong = (schema.required ?? [])
    .filter(name => !(name in value))
    .map(name => `${at}/${name} is missing`);
  for (const [name, member] of Object.entries(value)) {
    const here = `${at}/${name}`;
    const pattern = Object.entries(schema.patternProperties ?? {}).find(([expression]) =>
      new RegExp(expression).test(name),
    )?.[1];
    const inner = schema.properties?.[name] ?? pattern ?? schema.additionalProperties ?? true;
    wrong.push(...breaches(member, inner, root, here));
  }
  return wrong;
}

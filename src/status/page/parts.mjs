// What the sections are made of.
import { h } from './dom.mjs';
import { count, errorText, text, words } from './format.mjs';

/** How a state is meant: good, busy, bad or quiet. */
export function toneOf(state) {
  const name = String(state ?? '');
  if (/^(connected|active|armed|established|ready to send|running|up)/.test(name)) return 'good';
  if (/(connecting|configur|arming|preparing|ready|init|waiting|listening)/.test(name)) return 'busy';
  if (/(error|fail|down|disconnected|lost|refused|fatal)/.test(name)) return 'bad';
  return 'quiet';
}

const SHAPES = {
  good: () => [h('circle', { cx: 6, cy: 6, r: 5, class: 'filled' })],
  busy: () => [
    h('circle', { cx: 6, cy: 6, r: 4.25 }),
    h('path', { d: 'M6 1.75a4.25 4.25 0 0 1 0 8.5z', class: 'filled' }),
  ],
  bad: () => [h('path', { d: 'M6 .8 11.6 11H.4z', class: 'filled' })],
  quiet: () => [h('circle', { cx: 6, cy: 6, r: 4.25 })],
};

/** The shape of a tone in a square of 12, so that colour is never all there is. */
export const shape = (tone, attributes = {}) =>
  h('g', { class: `shape ${tone}`, ...attributes }, SHAPES[tone]());

export const mark = tone =>
  h('svg', { viewBox: '0 0 12 12', class: 'mark', 'aria-hidden': 'true' }, shape(tone));

export const badge = (words, tone = toneOf(words)) =>
  h('span', { class: `badge ${tone}` }, mark(tone), text(words));

/** A number of the document with all its digits; at says where it stands there. */
export const number = (value, at) => h('span', { class: 'number', 'data-at': at }, count(value));

/** The same, but marked when it is not zero. */
export function trouble(value, at, tone = 'bad') {
  const any = value !== null && value !== undefined && value !== 0;
  return h(
    'span',
    { class: any ? `number trouble ${tone}` : 'number', 'data-at': at },
    any && mark(tone),
    count(value),
  );
}

export const code = value => h('span', { class: 'code' }, text(value));

/** The sentence of an error, or nothing. */
export const errorLine = (error, before = 'Last error: ') =>
  error ? h('p', { class: 'error-line' }, mark('bad'), h('span', null, before, errorText(error))) : null;

const ROWS_SHOWN = 100;

/**
 * columns: ["name", …] or [{name, number: true}, …]; rows: [{key, cells}], the first cell names the row. On a narrow
 * screen each row becomes a block; the roles keep it a table for screen readers.
 */
export function table(caption, columns, rows, attributes = {}) {
  const heads = columns.map(column => (typeof column === 'string' ? { name: column } : column));
  const cell = (content, i) => {
    const head = heads[i];
    const common = { class: head.number ? 'right' : null, 'data-label': head.name };
    return i === 0
      ? h('th', { ...common, scope: 'row', role: 'rowheader' }, content)
      : h('td', { ...common, role: 'cell' }, content);
  };
  const more = rows.length - ROWS_SHOWN;
  return h(
    'div',
    { class: 'table-frame', ...attributes },
    h(
      'table',
      { role: 'table' },
      h('caption', null, caption),
      h(
        'thead',
        { role: 'rowgroup' },
        h(
          'tr',
          { role: 'row' },
          heads.map(head =>
            h('th', { scope: 'col', role: 'columnheader', class: head.number ? 'right' : null }, head.name),
          ),
        ),
      ),
      h(
        'tbody',
        { role: 'rowgroup' },
        rows.slice(0, ROWS_SHOWN).map(row => h('tr', { role: 'row', key: row.key }, row.cells.map(cell))),
      ),
    ),
    more > 0 && h('p', { class: 'muted' }, `and ${count(more)} more: see status as JSON`),
  );
}

/** Names and values: [[name, content], …]. */
export const facts = pairs =>
  h(
    'dl',
    { class: 'facts' },
    pairs
      .filter(Boolean)
      .map(([name, content]) => h('div', { key: name }, h('dt', null, name), h('dd', null, content))),
  );

export const card = (key, title, state, ...content) =>
  h(
    'article',
    { class: 'card', key },
    h('h3', null, h('span', { class: 'card-title' }, text(title)), state),
    content,
  );

/** title may be [in the links, as the heading]. */
export const section = (id, titles, ...content) => {
  const [short, title] = Array.isArray(titles) ? titles : [titles, titles];
  return sectionNamed(id, short, title, content);
};

const sectionNamed = (id, short, title, content) => ({
  id,
  title: short,
  node: h(
    'section',
    { id, key: id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title),
    content,
  ),
});

export const more = (summary, ...content) => h('details', null, h('summary', null, summary), content);

/** Counters by name as a list; those that are not zero are marked if they count trouble. */
export const counterList = (entries, isTrouble) =>
  h(
    'dl',
    { class: 'counters' },
    entries.map(([name, value, at]) =>
      h(
        'div',
        { key: at },
        h('dt', null, words(name)),
        h('dd', null, isTrouble ? trouble(value, at) : number(value, at)),
      ),
    ),
  );

export const list = value => (Array.isArray(value) ? value : []);

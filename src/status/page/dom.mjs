// Elements from plain values. What stays the same is left alone, so that focus, selection and opened details survive an
// update. Text only ever becomes text nodes and attribute values: names come from users.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * A node to be: h('td', {class: 'number'}, 'text', h('b', null, …)). Children may be arrays; null, undefined and false
 * are left out. "key" tells siblings apart that come and go.
 */
export function h(tag, props, ...children) {
  const { key, ...attributes } = props ?? {};
  return { tag, key, attributes, children: flatten(children) };
}

function flatten(children) {
  return children
    .flat(Infinity)
    .filter(child => child !== null && child !== undefined && child !== false)
    .map(child => (typeof child === 'object' ? child : String(child)));
}

const made = new WeakMap(); // Element → the node it was made for.

function create(node, parent) {
  if (typeof node === 'string') return document.createTextNode(node);
  const namespace = node.tag === 'svg' ? SVG : parent.namespaceURI;
  const element = document.createElementNS(namespace, node.tag);
  made.set(element, { tag: node.tag, key: node.key, attributes: {} });
  return element;
}

function fits(existing, node) {
  if (typeof node === 'string') return existing.nodeType === Node.TEXT_NODE;
  const old = made.get(existing);
  return old !== undefined && old.tag === node.tag && old.key === node.key;
}

function update(existing, node) {
  if (typeof node === 'string') {
    if (existing.nodeValue !== node) existing.nodeValue = node;
    return;
  }
  const old = made.get(existing);
  setAttributes(existing, old.attributes, node.attributes);
  old.attributes = node.attributes;
  render(existing, node.children);
}

const isAbsent = value => value === null || value === undefined || value === false;

function setAttributes(element, before, after) {
  for (const name of Object.keys(before)) {
    if (isAbsent(after[name]) && !isAbsent(before[name])) element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(after)) {
    if (isAbsent(value) || before[name] === value) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Makes the children of parent what nodes say. */
export function render(parent, ...nodes) {
  const keyed = new Map();
  for (const child of parent.childNodes) {
    const key = made.get(child)?.key;
    if (key !== undefined) keyed.set(key, child);
  }
  let at = parent.firstChild;
  for (const node of flatten(nodes)) {
    let element = node.key === undefined ? at : keyed.get(node.key);
    if (!element || !fits(element, node)) element = create(node, parent);
    if (element === at) at = at.nextSibling;
    else parent.insertBefore(element, at);
    update(element, node);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

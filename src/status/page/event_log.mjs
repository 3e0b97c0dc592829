// What happened, newest first: events of devices, and what this page noticed itself.
import { h } from './dom.mjs';
import { clock, text } from './format.mjs';
import { list, section } from './parts.mjs';

const KEPT = 200;

export class EventLog {
  #entries = [];
  #known = new Set();

  /** time: ISO 8601; where: a device, or "page". */
  add(time, where, what) {
    const key = `${time}\n${where}\n${what}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#entries.push({ key, time, where, what, order: Date.parse(time) });
    this.#entries.sort((a, b) => b.order - a.order);
    for (const old of this.#entries.splice(KEPT)) this.#known.delete(old.key);
  }

  /** The events that the document still has. */
  look(doc) {
    for (const device of list(doc.devices)) {
      for (const event of list(device.events)) this.add(event.time, device.name, event.text);
    }
  }

  section() {
    const rows = this.#entries.map(({ key, time, where, what }) =>
      h(
        'li',
        { key },
        h('time', { datetime: time }, clock(time)),
        h('span', { class: 'event-where' }, text(where)),
        h('span', null, text(what)),
      ),
    );
    return section(
      'events',
      'Events',
      rows.length
        ? h('ol', { class: 'events', tabindex: '0', 'aria-label': 'Events, newest first' }, rows)
        : h('p', { class: 'muted' }, 'None yet.'),
    );
  }
}

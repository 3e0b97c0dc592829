// The text/event-stream format of server-sent events (HTML standard, section 9.2.6).

/** Takes text as it comes and calls handle(name, data) for each whole event. */
export class EventStream {
  #handle;
  #rest = '';
  #name = '';
  #data = [];

  constructor(handle) {
    this.#handle = handle;
  }

  push(chunk) {
    this.#rest += chunk;
    for (;;) {
      const end = this.#rest.search(/[\r\n]/);
      if (end < 0) return;
      const cr = this.#rest[end] === '\r';
      if (cr && end + 1 === this.#rest.length) return; // Perhaps the first half of a CRLF.
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (cr && this.#rest[end + 1] === '\n' ? 2 : 1));
      this.#take(line);
    }
  }

  #take(line) {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    if (colon === 0) return; // A comment keeps the connection alive.
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    if (field === 'data') this.#data.push(value);
  }

  #finish() {
    const name = this.#name || 'message';
    const data = this.#data;
    this.#name = '';
    this.#data = [];
    if (data.length) this.#handle(name, data.join('\n'));
  }
}

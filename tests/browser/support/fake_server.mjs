// A status server of the tests' own: it answers as `rocio … --http` does, with any document, and breaks on demand.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The difference between two documents as a merge patch (RFC 7396). */
export function patchBetween(before, after) {
  const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject(before) || !isObject(after)) return after;
  const patch = {};
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    if (JSON.stringify(before[name]) !== JSON.stringify(value))
      patch[name] = patchBetween(before[name], value);
  }
  return patch;
}

export class FakeServer {
  hasEvents = true;
  token = '';
  silent = false; // Takes requests and never answers.
  beats = true; // Something comes over /events every second.
  requests = []; // "GET /status" …
  document; // Sent as it is; a string is sent as JSON text.
  #page;
  #server = null;
  #followers = new Map(); // Answer → the document it was told last.
  #port = 0;

  constructor(document, pageFile) {
    this.document = document;
    this.#page = readFileSync(pageFile);
  }

  /** Listens; after stop() on the same port again. */
  async start() {
    this.#server = createServer((request, answer) => this.#answer(request, answer));
    await new Promise((resolve, reject) => {
      this.#server.on('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = this.#server.address().port;
    return this;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}/`;
  }

  async stop() {
    this.#followers.clear();
    this.#server.closeAllConnections();
    await new Promise(resolve => {
      this.#server.close(resolve);
    });
  }

  get text() {
    return typeof this.document === 'string' ? this.document : JSON.stringify(this.document);
  }

  /** Another document, told to all who follow. */
  update(document) {
    this.document = document;
    for (const [answer, before] of this.#followers) {
      const whole = typeof document === 'string';
      this.#tell(answer, 'status', whole ? document : JSON.stringify(patchBetween(before, document)));
      this.#followers.set(answer, document);
    }
  }

  device(event) {
    for (const answer of this.#followers.keys()) this.#tell(answer, 'device', JSON.stringify(event));
  }

  get followers() {
    return this.#followers.size;
  }

  #tell(answer, name, data) {
    answer.write(`event: ${name}\ndata: ${data}\n\n`);
  }

  #answer(request, answer) {
    const path = request.url.split('?')[0];
    this.requests.push(`${request.method} ${path}`);
    if (this.silent) return;
    if (path === '/')
      return answer.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(this.#page);
    if (this.token && request.headers.authorization !== `Bearer ${this.token}`)
      return this.#refuse(answer, 401);
    if (path === '/status')
      return answer.writeHead(200, { 'Content-Type': 'application/json' }).end(this.text);
    if (path === '/events' && this.hasEvents) return this.#follow(answer);
    return this.#refuse(answer, 404);
  }

  #refuse(answer, status) {
    answer
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ error: 'no', status }));
  }

  #follow(answer) {
    answer.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    answer.write(': hello\n\n');
    this.#tell(answer, 'status', this.text);
    this.#followers.set(answer, this.document);
    const beat = setInterval(() => {
      if (this.beats) answer.write(': beat\n\n');
    }, 1000);
    answer.on('close', () => {
      clearInterval(beat);
      this.#followers.delete(answer);
    });
  }
}

// The way to the server: events where it has them, else /status every second; comes back by itself.
import { EventStream } from './event_stream.mjs';
import { mergePatch, parseExactly } from './json.mjs';

const SILENCE_MS = 5000; // The server sends once a second.
const POLL_MS = 1000;
const PAUSES_MS = [500, 1000, 2000, 4000, 5000];

class Denied extends Error {}

/**
 * Follows the server until stop(). Calls on.document(whole document), on.device(event) and on.state(kind, why) with
 * kind "events", "polling", "lost" or "denied". token() gives the bearer token, or "".
 */
export class Connection {
  #on;
  #token;
  #stopped = false;
  #wake = () => {};
  #abort = null;

  constructor(on, token) {
    this.#on = on;
    this.#token = token;
  }

  /** Never ends before stop(). */
  async run() {
    let failures = 0;
    while (!this.#stopped) {
      try {
        await this.#follow(() => {
          failures = 0;
        });
      } catch (error) {
        if (this.#stopped) return;
        this.#on.state(error instanceof Denied ? 'denied' : 'lost', error.message);
      }
      await this.#pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
      ++failures;
    }
  }

  /** Tries again now instead of after the pause. */
  retry() {
    this.#wake();
  }

  /** Begins anew: the token is another one. */
  restart() {
    this.#abort?.abort(new Error('begun anew'));
    this.#wake();
  }

  stop() {
    this.#stopped = true;
    this.restart();
  }

  async #follow(succeeded) {
    const events = await this.#events(succeeded);
    if (!events) await this.#poll(succeeded);
  }

  /** False if the server has no events; ends by an exception otherwise. */
  async #events(succeeded) {
    const guard = this.#guard();
    try {
      const answer = await this.#get('events', 'text/event-stream', guard);
      if (!answer) return false;
      if (!(answer.headers.get('Content-Type') ?? '').startsWith('text/event-stream')) {
        guard.abort();
        return false;
      }
      let document = null;
      const stream = new EventStream((name, data) => {
        if (name === 'device') return this.#on.device(JSON.parse(data));
        if (name !== 'status') return;
        const value = parseExactly(data);
        const first = document === null;
        document = first ? value : mergePatch(document, value);
        if (first) {
          succeeded();
          this.#on.state('events', '');
        }
        this.#on.document(document);
      });
      const reader = answer.body.getReader();
      const decoder = new TextDecoder();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) throw new Error('the server ended the events');
        guard.alive();
        stream.push(decoder.decode(value, { stream: true }));
      }
    } finally {
      guard.abort();
    }
  }

  async #poll(succeeded) {
    let first = true;
    while (!this.#stopped) {
      const guard = this.#guard();
      try {
        const answer = await this.#get('status', 'application/json', guard);
        if (!answer) throw new Error('the server has no status here');
        const document = parseExactly(await answer.text());
        succeeded();
        if (first) this.#on.state('polling', '');
        first = false;
        this.#on.document(document);
      } finally {
        guard.abort();
      }
      await this.#pause(POLL_MS);
    }
  }

  /** The answer, null where the server has no such thing; throws for anything else. */
  async #get(path, accept, guard) {
    const headers = { Accept: accept };
    const token = this.#token();
    if (token) headers.Authorization = `Bearer ${token}`;
    const answer = await fetch(path, { headers, cache: 'no-store', signal: guard.signal });
    if (answer.ok) {
      guard.alive();
      return answer;
    }
    guard.abort();
    if (answer.status === 404 || answer.status === 405 || answer.status === 501) return null;
    if (answer.status === 401 || answer.status === 403) throw new Denied('the server wants a token');
    throw new Error(`the server answers ${answer.status}`);
  }

  /** Ends a request that is silent for too long. */
  #guard() {
    const controller = new AbortController();
    const late = () => controller.abort(new Error('no answer'));
    let timer = setTimeout(late, SILENCE_MS);
    const guard = {
      signal: controller.signal,
      alive: () => {
        clearTimeout(timer);
        timer = setTimeout(late, SILENCE_MS);
      },
      abort: reason => {
        clearTimeout(timer);
        controller.abort(reason);
      },
    };
    this.#abort = guard;
    return guard;
  }

  #pause(ms) {
    if (this.#stopped) return Promise.resolve();
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The token in "#token=…", or "". */
export function tokenOf(hash) {
  return new URLSearchParams(hash.replace(/^#/, '')).get('token') ?? '';
}

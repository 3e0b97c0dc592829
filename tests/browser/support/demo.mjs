// rocio demo as a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { tool } from './browser.mjs';

// Addresses that no other test uses.
const DEVICES = ['--device', 'soft:127.0.61.2', '--peer-device', 'soft:127.0.61.3'];

export class Demo {
  port = 0;
  #process = null;

  /** Starts it; a second time on the port of the first. */
  async start(...options) {
    this.#process = spawn(
      tool(),
      [
        'demo',
        ...DEVICES,
        '--http',
        `127.0.0.1:${this.port}`,
        '--seconds',
        '600',
        '--rate',
        '5000',
        ...options,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const said = [];
    for await (const line of createInterface(this.#process.stderr)) {
      said.push(line);
      const found = line.match(/^status http:\/\/127\.0\.0\.1:(\d+)\/status/);
      if (found) {
        this.port = Number(found[1]);
        this.#process.stderr.resume();
        return this;
      }
    }
    throw new Error(`rocio demo did not say where its status is: ${said.join('\n')}`);
  }

  get url() {
    return `http://127.0.0.1:${this.port}/`;
  }

  get pid() {
    return this.#process.pid;
  }

  async status() {
    return (await fetch(`${this.url}status`)).json();
  }

  /** As Ctrl-C does, or SIGKILL. */
  async stop(signal = 'SIGINT') {
    const program = this.#process;
    this.#process = null;
    if (!program || program.exitCode !== null) return;
    const ended = once(program, 'exit');
    program.kill(signal);
    await ended;
  }
}

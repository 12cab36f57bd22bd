// Reads the events of a test run while it goes on (test/support/results.ts), and shows them.
import { open } from 'node:fs/promises';

/** Follows a results file that another process appends to. */
export class Results {
  passed = 0;
  failures = [];
  skips = [];
  /** Tests that failed and then passed, with the error of the first attempt. */
  flaky = [];
  /** How long each test took that passed. @type {{ title: string, ms: number }[]} */
  times = [];
  #retried = new Map();
  ended = false;
  /** Titles of tests that have begun and not ended. */
  running = new Set();
  #position = 0;
  /** @type {Promise<void>} */
  #reading = Promise.resolve();

  constructor(file) {
    this.file = file;
  }

  get executed() {
    return this.passed + this.failures.length;
  }

  /** Takes in what was written since the last call. Calls that overlap take turns, so that no line counts twice. */
  update() {
    const reading = this.#reading.catch(() => undefined).then(() => this.#read());
    this.#reading = reading;
    return reading;
  }

  async #read() {
    const handle = await open(this.file).catch(() => undefined);
    if (!handle) return;
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(size - this.#position);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#position);
      // Lines are cut at their ends only: a character of several bytes may be half there.
      const end = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1;
      this.#position += end;
      for (const line of buffer.subarray(0, end).toString().split('\n')) if (line) this.#take(JSON.parse(line));
    } finally {
      await handle.close();
    }
  }

  #take(event) {
    if (event.type === 'start') this.running.add(event.title);
    else this.running.delete(event.title);
    const first = this.#retried.get(event.title);
    if (event.type === 'retry' && !first) this.#retried.set(event.title, event);
    if (event.type === 'pass') {
      this.passed += 1;
      this.times.push({ title: event.title, ms: event.ms });
      if (first) this.flaky.push(first);
    }
    // The first attempt tells more: a later one may begin where that one stopped.
    if (event.type === 'fail') this.failures.push(first ? { ...event, error: `${first.error}\nand at the second attempt: ${event.error}` } : event);
    if (event.type === 'skip') this.skips.push(event);
    if (event.type === 'end') this.ended = true;
  }
}

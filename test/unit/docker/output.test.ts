import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { CommandOutput } from '../../../src/sandbox/marked/commandOutput.js';
import { FrameReader } from '../../../src/sandbox/docker/frames.js';
import { MarkerScanner } from '../../../src/sandbox/marked/marker.js';

const NONCE = '0123456789abcdeffedcba987654321f';

/** Repeatable numbers from 0 to below `below` (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

function frame(stream: 1 | 2, content: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(content.length, 4);
  return Buffer.concat([header, content]);
}

/** Cuts bytes into pieces of random length, none included. */
function* pieces(bytes: Buffer, next: (below: number) => number, most: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + next(most));
    at += piece.length;
    yield piece;
  }
}

describe('docker output', () => {
  it('ends at its marker, byte for byte, however it is cut', () => {
    for (let seed = 1; seed <= 400; seed++) {
      const next = numbers(seed);
      // Beginnings of the marker everywhere, to be mistaken for it.
      const parts = Array.from({ length: next(12) }, () => [randomBytes(next(40)), Buffer.from(NONCE.slice(0, next(32))), Buffer.from(NONCE.slice(next(31) + 1))][next(3)]!);
      const output = Buffer.concat(parts);
      if (output.includes(NONCE)) continue;
      const scanner = new MarkerScanner(NONCE);
      const got: Buffer[] = [];
      for (const piece of pieces(Buffer.concat([output, Buffer.from(`${NONCE} 137 2\nlate ${NONCE} 0\n`)]), next, 2 + next(50))) got.push(Buffer.from(scanner.push(piece)));
      assert.deepEqual(Buffer.concat(got), output, `seed ${seed}`);
      assert.equal(scanner.found, '137 2');
    }
  });

  it('gives back what looked like a marker if none comes', () => {
    const scanner = new MarkerScanner(NONCE);
    const given = Buffer.concat([scanner.push(Buffer.from(`text ${NONCE.slice(0, 20)}`)), scanner.rest()]);
    assert.equal(given.toString(), `text ${NONCE.slice(0, 20)}`);
  });

  it('is taken out of frames of any size, cut anywhere, both streams apart', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const next = numbers(seed);
      const wanted = { 1: [] as Buffer[], 2: [] as Buffer[] };
      const frames: Buffer[] = [];
      for (let count = next(20); count > 0; count--) {
        const stream = (1 + next(2)) as 1 | 2;
        const content = randomBytes(next(300));
        wanted[stream].push(content);
        frames.push(frame(stream, content));
      }
      const end = Buffer.from(`${NONCE} 3 \n`);
      frames.push(...[frame(1, end.subarray(0, 10)), frame(2, end.subarray(0, 33)), frame(1, end.subarray(10)), frame(2, end.subarray(33))]);
      const socket = new PassThrough();
      const output = new CommandOutput(NONCE);
      const reader = new FrameReader(socket, output);
      output.onWanted = () => reader.resume();
      for (const piece of pieces(Buffer.concat(frames), next, 2 + next(200))) socket.write(piece);
      assert.deepEqual(await output.report, { code: 3, memoryKills: undefined });
      assert.deepEqual(Buffer.concat((await output.stdout.toArray()) as Buffer[]), Buffer.concat(wanted[1]), `seed ${seed}`);
      assert.deepEqual(Buffer.concat((await output.stderr.toArray()) as Buffer[]), Buffer.concat(wanted[2]), `seed ${seed}`);
    }
  });

  it('makes the command wait for a slow reader, and no longer once it is released', async () => {
    const socket = new PassThrough({ highWaterMark: 1 << 16 });
    const output = new CommandOutput(NONCE);
    const reader = new FrameReader(socket, output);
    output.onWanted = () => reader.resume();
    const chunk = frame(1, Buffer.alloc(1 << 16));
    const write = () => new Promise<boolean>((resolve) => setImmediate(() => resolve(socket.write(chunk))));
    let written = 0;
    while (await write()) assert.ok(++written < 100, 'nobody reads, and nothing holds the writer back');
    const drained = new Promise((resolve) => socket.once('drain', resolve));
    output.release();
    await drained;
    output.end();
    assert.ok((await output.stdout.toArray()).length > 0);
  });
});

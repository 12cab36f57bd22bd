/** What no relay of ours would say: in a container it is a process like those that it serves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, type Duplex } from 'node:stream';
import { Channels, WINDOW } from '../../../src/sandbox/network/channels.js';

function frame(type: string, id: number, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(7);
  head.write(type, 'latin1');
  head.writeUInt32BE(id, 1);
  head.writeUInt16BE(data.length, 5);
  return Buffer.concat([head, data]);
}

describe('what a relay says', () => {
  const open = (): { from: PassThrough; to: PassThrough; channels: Channels; opened: Duplex[] } => {
    const [from, to, opened] = [new PassThrough(), new PassThrough(), [] as Duplex[]];
    return { from, to, opened, channels: new Channels(from, to, (each) => opened.push(each)) };
  };

  it('ends it if it breaks the rules, and all its connections', async () => {
    const credit = Buffer.alloc(4);
    credit.writeUInt32BE(1);
    for (const [what, bytes] of [
      ['a frame of no kind', frame('X', 1)],
      ['a connection twice', frame('O', 1)],
      ['credit that was not spent', frame('W', 1, credit)],
      ['credit of no length', frame('W', 1)],
      ['more data than there is room for', Buffer.concat(Array.from({ length: WINDOW / 0x8000 + 1 }, () => frame('D', 1, Buffer.alloc(0x8000))))],
      ['data after the end', Buffer.concat([frame('E', 1), frame('D', 1, Buffer.alloc(1))])],
    ] as const) {
      const { from, to, opened, channels } = open();
      from.write(frame('O', 1));
      await channels.there(1).catch(() => undefined);
      assert.equal(opened.length, 1, what);
      const ended = once(to.resume(), 'end');
      from.write(bytes);
      await ended;
      assert.ok(opened[0]!.destroyed, what);
      assert.equal(await channels.there(1000), false, what);
    }
  });

  it('takes no more memory than it is given, however much it asks and however little it reads', async () => {
    const { from, to, opened } = open();
    const flood = Buffer.concat(Array.from({ length: 10_000 }, (_, index) => Buffer.concat([frame('O', index + 1), frame('D', index + 1, Buffer.alloc(100))])));
    for (let round = 0; round < 400 && !to.writableEnded; round++) if (!from.write(flood)) await once(from, 'drain');
    assert.ok(to.writableEnded, 'it went on');
    assert.ok(to.writableLength < 64 << 20, String(to.writableLength));
    assert.ok(opened.length <= 256, String(opened.length));
  });

  it('may be about a connection that is closed here already, or come in pieces', async () => {
    const { from, to, opened, channels } = open();
    for (const byte of frame('O', 7)) from.write(Buffer.from([byte]));
    from.write(frame('D', 7, Buffer.from('hello')));
    await channels.there(1);
    const [data] = (await once(opened[0]!, 'data')) as [Buffer];
    assert.equal(data.toString(), 'hello');
    opened[0]!.destroy();
    await once(opened[0]!, 'close');
    from.write(Buffer.concat([frame('D', 7, Buffer.from('late')), frame('E', 7), frame('C', 7), frame('O', 8)]));
    await channels.there(1);
    assert.equal(opened.length, 2);
    assert.equal(to.writableEnded, false);
  });
});

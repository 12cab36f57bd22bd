/**
 * Time namespaces in the archive of a checkpoint. A container that CRIU has restored has a time namespace of its own, which the runtime's exec does not enter: what was started in it
 * since has the machine's. CRIU saves that, and then refuses to restore it ("Can't restore sub-task in NS"). So all processes are restored in that of the first one.
 *
 * `ids-PID.img` is two magic numbers, a length and one message, `task_kobj_ids_entry` (github.com/checkpoint-restore/criu, images/core.proto), all of whose fields are varints.
 */
import { SandboxError } from '../errors.js';

/** Of a file with the namespaces of one process, which is small. */
export const IDS = /^checkpoint\/ids-(\d+)\.img$/;
export const MOST_IDS = 4096;
const HEAD = 12;
const TIME_NAMESPACE = 12;

type Field = readonly [number: number, value: number];

/** `image` with the time namespace of `first`. */
export function withTimeNamespaceOf(first: Buffer, image: Buffer): Buffer {
  const time = fieldsOf(first).find(([number]) => number === TIME_NAMESPACE);
  const fields = fieldsOf(image);
  if (!time || !fields.some(([number]) => number === TIME_NAMESPACE)) return image;
  const body = Buffer.from(fields.flatMap((field) => (field[0] === TIME_NAMESPACE ? time : field)).flatMap((value, at) => varint(at % 2 ? value : value << 3)));
  const head = Buffer.from(image.subarray(0, HEAD));
  head.writeUInt32LE(body.length, HEAD - 4);
  return Buffer.concat([head, body]);
}

function fieldsOf(image: Buffer): Field[] {
  const fields: Field[] = [];
  let at = HEAD;
  const read = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = image[at++];
      if (byte === undefined || scale > 2 ** 42) throw new SandboxError('the memory snapshot cannot be read: a process is described in a way that is not known');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const end = image.length < HEAD ? Infinity : HEAD + image.readUInt32LE(HEAD - 4);
  if (end !== image.length) throw new SandboxError('the memory snapshot cannot be read: the description of a process is not whole');
  while (at < end) {
    const key = read();
    if (key & 7) throw new SandboxError('the memory snapshot cannot be read: a process is described in a way that is not known');
    fields.push([key >> 3, read()]);
  }
  return fields;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

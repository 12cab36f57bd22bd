/** ZIP files of a few entries, as other programs write them, and as none should. */
import { crc32 } from './crc32.js';
import { deflateRawSync } from 'node:zlib';

export interface ZipPart {
  readonly name: string;
  readonly data: Buffer | string;
  readonly method?: 'store' | 'deflate' | 'zstd';
  /** `data` is packed already. */
  readonly packed?: boolean;
  /** What the directory says of the size, if it lies. */
  readonly says?: number;
}

/** A Zstandard frame of raw blocks (RFC 8878), for each 100,000 bytes one frame. */
export function zstdOf(data: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let from = 0; from === 0 || from < data.length; from += 100_000) {
    const piece = data.subarray(from, from + 100_000);
    const header = Buffer.alloc(9);
    header.writeUInt32LE(0xfd2fb528, 0);
    header[4] = 0b1010_0000;
    header.writeUInt32LE(piece.length, 5);
    const block = Buffer.alloc(3);
    block.writeUIntLE((piece.length << 3) | 1, 0, 3);
    frames.push(header, block, piece);
  }
  return Buffer.concat(frames);
}

/** A Zstandard frame of so many blocks, each of four bytes that unpack to 128 KiB. */
export function zstdBomb(blocks: number): Buffer {
  const bytes = Buffer.alloc(6 + 4 * blocks);
  bytes.writeUInt32LE(0xfd2fb528, 0);
  bytes[4] = 0;
  bytes[5] = 0x58;
  for (let block = 0; block < blocks; block += 1) {
    bytes.writeUIntLE(((128 << 10) << 3) | (1 << 1) | (block === blocks - 1 ? 1 : 0), 6 + 4 * block, 3);
    bytes[9 + 4 * block] = 32;
  }
  return bytes;
}

export function zipOf(parts: readonly ZipPart[], { zip64 = false } = {}): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, method = 'deflate', says, packed: ready } of parts) {
    const content = Buffer.from(data);
    const packed = method === 'store' || ready ? content : method === 'deflate' ? deflateRawSync(content) : zstdOf(content);
    const size = says ?? content.length;
    const code = { store: 0, deflate: 8, zstd: 93 }[method];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(code, 8);
    local.writeUInt32LE(crc32(content), 14);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(content.length, 22);
    local.writeUInt16LE(Buffer.byteLength(name), 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(code, 10);
    const extra = zip64 ? Buffer.alloc(28) : Buffer.alloc(0);
    if (zip64) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      extra.writeBigUInt64LE(BigInt(size), 4);
      extra.writeBigUInt64LE(BigInt(packed.length), 12);
      extra.writeBigUInt64LE(BigInt(offset), 20);
    }
    central.writeUInt32LE(zip64 ? 0xffffffff : packed.length, 20);
    central.writeUInt32LE(zip64 ? 0xffffffff : size, 24);
    central.writeUInt16LE(Buffer.byteLength(name), 28);
    central.writeUInt16LE(extra.length, 30);
    central.writeUInt32LE(zip64 ? 0xffffffff : offset, 42);
    pieces.push(local, Buffer.from(name), packed);
    directory.push(central, Buffer.from(name), extra);
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const central = Buffer.concat(directory);
  const ends: Buffer[] = [];
  if (zip64) {
    const end64 = Buffer.alloc(56 + 20);
    end64.writeUInt32LE(0x06064b50, 0);
    end64.writeBigUInt64LE(BigInt(parts.length), 32);
    end64.writeBigUInt64LE(BigInt(central.length), 40);
    end64.writeBigUInt64LE(BigInt(offset), 48);
    end64.writeUInt32LE(0x07064b50, 56);
    end64.writeBigUInt64LE(BigInt(offset + central.length), 64);
    ends.push(end64);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(zip64 ? 0xffff : parts.length, 8);
  end.writeUInt16LE(zip64 ? 0xffff : parts.length, 10);
  end.writeUInt32LE(zip64 ? 0xffffffff : central.length, 12);
  end.writeUInt32LE(zip64 ? 0xffffffff : offset, 16);
  return Buffer.concat([...pieces, central, ...ends, end]);
}

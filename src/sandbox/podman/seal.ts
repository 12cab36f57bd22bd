/**
 * Who made a memory snapshot that comes from a file. What CRIU reads has processes go on with the credentials, the capabilities, the filters of system calls and the mounts that it
 * names, made by root before anything confines them: whoever writes it is root on the machine where it is restored, and no check of what Podman says around it changes that. So nothing
 * of such a file is used unless it bears the signature (Ed25519) of this user, or of somebody whose key this user has put among those that are trusted.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, verify, type KeyObject } from 'node:crypto';
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError, Unsupported } from '../errors.js';

export interface Seal {
  /** Of whoever made it: the 32 bytes of a public key, in base64url. */
  readonly key: string;
  /** In base64url. */
  readonly signature: string;
}

const KEY = /^[A-Za-z0-9_-]{43}$/;
const MOST_TRUSTED = 1 << 20;

export class Seals {
  private readonly own: string;
  private readonly trusted: string;

  /** The user's folder of settings of this project. */
  constructor(private readonly folder: string) {
    this.own = join(folder, 'memory-snapshots.key');
    this.trusted = join(folder, 'memory-snapshots.trusted');
  }

  async seal(text: string): Promise<Seal> {
    const key = (await this.privateKey()) ?? (await this.makeKey());
    return { key: nameOf(key), signature: sign(null, Buffer.from(text), key).toString('base64url') };
  }

  /** Rejects with `Unsupported` and one sentence unless somebody trusted has signed the text. */
  async require(text: string, { key, signature }: Seal): Promise<void> {
    if (!KEY.test(key) || !signed(text, key, signature)) throw new SandboxError('the memory snapshot is not what its maker has signed');
    const own = await this.privateKey();
    if (own && nameOf(own) === key) return;
    const lines = ((await this.privateText(this.trusted)) ?? '').split('\n');
    if (lines.some((line) => line.trim().split(/\s/)[0] === key)) return;
    throw new Unsupported(`the memory snapshot was made by the key ${key}, which is not yours: whoever makes one can do anything as root where it is restored; if you trust that much in its maker, add the key as a line to ${this.trusted}`);
  }

  private async privateKey(): Promise<KeyObject | undefined> {
    const text = await this.privateText(this.own);
    if (text === undefined) return undefined;
    try {
      return createPrivateKey(text);
    } catch (cause) {
      throw new SandboxError(`${this.own} holds no key; remove it, and another one is made`, { cause });
    }
  }

  /** Complete from its first instant, and one for all processes: the first that makes it wins. */
  private async makeKey(): Promise<KeyObject> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = `${this.own}.${randomBytes(4).toString('hex')}`;
    const text = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    try {
      await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
      await link(draft, this.own).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(draft, { force: true });
    }
    return (await this.privateKey())!;
  }

  /** A file that nobody else can have written or, if it is the key, read; undefined if there is none. */
  private async privateText(path: string): Promise<string | undefined> {
    const file = await open(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new SandboxError(`${path} cannot be read: ${error.message}`, { cause: error });
    });
    if (!file) return undefined;
    try {
      const { uid, mode, size } = await file.stat();
      const forbidden = path === this.own ? 0o077 : 0o022;
      if (process.getuid && (![0, process.getuid()].includes(uid) || (mode & forbidden) !== 0)) throw new SandboxError(`${path} is not yours alone; \`chown\` it, and \`chmod ${path === this.own ? '600' : '644'}\``);
      if (size > MOST_TRUSTED) throw new SandboxError(`${path} is too large`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  }
}

const nameOf = (key: KeyObject): string => createPublicKey(key).export({ format: 'jwk' }).x!;

function signed(text: string, x: string, signature: string): boolean {
  try {
    return verify(null, Buffer.from(text), createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

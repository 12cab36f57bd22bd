/**
 * Which hosts a sandbox may reach. An entry is a name (`site.org`), all names below one (`*.example.com`, not `example.com` itself), an address or a
 * range of addresses (`10.1.2.3`, `10.0.0.0/8`, `[2001:db8::1]`), each with a port (`site.org:8443`) or for ports 80 and 443.
 *
 * A name is reached only at public addresses and at those that an entry of their own allows: otherwise whoever answers for an allowed name could
 * lead into the machine's own network.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { Unsupported } from '../errors.js';
import { isPublic } from './addresses.js';

/** Most entries of one list. */
export const MOST_ENTRIES = 200;
const DEFAULT_PORTS: readonly number[] = [80, 443];

/** Addresses of a name, in the order to try them. */
export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export type Verdict =
  /** What may be connected to, and nothing else: the name is not looked up again. */
  | { readonly addresses: readonly string[] }
  /** Why not, as the end of a sentence whose subject is the host. */
  | { readonly refused: string };

interface Rule {
  readonly ports: readonly number[];
  readonly name?: string;
  /** `.example.com` */
  readonly below?: string;
  readonly addresses?: BlockList;
}

const ENTRY = /^(?:\[([0-9a-f:.]+)(?:\/(\d{1,3}))?\]|([0-9a-z.*_-]+)(?:\/(\d{1,2}))?)(?::(\d{1,5}))?$/;
const NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

export class AllowList {
  private readonly rules: readonly Rule[];

  /** @throws Unsupported at an entry that is none */
  constructor(readonly entries: readonly string[]) {
    if (entries.length > MOST_ENTRIES) throw new Unsupported(`a list of allowed hosts has at most ${MOST_ENTRIES} entries`);
    this.rules = entries.map(ruleOf);
  }

  /** What may be connected to when a program asks for a host and a port. Rejects with the lookup's error. */
  async admit(asked: string, port: number, lookup: Lookup, signal: AbortSignal): Promise<Verdict> {
    const host = canonical(asked);
    if (isIP(host) !== 0) return this.allowsAddress(host, port) ? { addresses: [host] } : { refused: this.why((rule) => has(rule, host)) };
    if (!this.rules.some((rule) => named(rule, host) && rule.ports.includes(port))) return { refused: this.why((rule) => named(rule, host)) };
    const found = await lookup(host, signal);
    const addresses = found.filter((address) => isPublic(address) || this.allowsAddress(address, port));
    if (addresses.length > 0 || found.length === 0) return { addresses };
    return { refused: `leads to ${found[0]}, which is no public address: such an address needs an entry of its own` };
  }

  private allowsAddress(address: string, port: number): boolean {
    return this.rules.some((rule) => has(rule, address) && rule.ports.includes(port));
  }

  private why(applies: (rule: Rule) => boolean): string {
    const ports = [...new Set(this.rules.filter(applies).flatMap((rule) => rule.ports))];
    return ports.length === 0 ? 'is not in the list of allowed hosts' : `is allowed on port ${ports.join(' and ')} only`;
  }
}

function ruleOf(entry: string): Rule {
  const [, v6, bits6, host, bits, port] = ENTRY.exec(entry.toLowerCase()) ?? [];
  const ports = port === undefined ? DEFAULT_PORTS : [Number(port)];
  const address = v6 ?? host;
  const prefix = bits6 ?? bits;
  const family = address === undefined ? 0 : isIP(address);
  const sound = ports.every((each) => each > 0 && each < 65_536) && (v6 === undefined || family === 6);
  if (sound && family !== 0 && address !== undefined && Number(prefix ?? 0) <= (family === 4 ? 32 : 128)) {
    const addresses = new BlockList();
    if (prefix === undefined) addresses.addAddress(address, family === 4 ? 'ipv4' : 'ipv6');
    else addresses.addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
    return { ports, addresses };
  }
  // What ends in a number is an address to some programs (`127.1`, `0x7f.1`), never a name.
  if (!sound || host === undefined || prefix !== undefined || host.length > 253 || !NAME.test(host) || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(host)) {
    throw new Unsupported(`${JSON.stringify(entry.slice(0, 100))} is no host that a network can allow`);
  }
  return host.startsWith('*.') ? { ports, below: host.slice(1) } : { ports, name: host };
}

export const canonical = (host: string): string => host.toLowerCase().replace(/\.$/, '');
const named = ({ name, below }: Rule, host: string): boolean => name === host || (below !== undefined && host.endsWith(below) && host.length > below.length && NAME.test(host));
const has = ({ addresses }: Rule, address: string): boolean => addresses?.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') ?? false;

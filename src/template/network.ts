/** Hosts that a sandbox may reach, as a template names them. What they mean is in `src/sandbox/network/allowList.ts`, which reads them once more. */
import { isIP } from 'node:net';
import * as z from 'zod';

export type NetworkPolicy = 'none' | 'full' | { readonly allow: readonly string[] };

const LABEL = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
/** A name whose last part is no number, an address, or a range of addresses; those of IPv6 in brackets. */
const FORM = new RegExp(`^((\\*\\.)?(${LABEL}\\.)*(?!([0-9]+|0[xX][0-9A-Fa-f]*)(:|$))${LABEL}|[0-9]{1,3}(\\.[0-9]{1,3}){3}(/[0-9]{1,2})?|\\[[0-9A-Fa-f:.]+(/[0-9]{1,3})?\\])(:[1-9][0-9]{0,4})?$`);
const EXPECTED = 'expected a host such as `site.org`, `*.example.com`, `site.org:8443` or `10.0.0.0/8`';

/** What no pattern says: numbers that are too big. */
function isSound(entry: string): boolean {
  const [, host = '', port = '1'] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (Number(port) > 65_535) return false;
  if (!/^(\[|[\d./]+$)/.test(host)) return true;
  const [address = '', bits = '0'] = host.replace(/^\[|\]$/g, '').split('/');
  return host.startsWith('[') ? isIP(address) === 6 && Number(bits) <= 128 : isIP(address) === 4 && Number(bits) <= 32;
}

/** What was probably meant. */
function expectation(written: unknown): string {
  if (written === '*' || written === '*:*') return 'expected `full` in place of `allow` where every host is allowed';
  const [, host] = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/?#\s]+)/i.exec(String(written)) ?? [];
  if (host !== undefined && FORM.test(host)) return `expected a host without a scheme and a path, such as \`${host}\``;
  return EXPECTED;
}
const error = ({ input }: { input?: unknown }): string => expectation(input);

const host = z.string(EXPECTED).regex(FORM, { error, abort: true }).refine(isSound, { error });

export const allow = z
  .array(host, 'expected a list of hosts, such as `[site.org, packages.site-data.org]`')
  .min(1, 'expected at least one host; without any, the policy is `none`')
  .max(200)
  .describe('Hosts that may be reached through a proxy, and nothing else: `site.org` (ports 80 and 443), `*.example.com` (all below it), `site.org:8443`, `10.0.0.0/8`.');

const policy = z.union([z.enum(['none', 'full']), z.strictObject({ allow })], 'expected `none`, `full`, or `{allow: [hosts]}`');

export const network = z
  .union(
    [
      z.enum(['none', 'full']),
      z.strictObject({
        setup: policy.default('full').describe('Network while packages are installed and setup runs.'),
        episode: policy.default('none').describe('Network while an episode runs.'),
        allow: allow.optional(),
      }),
    ],
    'expected `none`, `full`, `{allow: [hosts]}`, or `{setup: full, episode: none}`',
  )
  .describe('Network while setting up and while an episode runs: `none`, `full`, or `allow` with a list of hosts; one of them means both. Without it, setup has a network and episodes have none.');

/** Which addresses a name of the internet may lead to. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Not globally reachable, by the special-purpose registries (https://www.iana.org/assignments/iana-ipv4-special-registry, and -ipv6-), and multicast. Ranges for
 * documentation are left out: they are no network of anybody's, and closed machines have their mirrors of public hosts there.
 */
const SPECIAL = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.88.99.0', 24],
  ['192.168.0.0', 16], ['198.18.0.0', 15], ['224.0.0.0', 3],
] as const) SPECIAL.addSubnet(network, prefix);
/** The metadata service of Azure lies among public addresses. */
SPECIAL.addAddress('168.63.129.16');
for (const [network, prefix] of [['2001::', 23], ['2002::', 16]] as const) SPECIAL.addSubnet(network, prefix, 'ipv6');

/** All that is assigned for global unicast. Addresses that stand for others (`::ffff:0:0/96`, `64:ff9b::/96`) lie outside. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('2000::', 3, 'ipv6');

/** Whether it is an address of the internet at large: not this machine, nor anything that only its network can reach. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  if (Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address))) return false;
  return isIPv4(address) ? !SPECIAL.check(address) : GLOBAL.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6');
}

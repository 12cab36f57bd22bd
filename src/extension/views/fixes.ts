/** What helps when a provider does not answer: a command for the terminal, typed but not run, or a page. */
import type { ProviderReport } from '../../runner/api.js';

export type Fix = { readonly kind: 'terminal'; readonly command: string } | { readonly kind: 'page'; readonly url: string } | { readonly kind: 'doctor' };

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Text of /etc/os-release; empty elsewhere. */
  readonly osRelease: string;
  readonly root: boolean;
}

/** First of these that the system is, or is like, says how packages are installed. */
const INSTALLERS: readonly (readonly [RegExp, string])[] = [
  [/debian|ubuntu/, 'apt-get install -y'],
  [/fedora|rhel|centos/, 'dnf install -y'],
  [/suse/, 'zypper install -y'],
  [/arch/, 'pacman -S --needed'],
  [/alpine/, 'apk add'],
];

export function fixFor({ id, code }: ProviderReport, machine: Machine): Fix {
  const sudo = machine.root ? '' : 'sudo ';
  if (id === 'bubblewrap' && code === 'not-installed' && machine.platform === 'linux') {
    const installer = installerOf(machine.osRelease);
    return installer ? { kind: 'terminal', command: `${sudo}${installer} bubblewrap` } : { kind: 'page', url: 'https://github.com/containers/bubblewrap#installation' };
  }
  if (id !== 'docker') return { kind: 'doctor' };
  switch (code) {
    case 'not-installed':
      return { kind: 'page', url: 'https://docs.docker.com/engine/install/' };
    case 'not-running':
      return { kind: 'terminal', command: machine.platform === 'linux' ? `${sudo}systemctl start docker` : 'docker desktop start' };
    case 'permission':
      return machine.platform === 'linux' ? { kind: 'page', url: 'https://docs.docker.com/engine/install/linux-postinstall/' } : { kind: 'doctor' };
    case 'wrong-context':
      return { kind: 'terminal', command: 'docker context use default' };
    default:
      return { kind: 'doctor' };
  }
}

function installerOf(osRelease: string): string | undefined {
  const ids = [...osRelease.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)"?$/gm)].map(([, value]) => value).join(' ');
  return INSTALLERS.find(([system]) => system.test(ids))?.[1];
}

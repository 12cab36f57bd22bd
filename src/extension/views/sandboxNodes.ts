/** Live sandboxes and what is beneath each as tree items. */
import * as l10n from '@vscode/l10n';
import type { SandboxReport, SandboxUsage, ServiceReport } from '../../runner/sandboxApi.js';
import type { FileEntry } from '../../sandbox/provider.js';
import { formatBytes, formatDuration, oneLine } from '../format.js';
import { Commands, InternalCommands, Items, type ItemId } from '../ids.js';
import type { KnownSandbox } from '../sandboxes.js';
import type { FileRef, Node, SandboxRef } from './node.js';

/** A sandbox that will be ended within this time says so. */
const EXPIRY_NOTICE_MS = 15 * 60_000;
/** More than these in a folder, or of ports, are not listed one by one. */
const MOST_CHILDREN = 500;

export const sandboxName = ({ labels, provider, id }: Pick<SandboxReport, 'labels' | 'provider' | 'id'>): string => oneLine([labels.template ?? provider, id.slice(-4)].join('-'), 80);

export const sandboxNodeId = ({ provider, id }: Pick<SandboxRef, 'provider' | 'id'>): string => `sandbox:${provider}:${id}`;

export function sandboxNode({ root, sandbox }: KnownSandbox): Node {
  const { provider, attached, usage } = sandbox;
  const name = sandboxName(sandbox);
  const description = [provider, state(sandbox), figures(usage), origin(sandbox), expiry(sandbox)].filter(Boolean).join('  ');
  // Without the figures: a screen reader would begin anew with each of them.
  const heard = [provider, state(sandbox), origin(sandbox), expiry(sandbox)].filter(Boolean).join(', ');
  return {
    id: sandboxNodeId(sandbox),
    label: name,
    description,
    spoken: l10n.t('Sandbox {0}, {1}', name, heard),
    tooltip: () => tooltip(sandbox),
    icon: icon(sandbox),
    item: itemOf(sandbox),
    ...(attached && { children: 'collapsed' as const }),
    sandbox: { root, id: sandbox.id, provider },
  };
}

export const isSuspended = ({ attached, state }: SandboxReport): boolean => attached && state === 'suspended';
export const isSuspendable = (sandbox: SandboxReport): boolean => sandbox.attached && sandbox.suspendable === true && !isSuspended(sandbox);

function itemOf(sandbox: SandboxReport): ItemId {
  if (!sandbox.attached) return Items.foreignSandbox;
  if (isSuspended(sandbox)) return Items.suspendedSandbox;
  return isSuspendable(sandbox) ? Items.suspendableSandbox : Items.sandbox;
}

/** Age, while it is well: in minutes, so that the item is not drawn again each second. */
function state({ state, ageMs }: SandboxReport): string {
  if (state === 'starting') return l10n.t('starting');
  if (state === 'exited') return l10n.t('ended');
  if (state === 'suspended') return l10n.t('suspended');
  const minutes = Math.floor(ageMs / 60_000);
  return minutes < 1 ? l10n.t('< 1 min') : minutes < 120 ? l10n.t('{0} min', minutes) : formatDuration(ageMs);
}

const figures = (usage: SandboxUsage | undefined): string | undefined =>
  usage && [...(usage.cpu === null ? [] : [formatCpu(usage.cpu)]), formatBytes(usage.memory)].join('  ');

/** Of one core, as `top` says it: 200 % are two cores. */
const formatCpu = (cores: number): string => `${Math.round(cores * 100)} %`;

function origin({ origin, orphan, labels, attached }: SandboxReport): string | undefined {
  if (orphan) return l10n.t('orphan');
  switch (origin) {
    case 'opened':
      return attached ? undefined : l10n.t('another process');
    case 'forked':
      return l10n.t('fork');
    case 'kept':
      return labels.episode === undefined ? l10n.t('kept') : l10n.t('kept from episode {0}', labels.episode);
    case 'other':
      return labels.episode === undefined ? (labels.run === undefined && !attached ? l10n.t('another process') : undefined) : l10n.t('episode {0}', labels.episode);
  }
}

function expiry({ remainingMs }: SandboxReport): string | undefined {
  if (typeof remainingMs !== 'number' || remainingMs > EXPIRY_NOTICE_MS) return undefined;
  // In steps, so that the item is not drawn again each second.
  return remainingMs < 60_000 ? l10n.t('expires within a minute') : l10n.t('expires in {0}', formatDuration(Math.ceil(remainingMs / 60_000) * 60_000));
}

function icon({ state, services, orphan }: SandboxReport): NonNullable<Node['icon']> {
  if (state === 'starting') return { id: 'loading~spin' };
  if (state === 'exited' || orphan) return { id: 'vm-outline', color: 'list.warningForeground' };
  if (state === 'suspended') return { id: 'debug-pause' };
  return services.some((service) => service.state === 'failed') ? { id: 'vm-running', color: 'list.warningForeground' } : { id: 'vm-running' };
}

function tooltip(sandbox: SandboxReport): string {
  const { id, provider, state, labels, file, usage, network, remainingMs, ageMs, orphan } = sandbox;
  const lines = [l10n.t('{0} on {1}, {2}', id, provider, state)];
  if (file) lines.push(oneLine(file, 300));
  if (labels.snapshot) lines.push(l10n.t('restored from snapshot {0}', oneLine(labels.snapshot)));
  if (labels.run) lines.push(l10n.t('run {0}', oneLine(labels.run)));
  lines.push(l10n.t('started {0} ago', formatDuration(ageMs)));
  if (usage) lines.push(l10n.t('processor time {0}, memory {1}, {2} processes', formatDuration(usage.cpuMs), formatBytes(usage.memory), usage.pids));
  if (network) lines.push(networkLine(network));
  if (sandbox.billed) lines.push(l10n.t('It is billed while it lives, also while nothing runs in it.'));
  if (orphan) lines.push(l10n.t('The process that made it is gone.'));
  else if (remainingMs === null) lines.push(l10n.t('It stays until somebody terminates it.'));
  else if (remainingMs !== undefined) lines.push(l10n.t('It is terminated in {0}, unless it is kept warm.', formatDuration(Math.max(0, remainingMs))));
  return lines.join('\n');
}

function networkLine({ policy, refused, lastRefused }: NonNullable<SandboxReport['network']>): string {
  if (policy === 'none') return l10n.t('without a network');
  if (policy === 'full') return l10n.t('with the network of this machine');
  const hosts = oneLine(policy.allow.join(', '), 200);
  if (refused === undefined) return l10n.t('network: only {0}', hosts);
  return l10n.t('network: only {0}; {1} requests refused, the last to {2}', hosts, refused, oneLine(lastRefused ?? '', 100));
}

export interface OpenTerminal {
  readonly number: number;
  readonly name: string;
}

/** What is beneath a sandbox: terminals, services and ports, and last its files, which may be many. */
export function sandboxChildren({ root, sandbox }: KnownSandbox, terminals: readonly OpenTerminal[]): Node[] {
  if (!sandbox.attached) return [];
  const ref: SandboxRef = { root, id: sandbox.id, provider: sandbox.provider };
  const id = sandboxNodeId(ref);
  const files = l10n.t('Files');
  const forwards = new Map(sandbox.forwards.map((forward) => [forward.port, forward]));
  const ports = new Map((sandbox.ports ?? []).map((one) => [one.port, one.address]));
  for (const { port } of sandbox.forwards) if (!ports.has(port)) ports.set(port, '');
  return [
    ...terminals.map(({ number, name }): Node => ({
      id: `${id}:terminal:${number}`, label: name, spoken: l10n.t('Terminal {0}', name), icon: { id: 'terminal' }, item: Items.terminal, terminal: number,
      command: { id: InternalCommands.showTerminal, title: l10n.t('Show Terminal'), arguments: [number] },
    })),
    ...sandbox.services.map((service) => serviceNode(ref, id, service)),
    ...[...ports].sort(([a], [b]) => a - b).slice(0, MOST_CHILDREN).map(([port, address]) => portNode(ref, id, port, address, forwards.get(port)?.localPort)),
    { id: `${id}:files`, label: files, spoken: l10n.t('Files of sandbox {0}', sandboxName(sandbox)), icon: { id: 'files' }, item: Items.files, children: 'collapsed', file: { ...ref, path: '/', folder: true, size: 0 } },
  ];
}

const SERVICE_ICONS: Readonly<Record<ServiceReport['state'], NonNullable<Node['icon']>>> = {
  starting: { id: 'loading~spin' },
  ready: { id: 'server-process' },
  failed: { id: 'error', color: 'list.errorForeground' },
  ended: { id: 'circle-slash', color: 'list.warningForeground' },
};

function serviceNode(ref: SandboxRef, id: string, { name, state, problem, readyMs }: ServiceReport): Node {
  const label = oneLine(name, 80);
  const words = { starting: l10n.t('starting'), ready: readyMs === undefined ? l10n.t('ready') : l10n.t('ready after {0}', formatDuration(readyMs)), failed: l10n.t('failed'), ended: l10n.t('ended') };
  const description = [words[state], problem && oneLine(problem)].filter(Boolean).join(': ');
  const service = { ...ref, service: name };
  return {
    id: `${id}:service:${name}`,
    label,
    description,
    spoken: l10n.t('Service {0}, {1}', label, description),
    tooltip: () => [label, problem ? oneLine(problem, 400) : description].join('\n'),
    icon: SERVICE_ICONS[state],
    item: Items.service,
    command: { id: Commands.showSandboxLogs, title: l10n.t('Show Logs'), arguments: [service] },
    service,
  };
}

function portNode(ref: SandboxRef, id: string, port: number, address: string, localPort: number | undefined): Node {
  const label = l10n.t('Port {0}', port);
  const description = [...(address ? [oneLine(address, 50)] : [l10n.t('nothing listens')]), ...(localPort === undefined ? [] : [`→ localhost:${localPort}`])].join('  ');
  return {
    id: `${id}:port:${port}`,
    label,
    description,
    spoken: localPort === undefined ? l10n.t('Port {0}, {1}', port, description) : l10n.t('Port {0}, forwarded to port {1} of this machine', port, localPort),
    icon: { id: localPort === undefined ? 'plug' : 'radio-tower' },
    item: localPort === undefined ? Items.port : Items.forwardedPort,
    port: { ...ref, port },
  };
}

/** What a folder of a sandbox holds, folders first. */
export function fileNodes(parent: FileRef, entries: readonly FileEntry[]): Node[] {
  const sorted = [...entries].sort((a, b) => Number(b.type === 'directory') - Number(a.type === 'directory') || (a.name < b.name ? -1 : 1));
  const nodes = sorted.slice(0, MOST_CHILDREN).map((entry) => fileNode(parent, entry));
  const hidden = sorted.length - nodes.length;
  const label = l10n.t('{0} more', hidden);
  return hidden > 0 ? [...nodes, { id: `${fileNodeId(parent)}:more`, label, spoken: label, icon: { id: 'ellipsis' } }] : nodes;
}

export const fileNodeId = ({ path, ...ref }: FileRef): string => (path === '/' ? `${sandboxNodeId(ref)}:files` : `${sandboxNodeId(ref)}:file:${path}`);

function fileNode(parent: FileRef, { name, type, link, size }: FileEntry): Node {
  const folder = type === 'directory';
  const file: FileRef = { ...parent, path: `${parent.path === '/' ? '' : parent.path}/${name}`, folder, size };
  const label = oneLine(name, 200);
  const description = [...(link ? [l10n.t('link')] : []), ...(type === 'file' ? [formatBytes(size)] : type === 'other' && !link ? [l10n.t('special file')] : [])].join('  ');
  return {
    id: fileNodeId(file),
    label,
    ...(description && { description }),
    spoken: folder ? l10n.t('Folder {0}', label) : l10n.t('File {0}, {1}', label, description),
    icon: { id: folder ? 'folder' : link ? 'file-symlink-file' : 'file' },
    item: folder ? Items.folder : Items.file,
    ...(folder && { children: 'collapsed' as const }),
    ...(type === 'file' && { command: { id: InternalCommands.openSandboxFile, title: l10n.t('Open File'), arguments: [file] } }),
    file,
  };
}

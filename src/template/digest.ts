/** What a build is made of, as digests: equal digests mean that a snapshot can be used again, and the parts say what changed. */
import { createHash, type Hash } from 'node:crypto';
import { resolve, sep } from 'node:path';
import { hashFiles, type HostFile, NotCopyable } from './files.js';
import { TemplateError, type SetupStep, type Template } from './template.js';

export type DigestPart = 'image' | 'packages' | 'files' | 'setup' | 'env' | 'network' | 'platform' | 'provider';

export interface DigestContext {
  readonly provider: string;
  /** System and architecture that the build is for, such as `linux/amd64`. */
  readonly platform: string;
  /** Digest of what the build starts from, as the provider resolved it. */
  readonly base: string;
  readonly signal?: AbortSignal;
}

/** What a digest is made of: a scoring sandbox of a reward has the same. */
export type Digestible = Pick<Template, 'file' | 'packages' | 'env' | 'secrets' | 'files' | 'network' | 'setup' | 'user' | 'writable'>;

/** Part of every digest: to be raised when the same template would be built in another way. */
const FORMAT = 'rlenv-build-1';

/**
 * SHA-256 over all that goes into a build and over each part of it, hex. What an episode does and how it is scored are no part of it.
 *
 * @throws TemplateError where a file of the template cannot be copied.
 */
export async function templateDigest(template: Digestible, context: DigestContext): Promise<{ digest: string; parts: Record<DigestPart, string> }> {
  const parts: Record<DigestPart, string> = {
    image: hashJson(context.base),
    packages: hashJson({ apt: [...template.packages.apt].sort(), python: [...template.packages.python].sort() }),
    files: await filesDigest(template, context.signal),
    setup: hashJson([...template.setup.map(stepContent), ...writers(template)]),
    // Names only: with another value of a secret the build is the same, and a digest of a short secret would give it away.
    env: hashJson({ env: template.env, secrets: Object.keys(template.secrets).sort() }),
    network: hashJson(template.network.setup),
    platform: hashJson(context.platform),
    provider: hashJson(context.provider),
  };
  return { digest: hashJson({ format: FORMAT, parts }), parts };
}

/**
 * SHA-256, hex, over what is asked of episodes besides the build, and over how they are scored. Seeds, samples and time limits of a run are no part of it.
 *
 * `scorers`: digests of the builds of second sandboxes.
 */
export async function askedDigests(template: Template, scorers: readonly string[] = [], signal?: AbortSignal): Promise<{ readonly episode: string; readonly reward: string }> {
  const { episode, task, network, isolation, resources, services, reward, rewardRange, directory } = template;
  // Where the folder of the template lies is no part of what is in it.
  const below = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' && item.startsWith(directory + sep) ? item.slice(directory.length + 1) : item)));
  const files = reward.flatMap((each) => (each.type === 'diff' ? [each.expected] : each.type === 'scorer' ? each.command.map((word) => resolve(directory, word)) : []));
  return {
    episode: hashJson({ run: episode.run, python: episode.python, task, network: network.episode, isolation, resources, services }),
    reward: hashJson({ reward: below(reward), rewardRange, scorers, files: await Promise.all(files.map((file) => hostDigest(file, signal))) }),
  };
}

/** Of what lies on the host; null where nothing does, as for a word of a command that is no file. */
async function hostDigest(path: string, signal?: AbortSignal): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const file of hashFiles(path, signal)) fileFields(hash, file);
  } catch (error) {
    if (error instanceof NotCopyable) return null;
    throw error;
  }
  return hash.digest('hex');
}

/** SHA-256 of a template's text, hex. */
export const sourceDigest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** How long a step may take does not change what it leaves. */
const stepContent = (step: SetupStep): unknown => (step.run === undefined ? { python: step.python } : { run: step.run });

/** The build makes folders for a user that is not root, and where the root is read-only. */
const writers = ({ user, writable }: Digestible): unknown[] => (user === undefined && writable === undefined ? [] : [{ user, writable }]);

async function filesDigest(template: Digestible, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for (const [index, { from, to }] of template.files.entries()) {
    field(hash, to);
    try {
      for await (const file of hashFiles(from, signal)) fileFields(hash, file);
    } catch (error) {
      if (!(error instanceof NotCopyable)) throw error;
      throw new TemplateError([{ file: template.file, line: 1, column: 1, endLine: 1, endColumn: 1, severity: 'error', message: error.message, path: `files[${index}].from` }]);
    }
  }
  return hash.digest('hex');
}

function fileFields(hash: Hash, { path, kind, mode, target = '', content = '' }: HostFile): void {
  for (const part of [path, kind, mode.toString(8), target, content]) field(hash, part);
}

/** Length first, so that no two lists of fields run together into the same bytes. */
function field(hash: Hash, text: string): void {
  const bytes = Buffer.from(text);
  hash.update(`${bytes.length}:`).update(bytes);
}

const hashJson = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

/** JSON with the keys of every object in order. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

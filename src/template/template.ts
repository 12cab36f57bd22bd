/** A loaded template: the file's content with defaults resolved, as the rest of the project uses it. */
import type { NetworkPolicy } from './network.js';
import type { PolicySpec } from './policySchema.js';
import type { TemplateInput } from './schema.js';

export type { PolicySpec } from './policySchema.js';
export type PolicyName = PolicySpec['name'];

/** `timeout` in milliseconds. */
export type SetupStep = ({ readonly run: string; readonly python?: undefined } | { readonly python: string; readonly run?: undefined }) & { readonly timeout?: number };

/** A program that is started in every sandbox. */
export interface ServiceSpec {
  readonly name: string;
  readonly run: string;
  /** Ready at once if absent. */
  readonly ready?: { readonly port: number } | { readonly http: { readonly port: number; readonly path: string } } | { readonly command: string };
  readonly timeoutMs: number;
}

type ComponentInput = Extract<TemplateInput['reward'], { type: string }>;
/** As written, but for the second sandbox of a reward model, whose short forms are written out as in the template itself. */
export type RewardComponentSpec =
  | Exclude<ComponentInput, { type: 'sandbox' }>
  | (Omit<Extract<ComponentInput, { type: 'sandbox' }>, 'resources' | 'env' | 'setup'> & Pick<Template, 'resources' | 'env' | 'setup'>);
export type RewardType = RewardComponentSpec['type'];

/** One problem of a template file. Lines and columns count from 1, as people and compilers do. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly severity: 'error' | 'warning';
  /** One sentence: what was found, what was expected, the nearest name where a name is wrong. */
  readonly message: string;
  /** Where in the document, such as `resources.memory`. */
  readonly path: string;
}

/** All problems of a file at once. */
export class TemplateError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'TemplateError';
  }
}

/** `file:line:column: error: message`, the form that editors and terminals link. */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.severity}: ${problem.message}`;
}

export interface Template {
  /** Absolute path of the file. */
  readonly file: string;
  /** Absolute path of its folder; relative paths in the template are relative to it. */
  readonly directory: string;
  readonly name: string;
  readonly description?: string;
  readonly provider?: string;
  /** `image` is absolute if it is a root folder; `dockerfile` holds absolute paths. */
  readonly base: { readonly image?: string; readonly dockerfile?: { readonly file: string; readonly context: string } };
  readonly packages: { readonly apt: readonly string[]; readonly python: readonly string[] };
  readonly resources: { readonly cpu?: number; readonly memory?: number; readonly pids?: number; readonly disk?: number; readonly gpu?: { readonly count: number | 'all'; readonly model?: string; readonly ids?: readonly string[]; readonly share?: number } };
  readonly env: Readonly<Record<string, string>>;
  /** Name inside the sandbox to name in the environment of whoever runs it. */
  readonly secrets: Readonly<Record<string, string>>;
  /** `from` is absolute. */
  readonly files: readonly { readonly from: string; readonly to: string }[];
  readonly network: { readonly setup: NetworkPolicy; readonly episode: NetworkPolicy };
  readonly isolation: 'default' | 'gvisor';
  /** Who episodes run as, in the image. */
  readonly user?: string;
  /** Where alone an episode can write, besides `/tmp` and the working folder, as absolute paths; anywhere if absent. */
  readonly writable?: readonly string[];
  readonly services: readonly ServiceSpec[];
  readonly setup: readonly SetupStep[];
  readonly episode: {
    readonly run?: string;
    readonly python?: string;
    readonly timeoutMs: number;
    readonly seeds: SeedSet;
    readonly samples: number;
  };
  /** What an agent is asked to do. */
  readonly task?: string;
  /** The policy that acts where nobody asks for another. */
  readonly policy: PolicySpec;
  /** The reference solution, which the oracle runs. */
  readonly solution?: { readonly run?: string; readonly python?: string };
  /** At least one; a single one has weight 1 unless written otherwise. `expected` and `dockerfile` paths are absolute. */
  readonly reward: readonly RewardComponentSpec[];
  readonly rewardRange?: readonly [number, number];
  readonly artifacts: readonly string[];
  /** Dollars that a run may cost. */
  readonly maxCost?: number;
  /** Milliseconds, or -1 for until terminated. */
  readonly keepWarmMs?: number;
}

/** Seeds as a range with both ends, or a list: a range of ten million is never an array. */
export type SeedSet = { readonly first: number; readonly last: number } | { readonly list: readonly number[] };

export const seedCount = (seeds: SeedSet): number => ('list' in seeds ? seeds.list.length : seeds.last - seeds.first + 1);

export const seedAt = (seeds: SeedSet, index: number): number => ('list' in seeds ? seeds.list[index]! : seeds.first + index);

/**
 * Stands in for VS Code and the extension, inside the page: answers the requests of the comparison over two made-up runs, with the project's own statistics
 * behind it and its own check of what the page sends. Tests steer it through `window.compareStub`.
 */
import { parseCompareMessage } from '../../../src/extension/panels/compareMessages.js';
import type { Message } from '../../../src/extension/panels/parse.js';
import type { CompareViewRequests, RunDifference, SeedPair } from '../../../src/protocol/compareView.js';
import { pairedFigures, queryPairs, seedPairs } from '../../../src/rollout/paired.js';
import { RewardMatrix } from '../../../src/rollout/rewardMatrix.js';
import { runRecord } from '../generate.js';
import { standIn } from '../standIn.js';

export interface CompareStubOptions {
  readonly seeds: number;
  readonly samples?: number;
  readonly differences?: readonly RunDifference[];
  /** Seeds that only a has, that only b has, and that have no reward in b. */
  readonly left?: { readonly onlyA: number; readonly onlyB: number; readonly unscored: number };
  /** Nothing is told apart: every seed earns the same in both. */
  readonly equal?: boolean;
  readonly template?: string;
}

type Request = Message<CompareViewRequests>;

declare global {
  interface Window {
    compareStub: CompareStub;
  }
}

/** A reward that looks random, the same for the same numbers. */
function reward(seed: number, sample: number, run: number): number {
  const noise = (salt: number) => {
    const value = Math.sin(12.9898 * (seed + 1) + 78.233 * (salt + 1)) * 43758.5453;
    return value - Math.floor(value);
  };
  const difficulty = noise(0);
  return Math.round(1e4 * Math.min(1, Math.max(0, difficulty + 0.06 * run + (noise(2 * sample + 3 + run) - 0.5) * 0.4 * (0.3 + noise(1))))) / 1e4;
}

class CompareStub {
  /** What the page asked for, in order. */
  readonly requests: Request[] = [];
  /** Set by a test: requests of these names are answered with an error. */
  readonly failing = new Map<string, string>();
  #pairs: SeedPair[] = [];
  readonly #options: CompareStubOptions;

  constructor(options: CompareStubOptions) {
    this.#options = options;
    this.take(options.seeds);
  }

  /** The runs have come as far as this many seeds. */
  take(seeds: number): void {
    const { samples = 1, left = { onlyA: 0, onlyB: 0, unscored: 0 }, equal } = this.#options;
    const [a, b] = [0, 1].map((run) => {
      const matrix = new RewardMatrix(samples, seeds * samples);
      for (let seed = 0; seed < seeds; seed++) {
        if (run === 1 ? seed < left.onlyA : seed >= seeds - left.onlyB) continue;
        for (let sample = 0; sample < samples; sample++) matrix.add({ episode: seed * samples + sample, seed, reward: run === 1 && seed >= left.onlyA && seed < left.onlyA + left.unscored ? null : reward(seed, sample, equal ? 0 : run) });
      }
      return matrix;
    });
    this.#pairs = seedPairs(a!, b!);
  }

  changed(): void {
    this.#post({ method: 'changed', params: {} });
  }

  #post(message: object): void {
    setTimeout(() => window.postMessage(structuredClone(message), '*'), 1);
  }

  receive(value: unknown): void {
    const parsed = parseCompareMessage(value);
    if (!parsed.ok) throw new Error(`The page sent what is not of the protocol: ${JSON.stringify(value)}`);
    const { message } = parsed;
    this.requests.push(message);
    const failure = this.failing.get(message.method);
    this.#post(failure === undefined ? { id: message.id, result: this.#answer(message) } : { id: message.id, error: failure });
  }

  #answer({ method, params }: Request): unknown {
    const { samples = 1, differences = [], template } = this.#options;
    switch (method) {
      case 'comparison': {
        const run = (number: number, policy: string) => ({ ...runRecord(this.#options.seeds * samples), number, policy, samples, ...(template !== undefined && { template }) });
        return { runs: { a: run(3, 'llm'), b: run(4, 'llm') }, differences, ...pairedFigures(this.#pairs) } satisfies CompareViewRequests['comparison']['result'];
      }
      case 'pairs': return queryPairs(this.#pairs, params);
      default: return null;
    }
  }
}

const stub = (window.compareStub = new CompareStub((window as unknown as { __stubOptions: CompareStubOptions }).__stubOptions));
standIn(stub, 'compare-stub-state');

/** Rewards of a run as a matrix: a row for each seed, in the order of the run, and a column for each of its samples. */
import type { EpisodeRecord } from '../store/records.js';

/** What a cell holds. */
const [UNFINISHED, UNSCORED, SCORED] = [0, 1, 2];

export class RewardMatrix {
  /** Seeds up to the last one of which an episode has finished. */
  rows = 0;
  /** Row after row. Both grow by doubling. */
  private rewards = new Float64Array(256);
  private cells = new Uint8Array(256);
  private readonly seeds: number[] = [];

  /** `episodes` is how many there can be: what a damaged line numbers beyond it is not taken in. */
  constructor(
    readonly samples: number,
    private readonly episodes: number,
  ) {}

  /** Takes in a finished episode, in constant time; a later record of the same episode takes its place. */
  add({ episode, seed, reward }: Pick<EpisodeRecord, 'episode' | 'seed' | 'reward'>): void {
    if (episode < 0 || episode >= this.episodes) return;
    if (episode >= this.cells.length) this.grow(episode + 1);
    this.rewards[episode] = reward ?? NaN;
    this.cells[episode] = reward === null ? UNSCORED : SCORED;
    const row = Math.floor(episode / this.samples);
    this.seeds[row] = seed;
    this.rows = Math.max(this.rows, row + 1);
  }

  private grow(least: number): void {
    const length = Math.max(least, this.cells.length * 2);
    const [rewards, cells] = [new Float64Array(length), new Uint8Array(length)];
    rewards.set(this.rewards);
    cells.set(this.cells);
    [this.rewards, this.cells] = [rewards, cells];
  }

  /** Undefined while no episode of the row has finished. */
  seed(row: number): number | undefined {
    return this.seeds[row];
  }

  /** Null where there is no reward, undefined where the episode has not finished. */
  reward(row: number, sample: number): number | null | undefined {
    const at = row * this.samples + sample;
    const cell = this.cells[at] ?? UNFINISHED;
    return cell === SCORED ? this.rewards[at]! : cell === UNSCORED ? null : undefined;
  }

  /** The rewards that a row has, and how many of its episodes have none. */
  row(row: number): { readonly rewards: number[]; readonly unscored: number } {
    const rewards: number[] = [];
    let unscored = 0;
    for (let at = row * this.samples; at < (row + 1) * this.samples; at++) {
      if (this.cells[at] === SCORED) rewards.push(this.rewards[at]!);
      else if (this.cells[at] === UNSCORED) unscored += 1;
    }
    return { rewards, unscored };
  }
}

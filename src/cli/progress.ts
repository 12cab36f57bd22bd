/** Progress of a run: one line that is rewritten on a terminal, a plain line now and then in a pipe. */
import { clearLine, cursorTo } from 'node:readline';
import type { LiveRun } from '../engine/liveRun.js';
import type { RunWaits } from '../protocol/runView.js';
import { spending } from './cost.js';
import { milliseconds, plural, reward } from './format.js';

const TERMINAL_INTERVAL_MS = 100;
const PIPE_INTERVAL_MS = 5000;
const BAR_WIDTH = 24;

export class Progress {
  private last = 0;
  private shown = false;
  private started: { at: number; finished: number } | undefined;
  private readonly terminal: boolean;

  constructor(private readonly stream: NodeJS.WriteStream) {
    this.terminal = stream.isTTY === true;
  }

  /** Shows where the run is, if it is time to. */
  update(live: LiveRun): void {
    const now = Date.now();
    if (live.record.state === 'running') this.started ??= { at: now, finished: live.sofar.finished };
    if (now - this.last < (this.terminal ? TERMINAL_INTERVAL_MS : PIPE_INTERVAL_MS)) return;
    this.last = now;
    this.show(this.line(live, now));
  }

  /** Leaves the stream as if nothing had been there, on a terminal; in a pipe, says where it ended. */
  end(live: LiveRun): void {
    if (!this.terminal) this.show(this.line(live, Date.now()));
    else if (this.shown) this.erase();
  }

  private show(line: string): void {
    if (!this.terminal) {
      this.stream.write(`${line}\n`);
      return;
    }
    this.erase();
    this.stream.write(line.slice(0, Math.max(20, (this.stream.columns ?? 80) - 1)));
    this.shown = true;
  }

  private erase(): void {
    cursorTo(this.stream, 0);
    clearLine(this.stream, 0);
  }

  private line(live: LiveRun, now: number): string {
    const { record, sofar } = live;
    const name = `${record.template} #${record.number}`;
    if (record.state === 'building') return `${name}  building the snapshot`;
    const { finished, errors } = sofar;
    const { total } = record;
    const share = total ? finished / total : 1;
    const elapsed = now - (this.started?.at ?? now);
    const rate = elapsed > 0 ? ((finished - (this.started?.finished ?? 0)) * 1000) / elapsed : 0;
    const waits = live.waits();
    const parts = [
      name,
      ...(this.terminal ? [`[${'█'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '░')}]`] : []),
      `${finished}/${total}`,
      ...(rate > 0 ? [`${rate.toFixed(1)}/s`] : []),
      `mean ${reward(sofar.scored ? sofar.sum / sofar.scored : null, 3)}`,
      ...(errors ? [plural(errors, 'error')] : []),
      ...(live.meter ? [spending(live.meter.spent, record.maxCost)] : record.costUnknown === undefined ? [] : ['cost not known']),
      ...(waits ? [waitsText(waits)] : []),
      ...(rate > 0 && finished < total ? [`${milliseconds(((total - finished) * 1000) / rate)} left`] : []),
    ];
    return parts.join('  ');
  }
}

/** Whose word it is, and what it is. */
function waitsText({ title, creations, places, perSecond, refused }: RunWaits): string {
  const limit = `${places} at once, ${Number(perSecond.toPrecision(2))} a second`;
  return `${creations} waiting for ${title}, which ${refused ? `has refused more than ${limit} for now` : `allows ${limit}`}`;
}

/** What a sandbox's network has refused, as far as a person is told of it. */
import type { NetworkRequest } from '../../sandbox/network/proxy.js';
import type { NetworkReport } from '../sandboxReports.js';

export class Refusals {
  private count = 0;
  private last: string | undefined;

  readonly note = ({ host, port, refused }: NetworkRequest): void => {
    if (refused === undefined) return;
    this.count += 1;
    this.last = `${host}:${port}`;
  };

  report(): Pick<NetworkReport, 'refused' | 'lastRefused'> {
    return this.count === 0 ? {} : { refused: this.count, lastRefused: this.last };
  }
}

/** What differs between the engines that speak Docker's API, as far as it matters to their sandboxes. */
import type Docker from 'dockerode';
import type { Capabilities } from '../provider.js';
import { dockerCapabilities } from './capabilities.js';
import { findEndpoints, type Endpoint, type Surroundings } from './endpoint.js';

export interface EngineKind {
  /** Of its provider. */
  readonly id: string;
  readonly title: string;
  readonly capabilities: Capabilities;
  /** As a sentence names it: `Docker engine`. */
  readonly noun: string;
  /** Programs of which one is there where it is installed. */
  readonly programs: readonly string[];
  /** What a person can do about one that does not answer. */
  readonly advice: { readonly install: string; readonly start: string; readonly permission: string; readonly choose: string };
  /** Candidates, best first; at least one. Rejects with `WrongContext`. */
  readonly findEndpoints: (around: Surroundings) => Promise<Endpoint[]>;
  /** What the `why` of an endpoint begins with that somebody has chosen. */
  readonly chosen: RegExp;
  /** Whether its archives take a path for a pattern, and follow a link at its end. */
  readonly looseArchives: boolean;
  /** Has the last word on how a container is made. Throws `Unsupported`. */
  readonly adapt: (options: Docker.ContainerCreateOptions, endpoint: Endpoint) => Docker.ContainerCreateOptions | Promise<Docker.ContainerCreateOptions>;
}

const linux = process.platform === 'linux';

export const DOCKER: EngineKind = {
  id: 'docker',
  title: 'Docker',
  capabilities: dockerCapabilities,
  noun: 'Docker engine',
  programs: process.platform === 'win32' ? ['docker.exe'] : ['docker', 'dockerd', 'podman'],
  advice: {
    install: linux ? 'install it (Debian, Ubuntu: `sudo apt-get install docker.io`), or see https://docs.docker.com/engine/install/' : 'install Docker Desktop, see https://docs.docker.com/get-docker/',
    start: linux ? 'start it with `sudo systemctl start docker`' : 'start Docker Desktop',
    permission: 'add yourself to the group docker (`sudo usermod -aG docker $USER`, then log in again), or use rootless Docker',
    choose: 'run `docker context ls`, then `docker context use NAME` or unset DOCKER_CONTEXT',
  },
  findEndpoints,
  chosen: /^(DOCKER_HOST|context)/,
  looseArchives: false,
  adapt: (options) => options,
};

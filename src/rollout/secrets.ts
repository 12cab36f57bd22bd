/** Secrets: taken from the environment by name, given to sandboxes, and taken out of every byte that comes back. */
import { Transform, pipeline, type Readable } from 'node:stream';
import type { Template } from '../template/template.js';

export class MissingSecret extends Error {
  constructor(readonly variables: readonly string[], file: string) {
    super(`${file} needs ${variables.map((name) => `$${name}`).join(', ')}, which ${variables.length > 1 ? 'are' : 'is'} not set in the environment`);
    this.name = 'MissingSecret';
  }
}

/** Values by their name inside the sandbox. Rejects with `MissingSecret` that names all that are not set. */
export function readSecrets(template: Template, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const missing = Object.values(template.secrets).filter((variable) => !environment[variable]);
  if (missing.length) throw new MissingSecret(missing, template.file);
  return Object.fromEntries(Object.entries(template.secrets).map(([name, variable]) => [name, environment[variable]!]));
}

/** Shorter values would blank out ordinary text, and are no secret. */
const SHORTEST = 4;

/** Replaces the values of secrets by `***`, in text and in streams however they are cut into chunks. */
export class Redactor {
  private readonly values: Buffer[];
  private written: readonly string[] | undefined;

  constructor(secrets: Readonly<Record<string, string>>) {
    this.values = Object.values(secrets)
      .filter((value) => value.length >= SHORTEST)
      .sort((a, b) => b.length - a.length)
      .map((value) => Buffer.from(value));
  }

  get isEmpty(): boolean {
    return this.values.length === 0;
  }

  text(text: string): string {
    return this.values.reduce((result, value) => result.replaceAll(value.toString(), '***'), text);
  }

  /** As `text`, for text that may be JSON, or JSON in a string of JSON: there a value is written with escapes. */
  json(text: string): string {
    if (this.isEmpty) return text;
    this.written ??= [...new Set(this.values.flatMap((value) => {
      const once = JSON.stringify(value.toString()).slice(1, -1);
      return [value.toString(), once, JSON.stringify(once).slice(1, -1)];
    }))].sort((a, b) => b.length - a.length);
    return this.written.reduce((result, value) => result.replaceAll(value, '***'), text);
  }

  /** The stream without secrets. An error of the source is an error of the result. */
  clean(source: Readable): Readable {
    if (this.isEmpty) return source;
    return pipeline(source, this.transform(), () => undefined);
  }

  /** Holds back as many bytes as could be the start of a value. */
  private transform(): Transform {
    let held = Buffer.alloc(0);
    const replace = (data: Buffer, last: boolean): Buffer => {
      const output: Buffer[] = [];
      let position = 0;
      for (;;) {
        const hit = this.values
          .map((value) => ({ at: data.indexOf(value, position), length: value.length }))
          .filter((found) => found.at >= 0)
          .sort((a, b) => a.at - b.at || b.length - a.length)[0];
        if (!hit) break;
        output.push(data.subarray(position, hit.at), Buffer.from('***'));
        position = hit.at + hit.length;
      }
      const keep = last ? 0 : this.unfinished(data.subarray(position));
      output.push(data.subarray(position, data.length - keep));
      held = Buffer.from(data.subarray(data.length - keep));
      return Buffer.concat(output);
    };
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        done(null, replace(Buffer.concat([held, chunk]), false));
      },
      flush(done) {
        done(null, replace(held, true));
      },
    });
  }

  /** Length of the longest end of `data` that a value starts with. */
  private unfinished(data: Buffer): number {
    let longest = 0;
    for (const value of this.values)
      for (let length = Math.min(value.length - 1, data.length); length > longest; length--)
        if (data.subarray(data.length - length).equals(value.subarray(0, length))) longest = length;
    return longest;
  }
}

/** Bytes of a program's output as text for people: decoded as a stream, without escapes and controls. Knows nothing of VS Code. */
import { stripVTControlCharacters } from 'node:util';

/** An escape that has begun and not ended; longer ones are none. */
const UNFINISHED = /(?:\u001b[^\u001b]{0,255}|\r)$/;
const WHOLE = /^\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]*[0-Z\\`-~])/;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export class PlainText {
  private readonly decoder = new TextDecoder();
  private rest = '';

  push(bytes: Uint8Array): string {
    return this.take(this.decoder.decode(bytes, { stream: true }), false);
  }

  /** What was kept back because it might have been the beginning of an escape. */
  end(): string {
    return this.take(this.decoder.decode(), true);
  }

  private take(text: string, last: boolean): string {
    let all = this.rest + text;
    this.rest = '';
    const [unfinished] = last ? [] : (UNFINISHED.exec(all) ?? []);
    if (unfinished !== undefined && !WHOLE.test(unfinished)) {
      this.rest = unfinished;
      all = all.slice(0, -unfinished.length);
    }
    return stripVTControlCharacters(all).replace(/\r+\n?/g, '\n').replace(CONTROLS, '');
  }
}

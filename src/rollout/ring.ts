/** The last bytes of a stream, in as much memory as they need and never more than `capacity`. */
export class Ring {
  private buffer = new Uint8Array(0);
  /** Where the oldest byte is. */
  private start = 0;
  private size = 0;

  constructor(private readonly capacity: number) {}

  get length(): number {
    return this.size;
  }

  push(chunk: Uint8Array): void {
    const data = chunk.length > this.capacity ? chunk.subarray(chunk.length - this.capacity) : chunk;
    this.reserve(this.size + data.length);
    const room = this.buffer.length;
    if (room === 0) return;
    const end = (this.start + this.size) % room;
    const first = Math.min(data.length, room - end);
    this.buffer.set(data.subarray(0, first), end);
    this.buffer.set(data.subarray(first), 0);
    const overwritten = Math.max(0, this.size + data.length - room);
    this.start = (this.start + overwritten) % room;
    this.size += data.length - overwritten;
  }

  /** A copy, oldest byte first. */
  bytes(): Uint8Array {
    const copy = new Uint8Array(this.size);
    const first = Math.min(this.size, this.buffer.length - this.start);
    copy.set(this.buffer.subarray(this.start, this.start + first));
    copy.set(this.buffer.subarray(0, this.size - first), first);
    return copy;
  }

  /** Grows by doubling, so that a short stream costs little and a long one is copied seldom. */
  private reserve(wanted: number): void {
    if (wanted <= this.buffer.length || this.buffer.length === this.capacity) return;
    const grown = new Uint8Array(Math.min(this.capacity, Math.max(wanted, this.buffer.length * 2, 256)));
    grown.set(this.bytes());
    this.buffer = grown;
    this.start = 0;
  }
}

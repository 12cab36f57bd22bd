/** Numbers kept in order. New ones are merged in when someone looks: sorting all of them again, ten times a second, would cost more than the run. */
export class SortedNumbers {
  private sorted = new Float64Array(0);
  private readonly fresh: number[] = [];

  add(value: number): void {
    this.fresh.push(value);
  }

  /** All of them, ascending. Not changed by what is added later. */
  values(): Float64Array {
    if (this.fresh.length > 0) {
      this.sorted = merge(this.sorted, Float64Array.from(this.fresh).sort());
      this.fresh.length = 0;
    }
    return this.sorted;
  }
}

function merge(a: Float64Array, b: Float64Array): Float64Array<ArrayBuffer> {
  const merged = new Float64Array(a.length + b.length);
  let [i, j] = [0, 0];
  for (let place = 0; place < merged.length; place++) merged[place] = j === b.length || (i < a.length && a[i]! <= b[j]!) ? a[i++]! : b[j++]!;
  return merged;
}

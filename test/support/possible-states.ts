/**
 * Possible states during overlapping requests: a change takes effect between its request and its response. A request
 * that begins after the response must see it, and one that ends before the request cannot.
 */

/** Times are counted, not measured: each event has its own. */
export interface Span {
  from: number
  /** Infinity until the response. */
  by: number
}

interface Change<Value> {
  span: Span
  value: Value
  /** False when it may have been sent too early to affect this fact. */
  isCertain: boolean
}

/** One fact whose changes are requested one after another; overlapping ones set the same value. */
export class Fact<Value> {
  readonly #first: Value
  readonly #changes: Change<Value>[] = []

  constructor(first: Value) {
    this.#first = first
  }

  /** The caller sets `by` at the response, or `from` to Infinity when nothing was changed. */
  change(span: Span, value: Value, isCertain = true): void {
    this.#changes.push({ span, value, isCertain })
  }

  /** Whether a request of this span may have found the fact to have this value. */
  mayBe(expected: Value, { from, by }: Span): boolean {
    let possible = new Set([this.#first])
    for (const { span, value, isCertain } of this.#changes) {
      if (isCertain && span.by < from) possible = new Set([value])
      else if (span.from < by) possible.add(value)
    }
    return possible.has(expected)
  }
}

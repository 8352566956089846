/**
 * What may be true while requests overlap: a change takes effect somewhere between its request and its answer, so that
 * a request which begins after the answer must see it, and one that ends before the request cannot.
 */

/** Moments are counted, not measured: everything that happens has one of its own. */
export interface Span {
  from: number
  /** Infinity while it is not answered. */
  by: number
}

interface Change<Value> {
  span: Span
  value: Value
  /** False when it may have come too early to concern this fact at all. */
  isCertain: boolean
}

/** One fact of which changes are asked for one after the other; those that overlap change it to the same value. */
export class Fact<Value> {
  readonly #first: Value
  readonly #changes: Change<Value>[] = []

  constructor(first: Value) {
    this.#first = first
  }

  /** The span is the caller's: it sets `by` at the answer, or `from` to Infinity when nothing was changed. */
  change(span: Span, value: Value, isCertain = true): void {
    this.#changes.push({ span, value, isCertain })
  }

  /** Whether a request of this span may have found the fact to have this value. */
  mayBe(wanted: Value, { from, by }: Span): boolean {
    let possible = new Set([this.#first])
    for (const { span, value, isCertain } of this.#changes) {
      if (isCertain && span.by < from) possible = new Set([value])
      else if (span.from < by) possible.add(value)
    }
    return possible.has(wanted)
  }
}

/**
 * Values that users choose. Expressions, loops and comparisons treat them like any other; where they are shown, they
 * cannot become a link: mail programs link every name of a domain, and an email of the operator would lead there.
 */
export class Untrusted {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

export function unwrap(value: unknown): unknown {
  return value instanceof Untrusted ? value.value : value
}

/** The value, marked like the one that it was taken from. */
export function markLike(from: unknown, value: unknown): unknown {
  return from instanceof Untrusted ? new Untrusted(value) : value
}

const controls = /[^\P{Cc}\t\n]/gu
/** They reorder the text around the value. */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/g
/** Dots of IDNA, and one that looks like them. */
const dots = /(?<=[\p{L}\p{M}\p{N}\p{Cf}])[.\u2024\u3002\uFF0E\uFF61](?=[\p{L}\p{M}\p{N}\p{Cf}])/gu
const zeroWidthSpace = '\u200B'

/** The same text for a reader, in which no program finds a link. */
export function withoutLinks(text: string): string {
  return text
    .replace(controls, ' ')
    .replace(bidiControls, '')
    .replace(dots, `$&${zeroWidthSpace}`)
    .replace(/:(?=\/\/)/g, `:${zeroWidthSpace}`)
}

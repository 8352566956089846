/** The supported functions of the template language. */
import { getLength, isTrue, markLike, ownProperty, print, unwrap } from './values.ts'

interface TemplateFunction {
  /** Minimum and maximum number of arguments. */
  takes: readonly [min: number, max: number]
  call(...values: unknown[]): unknown
}

export const functions = {
  eq: { takes: [2, 10], call: isEqual },
  ne: { takes: [2, 2], call: (a, b) => !isEqual(a, b) },
  lt: { takes: [2, 2], call: compare((difference) => difference < 0) },
  le: { takes: [2, 2], call: compare((difference) => difference <= 0) },
  gt: { takes: [2, 2], call: compare((difference) => difference > 0) },
  ge: { takes: [2, 2], call: compare((difference) => difference >= 0) },
  and: { takes: [1, 10], call: (...values) => values.find((v) => !isTrue(v)) ?? values.at(-1) },
  or: { takes: [1, 10], call: (...values) => values.find(isTrue) ?? values.at(-1) },
  not: { takes: [1, 1], call: (value) => !isTrue(value) },
  len: { takes: [1, 1], call: getLength },
  index: { takes: [2, 10], call: (of, ...keys) => keys.reduce(ownProperty, of) },
  urlquery: {
    takes: [1, 1],
    call: (value) => markLike(value, encodeURIComponent(print(value).toWellFormed())),
  },
  // Output is escaped in any case and must not be escaped twice.
  html: { takes: [1, 1], call: (value) => value },
} satisfies Record<string, TemplateFunction>

export type FunctionName = keyof typeof functions

/** True when the first value equals one of the others. Lists and objects are never equal. */
function isEqual(marked: unknown, ...others: unknown[]): boolean {
  const a = unwrap(marked)
  if (typeof a === 'object' && a !== null) return false
  return others.some((b) => (a ?? null) === (unwrap(b) ?? null))
}

function compare(test: (difference: number) => boolean) {
  return (...marked: unknown[]): boolean => {
    const [a, b] = marked.map(unwrap)
    if (typeof a === 'number' && typeof b === 'number') return test(a - b)
    if (typeof a === 'string' && typeof b === 'string') return test(a === b ? 0 : a < b ? -1 : 1)
    return false
  }
}

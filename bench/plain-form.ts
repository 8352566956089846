import type { Response } from './core/exchange.ts'

const changing: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/[^"\s]+@example\.com/g, '<email>'],
  [/\b1555\d{10}\b/g, '<phone>'],
  // "after 59 seconds"
  [/\b\d+ seconds/g, '<n> seconds'],
]

// A sign-up with a taken email has no identities, which client SDKs evaluate; the length follows from it.
const identities = /"identities":\[(?:\]|.*?\}\])/g

/** Headers that differ between any two responses. */
const ignored = /^(date|x-request-id|content-length|x-ratelimit-.*|ratelimit-.*|retry-after)$/

/**
 * A response without its request-specific parts, to compare responses. The order of fields and headers is kept, since
 * it can reveal a difference as well.
 */
export function plainForm({ status, headers, body }: Response): string {
  const head = Object.entries(headers).map(([name, value]) =>
    ignored.test(name) ? name : `${name}: ${value}`,
  )
  const text = changing.reduce((text, [what, mark]) => text.replace(what, mark), body)
  return `${status} ${text.replace(identities, '"identities":[...]')} {${head.join(', ')}}`
}

import type { Answer } from './exchange.ts'

const changing: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/[^"\s]+@example\.com/g, '<email>'],
  [/\b1555\d{10}\b/g, '<phone>'],
  // "after 59 seconds"
  [/\b\d+ seconds/g, '<n> seconds'],
]

// A faux sign-up has no identities, which client SDKs read on purpose; the length follows from it.
const identities = /"identities":\[(?:\]|.*?\}\])/g

/** Headers that differ between any two answers. */
const ignored = /^(date|x-request-id|content-length|x-ratelimit-.*|ratelimit-.*|retry-after)$/

/**
 * An answer with all that belongs to the one request taken out: what two answers must share to say
 * the same thing. The order of fields and headers stays, since it can tell as well.
 */
export function plainForm({ status, headers, body }: Answer): string {
  const head = Object.entries(headers).map(([name, value]) =>
    ignored.test(name) ? name : `${name}: ${value}`,
  )
  const text = changing.reduce((text, [what, mark]) => text.replace(what, mark), body)
  return `${status} ${text.replace(identities, '"identities":[...]')} {${head.join(', ')}}`
}

/** Puts results on a redirect target, encoded once. */

type Parameters = Record<string, string | number | undefined>

/** Letters of the world in percent form, as a header has to hold them (RFC 3986 §2.5); the rest stays as it is. */
export function inAscii(target: string): string {
  return target.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/** Replaces the fragment; keys are sorted. */
export function withFragment(target: string, parameters: Parameters): string {
  const [base = ''] = target.split('#', 1)
  return `${base}#${encode(parameters)}`
}

/** Adds to the query and keeps what is there; the fragment stays. */
export function withQuery(target: string, parameters: Parameters): string {
  const url = new URL(target)
  for (const [key, value] of new URLSearchParams(encode(parameters))) {
    url.searchParams.set(key, value)
  }
  url.searchParams.sort()
  return url.href
}

function encode(parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const key of Object.keys(parameters).sort()) {
    const value = parameters[key]
    if (value !== undefined && value !== '') query.set(key, String(value))
  }
  return query.toString()
}

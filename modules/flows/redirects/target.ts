/** Adds results to a redirect target. */

type Parameters = Record<string, string | number | undefined>

/** The target for a header: the host by UTS 46, other non-ASCII characters percent-encoded (RFC 3986 §2.5). */
export function inAscii(target: string): string {
  return withAsciiHost(target).replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

function withAsciiHost(target: string): string {
  const [start, scheme, host = ''] = /^(https?:\/\/)([^/:?#[]+)/i.exec(target) ?? []
  if (start === undefined || /^[\0-\x7f]*$/.test(host)) return target
  return `${scheme}${new URL(target).hostname}${target.slice(start.length)}`
}

/** Replaces the fragment; keys are sorted. */
export function withFragment(target: string, parameters: Parameters): string {
  const [base = ''] = target.split('#', 1)
  return `${base}#${encode(parameters)}`
}

/** Adds to the query; the fragment stays. */
export function addParameters(target: string, parameters: Parameters): string {
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

import { distance } from 'fastest-levenshtein'

/** The text itself when it is an absolute address of one of these schemes. */
export function normalizeUrl(text: string, schemes: readonly string[]): string | undefined {
  const parsed = URL.parse(text)
  return parsed !== null && schemes.includes(parsed.protocol) ? text : undefined
}

/** The text if it is an http or https URL with a host. */
export function httpUrl(text: string): string | undefined {
  // The URL parser accepts a missing slash; other programs that read the value may not.
  return /^https?:\/\/[^/]/i.test(text) ? normalizeUrl(text, ['http:', 'https:']) : undefined
}

/** The text if it has a scheme and a host; custom schemes of apps need no host, and are not a misspelt http or https. */
export function absoluteUrl(text: string): string | undefined {
  if (/^https?:/i.test(text)) return httpUrl(text)
  const scheme = /^([a-z][a-z0-9+.-]*):\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || distance(scheme, 'https') === 1) return undefined
  return URL.canParse(text) ? text : undefined
}

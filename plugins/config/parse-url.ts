/** The text itself when it is an absolute address of one of these schemes. */
export function urlOf(text: string, schemes: readonly string[]): string | undefined {
  const parsed = URL.parse(text)
  return parsed !== null && schemes.includes(parsed.protocol) ? text : undefined
}

/** The address of a database, of which every part can be decoded; after a `#` in a password nothing would be read. */
export function postgresUrl(text: string): string | undefined {
  if (text.includes('#') || !isDecodable(text)) return undefined
  return urlOf(text, ['postgres:', 'postgresql:'])
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The text itself when it is an http or https address with a host. */
export function httpUrl(text: string): string | undefined {
  // The parser of URLs forgives a missing slash; whoever reads the value elsewhere may not.
  return /^https?:\/\/[^/]/i.test(text) ? urlOf(text, ['http:', 'https:']) : undefined
}

/** The text itself when it names a scheme and a host; apps have schemes of their own, and then no host is needed. */
export function absoluteUrl(text: string): string | undefined {
  if (/^https?:/i.test(text)) return httpUrl(text)
  return /^[a-z][a-z0-9+.-]*:\//i.test(text) && URL.canParse(text) ? text : undefined
}

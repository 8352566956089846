/** The text itself when it is an absolute address of one of these schemes. */
export function urlOf(text: string, schemes: readonly string[]): string | undefined {
  const parsed = URL.parse(text)
  return parsed !== null && schemes.includes(parsed.protocol) ? text : undefined
}

/** The text itself when it is an http or https address with a host. */
export function httpUrl(text: string): string | undefined {
  // The parser of URLs forgives a missing slash; whoever reads the value elsewhere may not.
  return /^https?:\/\/[^/]/i.test(text) ? urlOf(text, ['http:', 'https:']) : undefined
}

/** The text itself when it names a scheme and a host; apps have schemes of their own. */
export function absoluteUrl(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) && URL.canParse(text) ? text : undefined
}

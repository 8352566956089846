/** Compares URIs as URIs, not as text (RFC 3986 §6.2). */

/** In characters. */
const maxUriLength = 2048

/**
 * The normalized form of an absolute URI: case, percent-encoding and dot segments (§6.2.2), default port and empty path
 * (§6.2.3). Undefined for any other text, and for one that two parsers might read differently.
 */
export function normalizeUri(text: string): string | undefined {
  if (text.length > maxUriLength || /[\s\\\p{Cc}]/u.test(text)) return undefined
  const url = URL.parse(text)
  if (!url) return undefined
  return withRoot(withLowerHost(url.href)).replace(/%[0-9a-f]{2}/gi, normalizeEncoded)
}

/** Whether both are one URI. */
export function isSameUri(one: string, other: string): boolean {
  return one === other || (normalizeUri(one) ?? one) === (normalizeUri(other) ?? other)
}

/** The one of the list that is this URI. Two of them may be equal as URIs: the one that was written like this comes first. */
export function findSameUri(list: readonly string[], uri: string): string | undefined {
  return list.find((each) => each === uri) ?? list.find((each) => isSameUri(each, uri))
}

/** The URL standard keeps the case of hosts of other schemes than those of the web (§6.2.2.1). */
function withLowerHost(href: string): string {
  return href.replace(
    /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?)([^/?#]*)/,
    (_, start: string, host: string) => start + host.toLowerCase(),
  )
}

/** An empty path after an authority is the root (§6.2.3). */
function withRoot(href: string): string {
  return href.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#]+)(?=$|[?#])/, '$1/')
}

/** Unreserved characters are not encoded; the digits of others are in upper case (§6.2.2.1, §6.2.2.2). */
function normalizeEncoded(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase()
}

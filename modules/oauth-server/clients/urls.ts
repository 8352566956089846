/** Validation of clients' URLs. */

const maxLength = 2048

/** http or https, so that a browser executes nothing. */
export function isWebUrl(text: string): boolean {
  const url = text.length <= maxLength ? URL.parse(text) : null
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

/** An absolute URI without a fragment (RFC 8707 §2); a resource may only have a query if it is registered with it. */
export function isAbsoluteUri(text: string): boolean {
  if (text.length > maxLength || /[\s\p{Cc}]/u.test(text) || text.includes('#')) return false
  return URL.canParse(text)
}

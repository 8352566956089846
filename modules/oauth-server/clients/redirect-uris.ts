/**
 * URLs of clients, above all redirect URIs: which may be registered, and which one a request names (RFC 6749 §3.1.2,
 * RFC 8252 §7.3).
 */
import { invalidClientMetadata } from '../../../schemas/errors.ts'
import { hasActiveScheme } from '../../flows/index.ts'

const maxUris = 10
const maxLength = 2048

const hasHost = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i

/** The scheme is a domain name of the app's owner in reverse order, so that apps do not share one (RFC 8252 §7.1). */
const isPrivateUse = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:\/(?!\/)/i

/** Throws invalid_redirect_uri for an invalid list. */
export function checkRedirectUris(uris: readonly string[]): void {
  if (uris.length < 1 || uris.length > maxUris) {
    throw invalidRedirectUri(`redirect_uris must contain 1 to ${maxUris} URLs`)
  }
  for (const uri of uris) {
    const problem = findRedirectProblem(uri)
    if (problem) throw invalidRedirectUri(`redirect_uris: ${problem}`)
  }
}

/** Why the browser may not be sent there: for redirect URIs and for addresses after a logout. */
export function findRedirectProblem(uri: string): string | undefined {
  if (uri.length > maxLength) return `an address has more than ${maxLength} characters`
  if (uri.includes(',')) return 'an address must not contain a comma'
  if (/[\s\\\p{Cc}]/u.test(uri)) {
    return 'an address must not contain blanks, control characters or backslashes'
  }
  const url = URL.parse(uri)
  if (!url || !(hasHost.test(uri) || isPrivateUse.test(uri))) {
    return 'a URL must have a scheme and a host, as in https://app.example/callback, or be that of an app, as in com.example.app:/callback'
  }
  if (uri.includes('#')) return 'a URL must not have a fragment'
  if (hasActiveScheme(url)) return `the scheme ${url.protocol} is not allowed`
  if (url.protocol === 'http:' && !isLoopback(url)) {
    return 'http is allowed for localhost, 127.0.0.1 and [::1] only; use https'
  }
  return undefined
}

const invalidRedirectUri = (description: string) =>
  invalidClientMetadata('invalid_redirect_uri', description)

/** Compared exactly, except for the port of a loopback address. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const bare = withoutLoopbackPort(uri)
  return bare !== undefined && registered.some((each) => withoutLoopbackPort(each) === bare)
}

/** Undefined unless it is http on a loopback host in normalized form. */
function withoutLoopbackPort(uri: string): string | undefined {
  const match = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?(?=[/?]|$)([^\s\\#]*)$/.exec(
    uri,
  )
  if (!match || Number(match[2]?.slice(1) ?? 80) > 65_535) return undefined
  return `${match[1]}${match[3]}`
}

function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

const maxUrlLength = 2048

/** http or https, so that a browser executes nothing. */
export function isWebUrl(text: string): boolean {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

/** An absolute URI without a fragment (RFC 8707 §2); a resource may only have a query if it is registered with it. */
export function isAbsoluteUri(text: string): boolean {
  if (text.length > maxUrlLength || /[\s\p{Cc}]/u.test(text) || text.includes('#')) return false
  return URL.canParse(text)
}

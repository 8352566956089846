/** Builds the links in emails. */

export interface ConfirmationLink {
  /** The base URL of this server; see mailBaseUrl. */
  base: string
  /**
   * The configured path of the type, resolved against the base (RFC 3986): a leading `/` replaces the base's path, an
   * absolute URL replaces all of it, and a query is dropped. Undefined: `/verify` below the base.
   */
  urlPath: string | undefined
  /** The link token, with its prefix if it has one. */
  token: string
  type: 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change'
  redirectTo: string
}

/** Throws a TypeError when base and path form no URL. */
export function confirmationUrl(link: ConfirmationLink): string {
  const { base, urlPath, token, type, redirectTo } = link
  const url = urlPath ? new URL(urlPath, base) : new URL(`${withoutQuery(base)}/verify`)
  const query = new URLSearchParams({ token, type, redirect_to: redirectTo }).toString()
  // Both may be unencoded in a query (RFC 3986 §3.4), so that users can read the target of the link.
  url.search = query.replaceAll('%3A', ':').replaceAll('%2F', '/')
  return url.href
}

interface ForwardedHost {
  /** AUTH_API_EXTERNAL_URL */
  externalUrl: string
  /** AUTH_MAILER_EXTERNAL_HOSTS: host names, or `host:port`. */
  externalHosts: readonly string[]
  forwardedHost: string | undefined
  forwardedProto: string | undefined
}

/**
 * Returns the base URL of email links. Any client can send X-Forwarded-Host, and a link to that host would send it the
 * token, so only hosts listed by the operator are used.
 */
export function mailBaseUrl(options: ForwardedHost): string {
  const { externalUrl, externalHosts, forwardedHost, forwardedProto } = options
  const host = forwardedHost?.split(',')[0]?.trim().toLowerCase()
  if (!host || !/^[a-z0-9.-]+(:\d{1,5})?$/.test(host)) return externalUrl
  const name = host.replace(/:\d+$/, '')
  const listed = externalHosts.map((entry) => entry.toLowerCase())
  // An unlisted port may belong to another user, except on localhost.
  if (!listed.includes(host) && !(name === 'localhost' && listed.includes(name))) return externalUrl
  const plain = name === 'localhost' && forwardedProto?.split(',')[0]?.trim() === 'http'
  const url = URL.parse(`${plain ? 'http' : 'https'}://${host}${new URL(externalUrl).pathname}`)
  return url ? url.href.replace(/\/$/, '') : externalUrl
}

function withoutQuery(base: string): string {
  const url = new URL(base)
  url.search = ''
  url.hash = ''
  return url.href.replace(/\/+$/, '')
}

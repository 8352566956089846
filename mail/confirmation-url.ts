/** The addresses of the links in mails. */

export interface ConfirmationLink {
  /** Where this server is reached; see mailBaseUrl. */
  base: string
  /**
   * The operator's path for the kind. Resolved against the base as RFC 3986 says: a leading `/`
   * replaces the base's path, an absolute URL replaces all of it, and a query of its own is dropped.
   * Undefined, when nothing is configured: `/verify` below the base, its path kept.
   */
  urlPath: string | undefined
  /** The link token, with its prefix if it has one. */
  token: string
  type: 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change'
  redirectTo: string
}

/** Throws a TypeError when base and path make no URL. */
export function confirmationUrl(link: ConfirmationLink): string {
  const { base, urlPath, token, type, redirectTo } = link
  const url = urlPath ? new URL(urlPath, base) : new URL(`${withoutQuery(base)}/verify`)
  const query = new URLSearchParams({ token, type, redirect_to: redirectTo }).toString()
  // A query may hold both as they are (RFC 3986 §3.4), so that people can read where the link leads.
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
 * The base of links in a mail. Anybody can send X-Forwarded-Host, and a link to their host would send
 * them the token: it counts only when the operator has listed it.
 */
export function mailBaseUrl(options: ForwardedHost): string {
  const { externalUrl, externalHosts, forwardedHost, forwardedProto } = options
  const host = forwardedHost?.split(',')[0]?.trim().toLowerCase()
  if (!host || !/^[a-z0-9.-]+(:\d{1,5})?$/.test(host)) return externalUrl
  const name = host.replace(/:\d+$/, '')
  const listed = externalHosts.map((entry) => entry.toLowerCase())
  // A port nobody listed may belong to somebody else; on one's own machine it does not matter.
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

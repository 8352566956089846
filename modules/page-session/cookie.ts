/** The cookie of the hosted pages. Before the sign-in it only binds forms to the browser; the sign-in replaces it. */
import { createHash, randomBytes } from 'node:crypto'

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'

import type { Deps } from '../../plugins/define-plugin.ts'

type Configured = Deps<'config'>

/** Of 32 random bytes. */
const form = /^[\w-]{43}$/

export const makeBrowserId = (): string => randomBytes(32).toString('base64url')

/** The stored hash of a cookie. */
export const hashOfCookie = (value: string): string =>
  createHash('sha256').update(value).digest('base64url')

/** The value of the cookie; undefined without a valid one. */
export function browserId(
  deps: Configured,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const value = parseCookie(headers.cookie ?? '')[getCookieName(deps)]
  return value !== undefined && form.test(value) ? value : undefined
}

/** The Set-Cookie header of a session cookie; the server expires it earlier. */
export const cookieHeader = (deps: Configured, value: string): string =>
  stringifySetCookie({ ...attributes(deps), value })

export const clearedCookie = (deps: Configured): string =>
  stringifySetCookie({ ...attributes(deps), value: '', maxAge: 0 })

function attributes(deps: Configured) {
  const common = { path: '/', httpOnly: true, sameSite: 'lax' } as const
  return { name: getCookieName(deps), ...common, secure: isSecure(deps) }
}

/**
 * The prefix `__Host-` prevents other hosts of the domain from setting it (RFC 6265bis §4.1.3.2). Not available over
 * plain http.
 */
function getCookieName(deps: Configured): string {
  return `${isSecure(deps) ? '__Host-' : ''}postern-session`
}

function isSecure({ config }: Configured): boolean {
  return config.AUTH_API_EXTERNAL_URL.startsWith('https:')
}

/** The cookie of the hosted pages. Before the sign-in it only binds forms to the browser; the sign-in replaces it. */
import { createHash, randomBytes } from 'node:crypto'

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Of 32 random bytes. */
const form = /^[\w-]{43}$/

export const makeBrowserId = (): string => randomBytes(32).toString('base64url')

/** The stored hash of a cookie. */
export const hashOfCookie = (value: string): string =>
  createHash('sha256').update(value).digest('base64url')

/** The value of the cookie; undefined without a valid one. */
export function browserId(
  app: FastifyInstance,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const value = parseCookie(headers.cookie ?? '')[getCookieName(app)]
  return value !== undefined && form.test(value) ? value : undefined
}

/** The Set-Cookie header of a session cookie; the server expires it earlier. */
export const cookieHeader = (app: FastifyInstance, value: string): string =>
  stringifySetCookie({ ...attributes(app), value })

export const clearedCookie = (app: FastifyInstance): string =>
  stringifySetCookie({ ...attributes(app), value: '', maxAge: 0 })

/** Cookies of requests that came without one: all links and forms of a page are bound to the same cookie. */
const newCookies = new WeakMap<FastifyRequest, string>()

/** The cookie of the browser, created when there is none. */
export function ensureCookie(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const known = browserId(app, request) ?? newCookies.get(request)
  if (known !== undefined) return known
  const made = makeBrowserId()
  newCookies.set(request, made)
  reply.header('set-cookie', cookieHeader(app, made))
  return made
}

function attributes(app: FastifyInstance) {
  const common = { path: '/', httpOnly: true, sameSite: 'lax' } as const
  return { name: getCookieName(app), ...common, secure: isSecure(app) }
}

/**
 * The prefix `__Host-` prevents other hosts of the domain from setting it (RFC 6265bis §4.1.3.2). Not available over
 * plain http.
 */
export function getCookieName(app: FastifyInstance): string {
  return `${isSecure(app) ? '__Host-' : ''}postern-session`
}

export function isSecure({ config }: FastifyInstance): boolean {
  return config.AUTH_API_EXTERNAL_URL.startsWith('https:')
}

/**
 * The cookie of the hosted pages. Before the sign-in it only binds forms to the browser; the sign-in replaces it. It
 * protects against cross-site request forgery, together with the origin that the browser reports (Fetch Metadata,
 * Origin).
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { crossSiteForm } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'

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

const purpose = 'forms of hosted pages'

/** A token for the forms of one page: a random value that is different on each page, and its HMAC with the cookie. */
export function formToken(app: FastifyInstance, cookie: string): string {
  const page = randomBytes(16).toString('base64url')
  return `${page}.${sign(app, cookie, page)}`
}

/** Throws validation_failed for a form that was not submitted from our pages. */
export function checkForm(app: FastifyInstance, request: FastifyRequest, token: unknown): void {
  checkSite(app, request)
  if (!isTokenOfBrowser(app, request, token)) throw crossSiteForm()
}

/** Throws validation_failed for a form of another site. Without these headers only the token counts. */
export function checkSite({ config }: FastifyInstance, { headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') throw crossSiteForm()
  const { origin } = headers
  // With `Referrer-Policy: no-referrer`, browsers send same-site forms with the origin null.
  if (origin === undefined || origin === 'null') return
  if (origin !== new URL(config.AUTH_API_EXTERNAL_URL).origin) throw crossSiteForm()
}

/** Whether the token is of a page that this browser received with its current cookie. */
export function isTokenOfBrowser(
  app: FastifyInstance,
  request: FastifyRequest,
  token: unknown,
): boolean {
  const cookie = browserId(app, request)
  if (cookie === undefined) return false
  const [page = '', signature = ''] = String(token).split('.')
  return isEqualInConstantTime(signature, sign(app, cookie, page))
}

function sign({ encryption }: FastifyInstance, cookie: string, page: string): string {
  const hmac = createHmac('sha256', encryption.deriveKey(purpose))
  return hmac.update(`${page}.${cookie}`).digest('base64url')
}

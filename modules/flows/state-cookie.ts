/**
 * Binds an external sign-in to the browser that started it: a cookie has a random value, the flow its hash
 * (docs/decisions/2026-11-21-browser-bound-state.md). Read by the callback and the endpoints of SAML only.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { AuthorizationState } from './oauth-state.ts'

type NewFlow = Pick<AuthorizationState, 'id' | 'provider'>

/** Providers whose callback is a cross-site POST, which does not send Lax cookies: Apple, and those of SAML. */
const formPostProviders = ['apple', 'saml']

/** Creates the value and its hash; undefined for a flow without binding. */
export function createStateValue(
  { config }: FastifyInstance,
  query: Readonly<Record<string, string>>,
): { value: string; hash: string } | undefined {
  const isAlways = config.AUTH_EXTERNAL_BIND_BROWSER === 'always'
  if (!isAlways && query.bind_browser !== 'true') return undefined
  const value = randomBytes(32).toString('base64url')
  return { value, hash: hashValue(value) }
}

/** The cookie for the response that redirects to the provider. */
export function stateCookie(app: FastifyInstance, flow: NewFlow, value: string): string {
  return cookie(app, flow, value, app.config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION)
}

/** The cookie for the response that completes the sign-in. */
export function clearedStateCookie(app: FastifyInstance, flow: NewFlow): string {
  return cookie(app, flow, '', 0)
}

/** Whether this browser started the flow, or the flow is not bound. */
export function isSameBrowser(
  app: FastifyInstance,
  { headers }: Pick<FastifyRequest, 'headers'>,
  { id, browserHash }: Pick<AuthorizationState, 'id' | 'browserHash'>,
): boolean {
  if (browserHash === undefined) return true
  return timingSafeEqual(
    Buffer.from(readBrowserHash(app, { headers }, id)),
    Buffer.from(browserHash),
  )
}

/** The hash of the cookie of a flow, which is stored with it; that of an empty value without a cookie. */
export function readBrowserHash(
  app: FastifyInstance,
  { headers }: Pick<FastifyRequest, 'headers'>,
  id: string,
): string {
  return hashValue(parseCookie(headers.cookie ?? '')[getCookieName(app, id)] ?? '')
}

function cookie(app: FastifyInstance, flow: NewFlow, value: string, maxAge: number): string {
  const secure = isSecure(app)
  const sameSite = formPostProviders.includes(flow.provider) && secure ? 'none' : 'lax'
  const name = getCookieName(app, flow.id)
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, secure, sameSite, maxAge })
}

/** Concurrent sign-ins have distinct cookies. */
function getCookieName(app: FastifyInstance, id: string): string {
  return `${isSecure(app) ? '__Host-' : ''}postern-flow-${id.slice(0, 8)}`
}

function isSecure({ config }: FastifyInstance): boolean {
  return config.AUTH_API_EXTERNAL_URL.startsWith('https:')
}

function hashValue(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}

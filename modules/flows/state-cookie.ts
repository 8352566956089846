/**
 * Binds an external sign-in to the browser that started it: a cookie has a random value, the flow its hash
 * (docs/decisions/2026-11-21-browser-bound-state.md). Read by the callback only.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'

import type { Deps } from '../../plugins/define-plugin.ts'
import type { AuthorizationState } from './oauth-state.ts'

type Configured = Deps<'config'>
type NewFlow = Pick<AuthorizationState, 'id' | 'provider'>

/** Providers whose callback is a cross-site POST, which does not send Lax cookies. */
const formPostProviders = ['apple']

/** Creates the value and its hash; undefined for a flow without binding. */
export function createStateValue(
  { config }: Configured,
  query: Readonly<Record<string, string>>,
): { value: string; hash: string } | undefined {
  const isAlways = config.AUTH_EXTERNAL_BIND_BROWSER === 'always'
  if (!isAlways && query.bind_browser !== 'true') return undefined
  const value = randomBytes(32).toString('base64url')
  return { value, hash: hashValue(value) }
}

/** The cookie for the response that redirects to the provider. */
export function stateCookie(deps: Configured, flow: NewFlow, value: string): string {
  return cookie(deps, flow, value, deps.config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION)
}

/** The cookie for the response that completes the sign-in. */
export function clearedStateCookie(deps: Configured, flow: NewFlow): string {
  return cookie(deps, flow, '', 0)
}

/** Whether this browser started the flow, or the flow is not bound. */
export function isSameBrowser(
  deps: Configured,
  { headers }: Pick<FastifyRequest, 'headers'>,
  { id, browserHash }: Pick<AuthorizationState, 'id' | 'browserHash'>,
): boolean {
  if (browserHash === undefined) return true
  const value = parseCookie(headers.cookie ?? '')[getCookieName(deps, id)] ?? ''
  return timingSafeEqual(Buffer.from(hashValue(value)), Buffer.from(browserHash))
}

function cookie(deps: Configured, flow: NewFlow, value: string, maxAge: number): string {
  const secure = isSecure(deps)
  const sameSite = formPostProviders.includes(flow.provider) && secure ? 'none' : 'lax'
  const name = getCookieName(deps, flow.id)
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, secure, sameSite, maxAge })
}

/** Concurrent sign-ins have distinct cookies. */
function getCookieName(deps: Configured, id: string): string {
  return `${isSecure(deps) ? '__Host-' : ''}postern-flow-${id.slice(0, 8)}`
}

function isSecure({ config }: Configured): boolean {
  return config.AUTH_API_EXTERNAL_URL.startsWith('https:')
}

function hashValue(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}

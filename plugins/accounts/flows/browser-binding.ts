/**
 * Binds a sign-in through a provider to the browser that began it: a cookie holds a value, the flow its hash
 * (docs/decisions/2026-11-21-browser-bound-state.md). The only cookie of the server; it is read at the callback alone.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import type { FastifyRequest } from 'fastify'

import type { House } from '../../define-plugin.ts'
import type { OauthFlow } from './oauth-state.ts'

type Configured = House<'config'>
type Begun = Pick<OauthFlow, 'id' | 'provider'>

/** Of these the browser comes back by a form of another site, which a Lax cookie does not go along with. */
const postBack = ['apple']

/** What the browser gets and what is kept of it; undefined for a sign-in that is not to be bound. */
export function bindBrowser(
  { config }: Configured,
  query: Readonly<Record<string, string>>,
): { value: string; hash: string } | undefined {
  const isAlways = config.AUTH_EXTERNAL_BIND_BROWSER === 'always'
  if (!isAlways && query.bind_browser !== 'true') return undefined
  const value = randomBytes(32).toString('base64url')
  return { value, hash: hashOf(value) }
}

/** For the answer that sends the browser to the provider. */
export function browserCookie(house: Configured, flow: Begun, value: string): string {
  return cookie(house, flow, value, house.config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION)
}

/** For the answer that ends the sign-in. */
export function clearedCookie(house: Configured, flow: Begun): string {
  return cookie(house, flow, '', 0)
}

/** Whether this browser began the sign-in, or any may end it. */
export function isRightBrowser(
  house: Configured,
  { headers }: Pick<FastifyRequest, 'headers'>,
  { id, browserHash }: Pick<OauthFlow, 'id' | 'browserHash'>,
): boolean {
  if (browserHash === undefined) return true
  const value = cookieNamed(headers.cookie ?? '', nameOf(house, id))
  return timingSafeEqual(Buffer.from(hashOf(value)), Buffer.from(browserHash))
}

function cookie(house: Configured, flow: Begun, value: string, seconds: number): string {
  const sameSite = postBack.includes(flow.provider) && isSecure(house) ? 'None' : 'Lax'
  const common = ['Path=/', 'HttpOnly', `SameSite=${sameSite}`, `Max-Age=${seconds}`]
  const attributes = isSecure(house) ? [...common, 'Secure'] : common
  return [`${nameOf(house, flow.id)}=${value}`, ...attributes].join('; ')
}

/** Two sign-ins at once do not take each other's cookie. */
function nameOf(house: Configured, id: string): string {
  return `${isSecure(house) ? '__Host-' : ''}postern-flow-${id.slice(0, 8)}`
}

function isSecure({ config }: Configured): boolean {
  return config.AUTH_API_EXTERNAL_URL.startsWith('https:')
}

function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}

/** RFC 6265 §4.2.1: pairs between semicolons. */
function cookieNamed(header: string, name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}

/**
 * Email links and external sign-ins return to /sign-in/callback with a code (RFC 7636). The verifier is derived from
 * the browser's cookie, so that the code is valid in that browser only, and nothing is stored.
 */
import { createHash, createHmac } from 'node:crypto'

import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { browserId, isSecure } from './cookie.ts'

const purpose = 'links of hosted pages'

export function verifierFor({ encryption }: FastifyInstance, cookie: string): string {
  return createHmac('sha256', encryption.deriveKey(purpose)).update(cookie).digest('base64url')
}

const challengeFor = (app: FastifyInstance, cookie: string): string =>
  createHash('sha256').update(verifierFor(app, cookie)).digest('base64url')

interface LinkFlow {
  code_challenge: string
  code_challenge_method: 's256'
  redirect_to: string
}

/**
 * The parameters of a request for a link that returns here. `returned` are further parameters of the page that it
 * returns to.
 */
export function linkFlow(
  app: FastifyInstance,
  cookie: string,
  next: string,
  returned: Readonly<Record<string, string>> = {},
): LinkFlow {
  const challenge = challengeFor(app, cookie)
  const query = new URLSearchParams({ next, ...returned, browser: challenge })
  return {
    code_challenge: challenge,
    code_challenge_method: 's256',
    redirect_to: `${getCallbackUrl(app)}?${query}`,
  }
}

/** The same for a change that the signed-in user makes: opening the link does not sign another user in. */
export const changeFlow = (app: FastifyInstance, cookie: string, next: string): LinkFlow =>
  linkFlow(app, cookie, next, { purpose: 'change' })

/**
 * False for a link of the pages that is opened in another browser than the one that requested it: its code would be of
 * no use there. A change is complete in any browser.
 */
export function isOpenedWhereRequested(
  app: FastifyInstance,
  request: FastifyRequest,
  target: string,
): boolean {
  if (!isPagesCallback(app, target)) return true
  const { searchParams } = new URL(target)
  const requesting = searchParams.get('browser')
  if (!requesting || searchParams.get('purpose') === 'change') return true
  const cookie = browserId(app, request)
  return cookie !== undefined && challengeFor(app, cookie) === requesting
}

/** Whether a redirect target is the callback of the pages. */
export const isPagesCallback = (app: FastifyInstance, target: string): boolean =>
  target.split('?', 1)[0] === getCallbackUrl(app)

/** Remembers where a sign-in at a provider returns to, for a callback whose state is unknown. */
export function returnCookie(app: FastifyInstance, target: string): string {
  const value = new URL(target).search
  const maxAge = app.config.AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION
  const common = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(app) } as const
  return stringifySetCookie({ ...common, name: getReturnCookieName(app), value, maxAge })
}

/** The redirect target that the cookie remembers. Its page of this server is checked where it is read. */
export function pagesTargetIn(
  app: FastifyInstance,
  { headers }: Pick<FastifyRequest, 'headers'>,
): string | undefined {
  const query = parseCookie(headers.cookie ?? '')[getReturnCookieName(app)]
  return query?.startsWith('?') ? `${getCallbackUrl(app)}${query}` : undefined
}

const getReturnCookieName = (app: FastifyInstance): string =>
  `${isSecure(app) ? '__Host-' : ''}postern-return`

const getCallbackUrl = ({ config }: FastifyInstance): string =>
  `${config.AUTH_API_EXTERNAL_URL}/sign-in/callback`

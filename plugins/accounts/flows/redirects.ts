/** Where a browser goes after a link or a provider: only where the operator said it may. */
import type { FastifyRequest } from 'fastify'

import type { ApiError } from '../../../errors.ts'
import type { Session } from '../../../schemas/session.ts'
import type { House } from '../../define-plugin.ts'
import { longestValue, shorten } from '../../logger/shorten.ts'
import { isAllowedRedirect, type RedirectRules } from './redirects/allowed.ts'
import { compileGlob } from './redirects/glob.ts'
import { inAscii, withFragment, withQuery } from './redirects/target.ts'

/** Refusals that are the operator's or the person's own, whatever their status is. */
const denials = ['signup_disabled', 'user_banned', 'provider_email_needs_verification']

/** OAuth's names for a status (RFC 6749 §4.1.2.1). */
const oauthErrors: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** Where the operator lets a browser go. */
export interface RedirectPolicy {
  redirectRules: RedirectRules
}

export function createRedirectPolicy({ config }: House<'config'>): RedirectPolicy {
  const { AUTH_SITE_URL, AUTH_URI_ALLOW_LIST, dev } = config
  const globs = AUTH_URI_ALLOW_LIST.map(compileGlob)
  return { redirectRules: { siteUrl: AUTH_SITE_URL, globs, allowLoopback: dev } }
}

/** The first allowed of: `explicit`, the redirect_to header or query, the Referer; else the site. */
export function resolveTarget(
  { config, redirectRules: rules }: House<'config'> & RedirectPolicy,
  request: FastifyRequest,
  explicit?: string,
): string {
  const asked = explicit || header(request, 'redirect_to') || queryValue(request, 'redirect_to')
  if (asked && isAllowedRedirect(asked, rules)) return inAscii(asked)
  if (asked) {
    const held = { siteUrl: rules.siteUrl, allowList: config.AUTH_URI_ALLOW_LIST }
    const refused = { reqId: request.id, redirect_to: shorten(asked, longestValue), ...held }
    request.log.warn(
      refused,
      'redirect_to refused: neither AUTH_SITE_URL nor AUTH_URI_ALLOW_LIST allows it; using the site',
    )
  }
  const referrer = header(request, 'referer')
  return referrer && isAllowedRedirect(referrer, rules) ? inAscii(referrer) : rules.siteUrl
}

/** Implicit flow: the session in the fragment, which browsers do not send to servers. */
export function withSession(
  target: string,
  session: Session,
  more: Record<string, string | undefined>,
): string {
  return withFragment(target, {
    access_token: session.access_token,
    expires_at: session.expires_at,
    expires_in: session.expires_in,
    refresh_token: session.refresh_token,
    token_type: session.token_type,
    ...more,
  })
}

/** PKCE flow: a code that only the holder of the verifier can use (RFC 7636). */
export function withCode(target: string, code: string): string {
  return withQuery(target, { code })
}

/** A step is done and another one is needed. */
export function withMessage(
  target: string,
  message: string,
  { inQuery }: { inQuery: boolean },
): string {
  return withFragment(inQuery ? withQuery(target, { message }) : target, { message })
}

/** The error in the fragment, for PKCE clients in the query as well. */
export function withError(
  target: string,
  error: ApiError,
  { inQuery }: { inQuery: boolean },
): string {
  const parameters = {
    error: oauthErrors[error.status],
    error_code: error.errorCode,
    error_description: error.message,
  }
  return withFragment(inQuery ? withQuery(target, parameters) : target, parameters)
}

/** An external sign-in that failed: in the query, and in the fragment where implicit clients look. */
export function withOauthError(
  target: string,
  error: ApiError,
  { inFragment }: { inFragment: boolean },
): string {
  const parameters = {
    error: error.details.oauth?.error ?? oauthErrorOf(error),
    error_code: error.errorCode,
    error_description: error.message,
  }
  const queried = withQuery(target, parameters)
  return inFragment ? withFragment(queried, parameters) : queried
}

function oauthErrorOf({ status, errorCode }: ApiError): string {
  if (denials.includes(errorCode)) return 'access_denied'
  return oauthErrors[status] ?? 'server_error'
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function queryValue(request: FastifyRequest, name: string): string | undefined {
  const { query } = request
  if (typeof query !== 'object' || query === null) return undefined
  const value = Object.entries(query).find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : undefined
}

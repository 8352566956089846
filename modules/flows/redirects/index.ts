/** Redirect targets after a link or a provider, restricted by the operator's allow list. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { maxValueLength, shorten } from '../../../plugins/observability/logger/shorten.ts'
import type { ApiError } from '../../../schemas/errors.ts'
import type { Session } from '../../../schemas/session.ts'
import { compileGlob, isAllowedRedirect, type RedirectRules } from './allowed.ts'

/** Errors reported as access_denied, whatever their status. */
const denials = ['signup_disabled', 'user_banned', 'provider_email_needs_verification']

/** OAuth error codes by status (RFC 6749 §4.1.2.1). */
const oauthErrors: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** The compiled allow list. */
export interface RedirectPolicy {
  redirectRules: RedirectRules
}

/** Whether the server has its own sign-in pages. */
export const hasHostedPages = ({ config }: Pick<FastifyInstance, 'config'>): boolean =>
  config.AUTH_OAUTH_SERVER_ENABLED ||
  config.AUTH_CONSOLE_ENABLED ||
  config.AUTH_ACCOUNT_PAGE_ENABLED

export function createRedirectPolicy({ config }: Pick<FastifyInstance, 'config'>): RedirectPolicy {
  const { AUTH_API_EXTERNAL_URL, dev } = config
  const ownCallback = `${AUTH_API_EXTERNAL_URL}/sign-in/callback`
  const pages = hasHostedPages({ config }) ? { ownCallback } : {}
  let made: { site: string; list: readonly string[]; rules: RedirectRules } | undefined
  return {
    /** Rebuilt after a setting changed. */
    get redirectRules() {
      const { AUTH_SITE_URL: site, AUTH_URI_ALLOW_LIST: list } = config
      if (made?.site !== site || made.list !== list) {
        const globs = list.map(compileGlob)
        const rules = { siteUrl: inAscii(site), globs, allowLoopback: dev, ...pages }
        made = { site, list, rules }
      }
      return made.rules
    },
  }
}

/** The first allowed of: `explicit`, the redirect_to header or query, the Referer; else the site. */
export function resolveTarget(
  { config, flows: { redirectRules: rules } }: FastifyInstance,
  request: FastifyRequest,
  explicit?: string,
): string {
  const requested = explicit || header(request, 'redirect_to') || queryValue(request, 'redirect_to')
  if (requested && isAllowedRedirect(requested, rules)) return inAscii(requested)
  if (requested) {
    const settings = { siteUrl: rules.siteUrl, allowList: config.AUTH_URI_ALLOW_LIST }
    const rejected = {
      request_id: request.id,
      redirect_to: shorten(requested, maxValueLength),
      ...settings,
    }
    request.log.warn(
      rejected,
      'redirect_to rejected: neither AUTH_SITE_URL nor AUTH_URI_ALLOW_LIST allows it; using AUTH_SITE_URL',
    )
  }
  const referrer = header(request, 'referer')
  return referrer && isAllowedRedirect(referrer, rules) ? inAscii(referrer) : rules.siteUrl
}

/** Implicit flow: the session in the fragment, which browsers do not send to servers. */
export function redirectWithSession(
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
export function redirectWithCode(target: string, code: string): string {
  return addParameters(target, { code })
}

/** One step is complete, another is required. */
export function redirectWithMessage(
  target: string,
  message: string,
  { inQuery }: { inQuery: boolean },
): string {
  return withFragment(inQuery ? addParameters(target, { message }) : target, { message })
}

/** The error in the fragment, for PKCE clients in the query as well. */
export function redirectWithError(
  target: string,
  error: ApiError,
  { inQuery }: { inQuery: boolean },
): string {
  const parameters = {
    error: oauthErrors[error.status],
    error_code: error.errorCode,
    error_description: error.message,
  }
  return withFragment(inQuery ? addParameters(target, parameters) : target, parameters)
}

/** The error of an external sign-in: in the query, and in the fragment for implicit clients. */
export function redirectWithOauthError(
  target: string,
  error: ApiError,
  { inFragment }: { inFragment: boolean },
): string {
  const parameters = {
    error: error.details.oauth?.error ?? toOauthError(error),
    error_code: error.errorCode,
    error_description: error.message,
  }
  const queried = addParameters(target, parameters)
  return inFragment ? withFragment(queried, parameters) : queried
}

function toOauthError({ status, errorCode }: ApiError): string {
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

// Adds results to a redirect target.

type Parameters = Record<string, string | number | undefined>

/** The target for a header: the host by UTS 46, other non-ASCII characters percent-encoded (RFC 3986 §2.5). */
export function inAscii(target: string): string {
  return withAsciiHost(target).replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

function withAsciiHost(target: string): string {
  const [start, scheme, host = ''] = /^(https?:\/\/)([^/:?#[]+)/i.exec(target) ?? []
  if (start === undefined || /^[\0-\x7f]*$/.test(host)) return target
  return `${scheme}${new URL(target).hostname}${target.slice(start.length)}`
}

/** Replaces the fragment; keys are sorted. */
export function withFragment(target: string, parameters: Parameters): string {
  const [base = ''] = target.split('#', 1)
  return `${base}#${encode(parameters)}`
}

/** Adds to the query; the fragment stays. */
export function addParameters(target: string, parameters: Parameters): string {
  const url = new URL(target)
  for (const [key, value] of new URLSearchParams(encode(parameters))) {
    url.searchParams.set(key, value)
  }
  url.searchParams.sort()
  return url.href
}

function encode(parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const key of Object.keys(parameters).sort()) {
    const value = parameters[key]
    if (value !== undefined && value !== '') query.set(key, String(value))
  }
  return query.toString()
}

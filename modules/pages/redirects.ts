/** Redirects to the pages that a user completes first; they continue at `next`. */
import type { FastifyInstance, FastifyReply } from 'fastify'

import { factorPage, type MissingProof } from '../page-session/index.ts'
import { errorTextName } from './api.ts'

interface SignIn {
  reason?: Reason | undefined
  /** The address that the client suggests. */
  hint?: string | undefined
  page?: '/sign-in' | '/sign-in/create' | '/sign-in/recover'
}

export function redirectToSignIn(
  { config }: FastifyInstance,
  reply: FastifyReply,
  next: string,
  { reason, hint, page = '/sign-in' }: SignIn = {},
): FastifyReply {
  const query = new URLSearchParams({
    next,
    ...(hint && { login_hint: hint }),
    ...(reason && { reason }),
  })
  return reply.redirect(`${config.AUTH_API_EXTERNAL_URL}${page}?${query}`, 303)
}

/** For a sign-in that is not enough to give access to others. */
export function redirectToProof(
  app: FastifyInstance,
  reply: FastifyReply,
  next: string,
  missing: MissingProof,
): FastifyReply {
  return missing === 'second_factor'
    ? reply.redirect(factorPage(app, 'verification', next), 303)
    : redirectToSignIn(app, reply, next, { reason: missing })
}

/**
 * After a link or a provider that did not complete a sign-in: the same request, with the reason. A link of a recovery
 * leads to the page that sends another one, any other to the sign-in page.
 */
export function redirectToRetry(
  app: FastifyInstance,
  reply: FastifyReply,
  next: string,
  reason: Reason,
): FastifyReply {
  const [path, query] = next.split('?')
  if (path !== '/sign-in/password') return redirectToSignIn(app, reply, next, { reason })
  const target = readNext(new URLSearchParams(query).get('next'))
  return redirectToSignIn(app, reply, target, { reason, page: '/sign-in/recover' })
}

// The page after the current one: always a page of this server.

const pages = /^\/(oauth\/consent|oauth\/device|sign-in\/password|console|account)(?=[/?]|$)/

/** Returns the page of this server that the text names. Empty for anything else: the site of the operator. */
export function readNext(text: unknown): string {
  const next = typeof text === 'string' ? text : ''
  const isPlain = /^\/[\w\-./~%?&=+:@]*$/.test(next) && !next.includes('//')
  return isPlain && pages.test(next) && !hasDotSegment(next) ? next : ''
}

/** Browsers resolve `..` and `%2e%2e`, which would lead to another page or out of the path of this server. */
function hasDotSegment(next: string): boolean {
  const [path] = next.split('?')
  return URL.parse(next, 'https://host')?.pathname !== path
}

// Why a link or a provider did not complete a sign-in. The page that the browser returns to says it, and takes it from
// its address: therefore only a name of these texts.

const names = [
  ...(['cancelled', 'provider_failed', 'unverified_at_provider', 'sign_up_disabled'] as const),
  ...(['link_used', 'opened_elsewhere', 'took_too_long', 'recent_sign_in', 'too_new'] as const),
  ...(['sso_unavailable', 'banned', 'too_many', 'failed'] as const),
]

export type Reason = (typeof names)[number]

const byErrorCode: Record<string, Reason> = {
  otp_expired: 'link_used',
  link_opened_elsewhere: 'opened_elsewhere',
  bad_code_verifier: 'opened_elsewhere',
  bad_oauth_state: 'took_too_long',
  oauth_client_state_not_found: 'took_too_long',
  flow_state_not_found: 'took_too_long',
  flow_state_expired: 'took_too_long',
  flow_state_already_used: 'took_too_long',
  signup_disabled: 'sign_up_disabled',
  provider_email_needs_verification: 'unverified_at_provider',
  saml_relay_state_not_found: 'took_too_long',
  saml_relay_state_expired: 'took_too_long',
  saml_assertion_no_user_id: 'provider_failed',
  saml_assertion_no_email: 'provider_failed',
  sso_provider_not_found: 'sso_unavailable',
  bad_oauth_callback: 'provider_failed',
  oauth_provider_not_supported: 'provider_failed',
  provider_disabled: 'provider_failed',
  service_unavailable: 'provider_failed',
  unexpected_failure: 'provider_failed',
  validation_failed: 'provider_failed',
}

/** The reason for the error of a redirect. A provider's own error has no error code (RFC 6749 §4.1.2.1). */
export function findReason({
  error,
  error_code: code = '',
}: {
  error?: string | undefined
  error_code?: string | undefined
}): Reason {
  if (code === '' && error) return error === 'access_denied' ? 'cancelled' : 'provider_failed'
  const known = Object.hasOwn(byErrorCode, code) ? byErrorCode[code] : undefined
  return known ?? readReason(errorTextName(code)) ?? 'failed'
}

/** The reason that the address of a page names; undefined for anything else. */
export const readReason = (text: unknown): Reason | undefined => names.find((name) => name === text)

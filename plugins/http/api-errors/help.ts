/** In development, common errors link to the page that explains them. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { ApiError } from '../../../schemas/errors.ts'

/** The headings of docs/errors.md that are error codes. */
export const explained: readonly string[] = [
  ...['not_found', 'method_not_allowed', 'bad_json', 'validation_failed', 'email_not_confirmed'],
  ...['phone_not_confirmed', 'invalid_credentials', 'user_already_exists', 'weak_password'],
  ...['over_email_send_rate_limit', 'over_sms_send_rate_limit', 'otp_expired', 'no_authorization'],
  ...['bad_jwt', 'not_admin', 'session_not_found', 'provider_disabled', 'unexpected_failure'],
  ...['email_provider_not_configured', 'service_unavailable', 'feature_disabled'],
  ...['insufficient_aal'],
]

/**
 * Puts the page's address in a Link header (RFC 8288) and in the log. Returns it; undefined when there is no page for
 * this error.
 */
export function help(
  { errorCode, message, status }: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  if (!explained.includes(errorCode)) return undefined
  const page = `/docs/guide/errors#${errorCode}`
  reply.header('link', `<${page}>; rel="help"`)
  const route = request.routeOptions.url ?? 'no path of this server'
  // Server errors are already logged with their cause.
  if (status < 500) request.log.warn({ status, error_code: errorCode, route, help: page }, message)
  return page
}

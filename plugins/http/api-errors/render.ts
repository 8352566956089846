/** Both versions of the error body, and an HTML page for browsers. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { ApiError, ApiErrorDetails } from '../../../schemas/errors.ts'
import type { ServerPageName } from '../pages/index.ts'

const apiVersion = '2024-01-01'

/** Clients that send this API version or a later one read `code` as the error code. */
function readsNamedCode(request: FastifyRequest): boolean {
  const version = request.headers['x-supabase-api-version']
  if (typeof version !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(version)) return false
  return version >= apiVersion && !Number.isNaN(Date.parse(version))
}

/** Sends the error with everything the client may know. In development, pages link to `help`. */
export function render(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  help?: string,
) {
  const { status, details } = error
  reply.status(status).header('cache-control', 'no-store')
  if (details.retryAfter !== undefined) reply.header('retry-after', details.retryAfter)
  if (details.challenge !== undefined) reply.header('www-authenticate', details.challenge)
  if (status === 429) addLimitHeaders(details, reply)
  if (prefersPage(request)) return sendPage(error, request, reply, help)
  const isNamed = readsNamedCode(request)
  if (isNamed) reply.header('x-supabase-api-version', apiVersion)
  return reply.type('application/json').send(JSON.stringify(buildBody(error, request, isNamed)))
}

/**
 * Only browsers that follow a link prefer HTML; programs and SDKs accept JSON or anything. A form is one that the browser
 * says it navigates for: some programs send forms with the headers of a browser.
 */
function prefersPage({ method, headers }: FastifyRequest): boolean {
  const { accept = '', 'sec-fetch-mode': mode } = headers
  const navigates = mode === 'navigate' || (mode === undefined && method === 'GET')
  return (method === 'GET' || method === 'POST') && accept.includes('text/html') && navigates
}

function sendPage(
  { status, errorCode, message }: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  help: string | undefined,
) {
  // Not a declared dependency: pages are created after this plugin and exist once requests are served.
  return request.server.pages.send(reply, pageFor(status, errorCode), {
    language: request.headers['accept-language'],
    details: [message, `${errorCode} · ${request.id}`],
    ...(help !== undefined && { links: [{ url: help, text: 'What to do' }] }),
    end: { sent: [request.query, request.body], errorCode },
  })
}

/** Errors of which the user learns more than that something is missing. */
const ssoUnavailable = [
  'saml_provider_disabled',
  'saml_metadata_expired',
  'sso_provider_not_found',
  'sso_provider_disabled',
]

function pageFor(status: number, errorCode: string): ServerPageName {
  if (ssoUnavailable.includes(errorCode)) return 'sso_unavailable'
  if (status === 404 || status === 405) return 'nothing_here'
  return status === 429 || status >= 500 ? 'try_later' : 'did_not_work'
}

/** The headers that @fastify/rate-limit sends, for account and email limits as well. */
function addLimitHeaders({ limit = 1, retryAfter = 1 }: ApiErrorDetails, reply: FastifyReply) {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', 0)
  reply.header('x-ratelimit-reset', retryAfter)
}

function buildBody(error: ApiError, request: FastifyRequest, isNamed: boolean) {
  const { status, errorCode, message, details } = error
  const { reasons, oauth } = details
  const fields = toOauthFields(error, request.url)
  const extra = {
    ...(reasons && { weak_password: { reasons } }),
    ...(status >= 500 && { error_id: request.id }),
    ...(oauth && { error: oauth.error, error_description: oauth.description }),
    ...fields,
  }
  return isNamed
    ? { code: errorCode, message, ...extra }
    : { code: status, error_code: errorCode, msg: message, ...extra }
}

// The members that OAuth clients read in every error below /oauth, beside GoTrue's (RFC 6749 §5.2, RFC 6750 §3.1, RFC
// 7591 §3.2.2, RFC 9126 §2.3).

interface OauthFields {
  error: string
  error_description: string
}

const prefix = '/oauth/'

const tokenPath = '/oauth/token'

/** Of a session, or its user: the grant at the token endpoint, the bearer token elsewhere. */
const accountCodes = [
  'refresh_token_not_found',
  'refresh_token_already_used',
  'session_not_found',
  'session_expired',
  'user_not_found',
  'user_banned',
  'user_deactivated',
]

const byCode: Record<string, string> = {
  oauth_client_not_found: 'invalid_client',
  no_authorization: 'invalid_token',
  bad_jwt: 'invalid_token',
  // RFC 9470 §3.
  insufficient_aal: 'insufficient_user_authentication',
  mfa_enrollment_required: 'insufficient_user_authentication',
  reauthentication_needed: 'insufficient_user_authentication',
}

const byStatus: Record<number, string> = {
  401: 'invalid_token',
  403: 'access_denied',
  409: 'temporarily_unavailable',
  429: 'temporarily_unavailable',
  503: 'temporarily_unavailable',
  504: 'temporarily_unavailable',
}

/** Undefined at other paths. */
function toOauthFields(error: ApiError, url: string): OauthFields | undefined {
  if (!url.startsWith(prefix)) return undefined
  const { error: name, description } = error.details.oauth ?? {
    error: toName(error, url),
    description: error.message,
  }
  return { error: name, error_description: printable(description) }
}

function toName({ errorCode, status }: ApiError, url: string): string {
  if (accountCodes.includes(errorCode)) {
    return url.split('?', 1)[0] === tokenPath ? 'invalid_grant' : 'invalid_token'
  }
  return (
    byCode[errorCode] ?? byStatus[status] ?? (status < 500 ? 'invalid_request' : 'server_error')
  )
}

/** The characters that RFC 6749 §5.2 allows in an error_description. */
function printable(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
}

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
  return reply.type('application/json').send(JSON.stringify(buildBody(error, request.id, isNamed)))
}

/** Only browsers that follow a link prefer HTML; programs and SDKs accept JSON or anything. */
function prefersPage({ method, headers }: FastifyRequest): boolean {
  const { accept = '', 'sec-fetch-mode': mode = 'navigate' } = headers
  return method === 'GET' && accept.includes('text/html') && mode === 'navigate'
}

function sendPage(
  { status, errorCode, message }: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  help: string | undefined,
) {
  // Not a declared dependency: pages are created after this plugin and exist once requests are served.
  return request.server.pages.send(reply, pageFor(status), {
    language: request.headers['accept-language'],
    details: [message, `${errorCode} · ${request.id}`],
    ...(help !== undefined && { link: { url: help, text: 'What to do' } }),
  })
}

function pageFor(status: number): ServerPageName {
  if (status === 404 || status === 405) return 'nothing_here'
  return status === 429 || status >= 500 ? 'try_later' : 'did_not_work'
}

/** The headers that @fastify/rate-limit sends, for account and email limits as well. */
function addLimitHeaders({ limit = 1, retryAfter = 1 }: ApiErrorDetails, reply: FastifyReply) {
  reply.header('x-ratelimit-limit', limit)
  reply.header('x-ratelimit-remaining', 0)
  reply.header('x-ratelimit-reset', retryAfter)
}

function buildBody(
  { status, errorCode, message, details }: ApiError,
  id: string,
  isNamed: boolean,
) {
  const { reasons, oauth } = details
  const extra = {
    ...(reasons && { weak_password: { reasons } }),
    ...(status >= 500 && { error_id: id }),
    ...(oauth && { error: oauth.error, error_description: oauth.description }),
  }
  return isNamed
    ? { code: errorCode, message, ...extra }
    : { code: status, error_code: errorCode, msg: message, ...extra }
}

/** Responses to clients through the browser (RFC 6749 §4.1.2, OAuth 2.0 Form Post Response Mode). */
import type { FastifyInstance } from 'fastify'

import type { StoredAuthorization } from '../../../db/oauth-server/authorizations.ts'
import type { ResponseMode } from '../../../db/tables/oauth-server.ts'
import { hashClientSecret } from '../clients/client.ts'

type Parameters = Record<string, string | null | undefined>

/** Where the response goes, and how. */
interface Recipient {
  redirectUri: string
  mode: ResponseMode
}

/** A form that the browser posts to the client. */
export interface PostedResponse {
  redirectUri: string
  fields: [name: string, value: string][]
}

/** The errors of a denied request. */
const denials = {
  access_denied: 'The user denied the request',
  login_required: 'The user is not signed in, or not as the request requires',
  consent_required: 'The user has not consented to this request',
  interaction_required: 'A second factor is required',
}
export type Denial = keyof typeof denials

const isDenial = (name: string): name is Denial => Object.hasOwn(denials, name)

/** `iss` prevents mix-up attacks (RFC 9207). */
function listFields({ jwt }: FastifyInstance, parameters: Parameters): [string, string][] {
  return Object.entries({ ...parameters, iss: jwt.issuer }).flatMap(
    ([name, value]): [string, string][] => (value ? [[name, value]] : []),
  )
}

/**
 * A response that no request is stored for: the URL, or the form. Characters that a header cannot contain are encoded.
 */
export function respond(
  app: FastifyInstance,
  { redirectUri, mode }: Recipient,
  parameters: Parameters,
): string | PostedResponse {
  const fields = listFields(app, parameters)
  if (mode === 'form_post') return { redirectUri, fields }
  const target = /[^\x20-\x7e]/.test(redirectUri) ? new URL(redirectUri).href : redirectUri
  const separator = mode === 'fragment' ? '#' : target.includes('?') ? '&' : '?'
  return `${target}${separator}${new URLSearchParams(fields)}`
}

/** The URL of the response to a stored request: for a form, that of the page with the form. */
export function redirectTo(
  app: FastifyInstance,
  request: StoredAuthorization,
  outcome: { code: string } | { error: Denial },
): string {
  const response = respond(app, toRecipient(request), toParameters(request, outcome))
  if (typeof response === 'string') return response
  const query = new URLSearchParams({ authorization_id: request.authorization_id, ...outcome })
  return `${app.config.AUTH_API_EXTERNAL_URL}/oauth/response?${query}`
}

/** The form for that page. Undefined unless the request was answered so, and the code is still valid. */
export function findFormResponse(
  app: FastifyInstance,
  request: StoredAuthorization,
  { code, error = '' }: { code?: string | undefined; error?: string | undefined },
  now: Date,
): PostedResponse | undefined {
  const outcome = code ? { code } : isDenial(error) ? { error } : undefined
  if (!outcome) return undefined
  const isAnswered =
    'code' in outcome
      ? isUnspent(request, now) && hashClientSecret(outcome.code) === request.authorization_code
      : request.status === 'denied'
  if (!isAnswered) return undefined
  const response = respond(app, toRecipient(request), toParameters(request, outcome))
  return typeof response === 'string' ? undefined : response
}

/** Whether the request was approved and its code can still be exchanged. */
export function isUnspent(
  { status, code_expires_at: expiresAt, consumed_at }: StoredAuthorization,
  now: Date,
): boolean {
  return status === 'approved' && expiresAt !== null && expiresAt > now && consumed_at === null
}

function toRecipient({ redirect_uri: redirectUri, parameters }: StoredAuthorization): Recipient {
  return { redirectUri, mode: parameters?.response_mode ?? 'query' }
}

function toParameters(
  { state }: StoredAuthorization,
  outcome: { code: string } | { error: Denial },
): Parameters {
  if ('code' in outcome) return { ...outcome, state }
  return { ...outcome, error_description: denials[outcome.error], state }
}

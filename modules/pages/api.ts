/**
 * The pages call the API like an app: the same routes, limits, checks and audit entries. IP address and user agent are
 * those of the browser.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { ApiError } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import { isRecord } from '../../schemas/values/record.ts'
import type { TextName } from '../../ui/texts.ts'
import { type Answering, toStoredAuthentication } from '../oauth-server/index.ts'
import { findRequiredFactor, type SignedIn } from '../page-session/index.ts'

export interface ApiCall extends ApiUrl {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  payload?: object
  /** The token of the signed-in user. */
  token?: string
}

export interface ApiResponse {
  status: number
  body: Record<string, unknown>
  /** Of a response that is a list. */
  items: Record<string, unknown>[]
  /** What the response sets, as Set-Cookie headers. */
  cookies: string[]
}

/** Headers of the page request that do not apply to the API call, which requests JSON. */
const dropped =
  /^(accept|authorization|connection|content-.*|cookie|expect|host|origin|sec-.*|transfer-encoding|x-supabase-api-version)$/

/** Calls the API on behalf of the browser. For an invalid id, returns the error that the API has for it. */
export async function callApi(
  app: FastifyInstance,
  request: FastifyRequest,
  { method = 'POST', payload, token, ...target }: ApiCall,
): Promise<ApiResponse> {
  const url = readUrl(target)
  if (typeof url !== 'string') return url
  const passed = Object.entries(request.headers).filter(([name]) => !dropped.test(name))
  const response = await app.inject({
    method,
    url,
    remoteAddress: request.ip,
    headers: {
      ...Object.fromEntries(passed),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(payload && { payload }),
  })
  const body: unknown = response.body === '' ? {} : JSON.parse(response.body)
  return {
    status: response.statusCode,
    body: isRecord(body) ? body : {},
    items: Array.isArray(body) ? body.filter(isRecord) : [],
    cookies: [response.headers['set-cookie'] ?? []].flat(),
  }
}

function readUrl(target: ApiUrl): string | ApiResponse {
  try {
    return buildApiUrl(target)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, errorCode, message } = error
    const body = { code: status, error_code: errorCode, msg: message }
    return { status, body, items: [], cookies: [] }
  }
}

/** The JSON that our script wrote into a form field; null for anything else, which the API rejects. */
export function jsonIn(field: string | undefined): unknown {
  try {
    return JSON.parse(field || 'null')
  } catch {
    return null
  }
}

/** A text of the response; undefined when there is none of this name. */
export function textIn({ body }: Pick<ApiResponse, 'body'>, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

interface ApiUrl {
  /** A literal path; `params` fills its `:name` segments. */
  url: `/${string}`
  /** Ids, mostly from form fields. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
}

/**
 * Throws validation_failed (404), as the API does, for an id that is not a UUID. Encoding is not enough: `..` has no
 * character to encode, and resolves to another path.
 */
function buildApiUrl({ url, params = {}, query }: ApiUrl): string {
  const segments = url.split('/').map((segment) => {
    if (!segment.startsWith(':')) return segment
    const name = segment.slice(1)
    return readUuid(name, params[name] ?? '')
  })
  return [segments.join('/'), query && new URLSearchParams(query)].filter(Boolean).join('?')
}

const texts: Record<string, TextName> = {
  invalid_credentials: 'wrong_credentials',
  otp_expired: 'wrong_code',
  mfa_verification_failed: 'wrong_code',
  user_already_exists: 'address_taken',
  email_exists: 'address_taken',
  signup_disabled: 'sign_up_disabled',
  email_not_confirmed: 'unconfirmed',
  phone_not_confirmed: 'unconfirmed',
  over_request_rate_limit: 'too_many',
  over_email_send_rate_limit: 'too_many',
  over_sms_send_rate_limit: 'too_many',
  weak_password: 'weak_password',
  same_password: 'weak_password',
  user_banned: 'banned',
  sso_provider_not_found: 'sso_unknown',
  sso_provider_disabled: 'sso_unavailable',
  saml_provider_disabled: 'sso_unavailable',
  saml_idp_not_found: 'sso_unavailable',
  saml_metadata_expired: 'sso_unavailable',
  captcha_failed: 'captcha_failed',
}

/** Undefined for a successful response. */
export function errorText(response: ApiResponse): TextName | undefined {
  if (response.status < 400) return undefined
  return errorTextName(textIn(response, 'error_code') ?? '')
}

/** The pages' text for an error code. */
export const errorTextName = (errorCode: string): TextName =>
  (Object.hasOwn(texts, errorCode) && texts[errorCode]) || 'failed'

export function toAnswering(
  app: FastifyInstance,
  signedIn: SignedIn,
  { clientIp }: Pick<FastifyRequest, 'clientIp'>,
  now: Date,
): Answering {
  const { session } = signedIn
  const signIn = toStoredAuthentication({ user: session, session, claims: {} }, now)
  const requiresFactor = findRequiredFactor(app, signedIn) !== undefined
  return { user: session, signIn, requiresFactor, ip: clientIp }
}

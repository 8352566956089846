/**
 * The pages call the API like an app: the same routes, limits, checks and audit entries. IP address and user agent are
 * those of the browser.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { ApiError } from '../../schemas/errors.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { type ApiUrl, buildApiUrl } from './api-url.ts'

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

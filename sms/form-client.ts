/** The request format of all SMS providers: a form by POST with a JSON response. */
import { setTimeout as sleep } from 'node:timers/promises'

import { SmsError } from './provider.ts'

interface FormClientOptions {
  fetch: typeof globalThis.fetch
  /** For the whole exchange, a retry included, in milliseconds. */
  timeoutMs: number
  retryDelayMs: number
}

interface FormRequest {
  provider: string
  url: string
  form: Record<string, string>
  authorization?: string
  /** True for a response which means that nothing was sent, so that a retry cannot send twice. */
  retryable?: (answer: FormResponse) => boolean
}

/** Details for a response that shows neither acceptance nor rejection; its status decides. */
export function unreadableResponse({
  status,
}: FormResponse): [detail: string, { mayBeSent: boolean }] {
  return [`unreadable answer (status ${status})`, { mayBeSent: status < 300 }]
}

export interface FormResponse {
  status: number
  /** Undefined for a response that is not JSON. */
  body: unknown
}

export type PostForm = (request: FormRequest) => Promise<FormResponse>

// Errors before a connection existed: the provider did not receive the request.
const neverConnected = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

/**
 * Returns a function that posts a form. Retries once when the provider certainly did not process the request, and never
 * after a lost response, as the message may have been sent. Rejects with SmsError.
 */
export function createFormClient({ fetch, timeoutMs, retryDelayMs }: FormClientOptions): PostForm {
  async function post(request: FormRequest, signal: AbortSignal): Promise<FormResponse> {
    const { url, form, authorization } = request
    const headers = { accept: 'application/json', ...(authorization && { authorization }) }
    const body = new URLSearchParams(form)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    return { status: response.status, body: parse(await response.text()) }
  }

  return async (request) => {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await post(request, signal).catch((error) => {
        if (neverConnected.has(getErrorCode(error))) return undefined
        throw error
      })
      if (answer !== undefined && !request.retryable?.(answer)) return answer
      await sleep(retryDelayMs, undefined, { signal })
      return await post(request, signal)
    } catch (error) {
      const code = getErrorCode(error)
      const mayBeSent = !neverConnected.has(code)
      throw new SmsError(request.provider, `no answer (${code})`, { mayBeSent })
    }
  }
}

export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which may contain a code.
    return undefined
  }
}

/** The error code of the system or of undici, else the name of the error (TimeoutError). */
function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : error.name
}

/** The one request all SMS providers take: a form by POST, answered with JSON. */
import { setTimeout as sleep } from 'node:timers/promises'

import { SmsError } from './provider.ts'

interface FormClientOptions {
  fetch: typeof globalThis.fetch
  /** For the whole exchange, a second attempt included. */
  timeoutMs: number
  retryDelayMs: number
}

interface FormRequest {
  provider: string
  url: string
  form: Record<string, string>
  authorization?: string
  /** True for an answer that means nothing was sent, so that a second attempt cannot send twice. */
  retryable?: (answer: FormAnswer) => boolean
}

/** Of an answer in which neither a refusal nor an acceptance can be read, the status alone tells. */
export function unreadable({ status }: FormAnswer): [detail: string, { mayBeSent: boolean }] {
  return [`unreadable answer (status ${status})`, { mayBeSent: status < 300 }]
}

export interface FormAnswer {
  status: number
  /** Undefined when the answer was not JSON. */
  body: unknown
}

export type PostForm = (request: FormRequest) => Promise<FormAnswer>

// Failures before a connection existed: the provider never saw the request.
const neverConnected = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

/**
 * Returns a function that posts a form. It tries once more when the first request never left or was certainly not
 * carried out, and never after a lost answer, which may have been a sent message. Rejects with SmsError.
 */
export function createFormClient({ fetch, timeoutMs, retryDelayMs }: FormClientOptions): PostForm {
  async function post(request: FormRequest, signal: AbortSignal): Promise<FormAnswer> {
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
        if (neverConnected.has(codeOf(error))) return undefined
        throw error
      })
      if (answer !== undefined && !request.retryable?.(answer)) return answer
      await sleep(retryDelayMs, undefined, { signal })
      return await post(request, signal)
    } catch (error) {
      const code = codeOf(error)
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
    // The parser's message quotes the text, which may hold a code.
    return undefined
  }
}

/** The system's or undici's code of a failed fetch, else the name of the error (TimeoutError). */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : error.name
}

import type { StoredDeliveryResponse } from '../../../db/tables/messages.ts'
import { assertPostgresText } from '../../../schemas/postgres-text.ts'
import type { Deps } from '../../define-plugin.ts'
import { type Message, signMessageHeaders } from './message.ts'

interface EventTarget {
  url: string
  secrets: readonly string[]
}

export interface EventSendResult {
  answer: StoredDeliveryResponse
  accepted: boolean
  /** The endpoint responded that it accepts no more events. */
  gone: boolean
  /** Milliseconds from the Retry-After header. */
  retryAfterMs: number
}

const maxCharacters = 1024
const maxRetryAfterMs = 3600_000

export async function sendEvent(
  deps: Deps<'config' | 'httpClient'>,
  { url, secrets }: EventTarget,
  message: Message,
): Promise<EventSendResult> {
  const startedAt = performance.now()
  const duration = () => Math.round(performance.now() - startedAt)
  try {
    const response = await post(
      deps,
      url,
      message,
      signMessageHeaders(message, secrets, new Date()),
    )
    const { status } = response
    const text = await response.text()
    const body = assertPostgresText(text, maxCharacters)
    const answer = { status, body, error: null, duration_ms: duration() }
    const retryAfterMs = retryAfter(response.headers.get('retry-after'))
    return { answer, accepted: response.ok, gone: status === 410, retryAfterMs }
  } catch (error) {
    const answer = { status: null, body: '', error: describeError(error), duration_ms: duration() }
    return { answer, accepted: false, gone: false, retryAfterMs: 0 }
  }
}

/** Milliseconds after which an attempt is aborted. */
export const timeLimitMs = (config: Deps<'config'>['config']) =>
  config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000

function post(
  { config, httpClient }: Deps<'config' | 'httpClient'>,
  url: string,
  { body }: Message,
  headers: Record<string, string>,
): Promise<Response> {
  const fetch = config.AUTH_WEBHOOK_PRIVATE_ADDRESSES ? httpClient.fetch : httpClient.guardedFetch
  const signal = AbortSignal.timeout(timeLimitMs(config))
  return fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
}

/** Seconds only: a date would depend on the endpoint's clock. */
function retryAfter(header: string | null): number {
  const seconds = /^\d{1,6}$/.test(header ?? '') ? Number(header) : 0
  return Math.min(seconds * 1000, maxRetryAfterMs)
}

/** The cause of a fetch error is more specific than its message. */
function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const text = cause instanceof Error ? cause.message || cause.name : String(cause)
  return assertPostgresText(text, 200)
}

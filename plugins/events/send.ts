/** One attempt at one endpoint: a signed POST and what came of it. Nothing that an endpoint does makes it throw. */
import type { DeliveryAnswer } from '../../db/webhook-deliveries.ts'
import type { House } from '../define-plugin.ts'
import { storableText } from '../storable-text.ts'
import { headersOf, type Message } from './signature.ts'

export interface Target {
  url: string
  secrets: readonly string[]
}

export interface Sent {
  answer: DeliveryAnswer
  accepted: boolean
  /** The endpoint wants no events any more. */
  gone: boolean
  /** Milliseconds that the endpoint asked to be left alone for. */
  retryAfterMs: number
}

const keptCharacters = 1024
const longestRetryAfterMs = 3600_000

export async function send(
  house: House<'config' | 'httpClient'>,
  { url, secrets }: Target,
  message: Message,
): Promise<Sent> {
  const startedAt = performance.now()
  const duration = () => Math.round(performance.now() - startedAt)
  try {
    const response = await post(house, url, message, headersOf(message, secrets, new Date()))
    const { status } = response
    const text = await response.text()
    const body = storableText(text, keptCharacters)
    const answer = { status, body, error: null, duration_ms: duration() }
    const retryAfterMs = retryAfter(response.headers.get('retry-after'))
    return { answer, accepted: response.ok, gone: status === 410, retryAfterMs }
  } catch (error) {
    const answer = { status: null, body: '', error: reasonOf(error), duration_ms: duration() }
    return { answer, accepted: false, gone: false, retryAfterMs: 0 }
  }
}

/** Milliseconds after which an attempt has ended, whatever the endpoint does. */
export const timeLimitMs = (config: House<'config'>['config']) =>
  config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000

function post(
  { config, httpClient }: House<'config' | 'httpClient'>,
  url: string,
  { body }: Message,
  headers: Record<string, string>,
): Promise<Response> {
  const fetch = config.AUTH_WEBHOOK_PRIVATE_ADDRESSES ? httpClient.fetch : httpClient.guardedFetch
  const signal = AbortSignal.timeout(timeLimitMs(config))
  return fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
}

/** Seconds only; a date would depend on the endpoint's clock. */
function retryAfter(header: string | null): number {
  const seconds = /^\d{1,6}$/.test(header ?? '') ? Number(header) : 0
  return Math.min(seconds * 1000, longestRetryAfterMs)
}

/** Of an error of fetch, the cause says more. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const text = cause instanceof Error ? cause.message || cause.name : String(cause)
  return storableText(text, 200)
}

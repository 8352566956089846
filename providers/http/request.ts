import { setTimeout as pause } from 'node:timers/promises'

import type { HttpOptions, Reply, Request, Send } from '../core/http-types.ts'
import { ProviderError, type ProviderErrorKind } from '../core/provider-error.ts'

/** There was no response. The message has the address and the reason, but nothing of the request. */
class NoReply extends Error {
  override name = 'NoReply'
}

/** A limited `fetch` for libraries. */
export function createHttpRequest({ fetch, timeoutMs }: HttpOptions): Request {
  return (url, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('user-agent', 'Postern')
    if (!headers.has('accept')) headers.set('accept', 'application/json')
    const signal = AbortSignal.timeout(timeoutMs)
    return fetch(url, { ...init, headers, signal, redirect: 'manual' })
  }
}

export function createSend(request: Request): Send {
  return (url, init) => readReply(url, () => request(url, init))
}

/** Reads the response of a request. Throws only NoReply. */
export async function readReply(url: string, send: () => Promise<Response>): Promise<Reply> {
  const address = describeUrl(url)
  try {
    const response = await send()
    const { ok, status } = response
    const contentType = response.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
    return { ok, status, contentType, body: await response.text(), address }
  } catch (error) {
    throw new NoReply(`${address}: ${describeError(error)}`)
  }
}

/** Whether the response says that the provider is unavailable. */
export function isProviderDown({ status }: Pick<Reply, 'status'>): boolean {
  return status >= 500 || status === 429
}

/** Parses the JSON of a response, or returns undefined. */
export function parseResponseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function describeUrl(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.host}${parsed.pathname}` : 'an invalid URL'
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const cause = error.cause instanceof Error ? error.cause : error
  if (error.name === 'TimeoutError') return 'no response in time'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

/** A `catch` handler for a request: without a response the provider counts as unavailable, with this error kind. */
export function noReplyAs(kind: ProviderErrorKind): (error: unknown) => never {
  return (error) => {
    if (error instanceof NoReply) throw new ProviderError(kind, error.message, { isDown: true })
    throw error
  }
}

const maxWaitMs = 2_000

/** Returns undefined when the provider rejects it. Throws ProviderError when the provider is unavailable. */
export async function undefinedIfRejected(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ProviderError && !error.isDown) return undefined
    throw error
  }
}

/** Returns undefined on an error, or after 2 s. */
export async function orUndefined(work: Promise<unknown>): Promise<unknown> {
  try {
    return await Promise.race([work, pause(maxWaitMs, undefined, { ref: false })])
  } catch (error) {
    if (error instanceof ProviderError) return undefined
    throw error
  }
}

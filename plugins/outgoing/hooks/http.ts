/** HTTP hooks: a signed POST to the operator's server, with a total time limit of five seconds. */
import { setTimeout as sleep } from 'node:timers/promises'

import {
  hookFailed,
  hookResponseInvalid,
  hookResponseTooLarge,
  hookTimeout,
  hookUnreachable,
  hookUnreachableAfterRetry,
  hookWrongContentType,
} from '../../../schemas/errors.ts'
import { type Fetch, ResponseTooLargeError } from '../http-client/index.ts'
import type { Transport } from './caller.ts'
import { readSigningKeys, signedHeaders } from './signature.ts'

/** Maximum response size in bytes. */
export const maxResponseBytes = 204_800
const totalMs = 5_000
const attempts = 3
const pauseMs = 2_000

interface HttpHook {
  url: string
  secrets: readonly string[]
  /** Rejects responses above `maxResponseBytes` and follows no redirects. */
  fetch: Fetch
}

/** Throws HookError for everything but a successful response. */
export function httpTransport({ url, secrets, fetch }: HttpHook): Transport {
  const keys = readSigningKeys(secrets)

  function post(body: string, signal: AbortSignal): Promise<Response> {
    const signed = signedHeaders(keys, { id: crypto.randomUUID(), body, now: new Date() })
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...signed }
    return fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  }

  return async (body) => {
    const signal = AbortSignal.timeout(totalMs)
    const pause = (ms: number) =>
      sleep(ms, undefined, { signal }).catch((cause) => {
        throw hookTimeout(cause)
      })
    let wasReceived = false
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === attempts
      try {
        const response = await post(body, signal)
        const waitMs = isLast ? undefined : retryAfterMs(response)
        if (waitMs === undefined) return await parseHookResponse(response)
        // Waiting would exceed the time of the call.
        if (waitMs >= totalMs) throw hookFailed(statusError(response))
        await pause(waitMs)
      } catch (thrown) {
        const lost = describeConnectionError(thrown)
        if (lost === undefined) throw toHookError(thrown, signal)
        wasReceived ||= hangUps.has(lost)
        if (isLast) throw hookUnreachableAfterRetry(wasReceived ? 'timeout' : 'unreachable', thrown)
        await pause(pauseMs)
      }
    }
  }
}

/** The delay from Retry-After (RFC 9110 §10.2.3); 0 when it names no seconds. */
function retryAfterMs({ status, headers }: Response): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const value = headers.get('retry-after')
  if (value === null) return undefined
  return /^\d{1,6}$/.test(value.trim()) ? Number(value) * 1000 : 0
}

async function parseHookResponse(response: Response): Promise<unknown> {
  const { status, headers } = response
  if (status === 204) return undefined
  if (status !== 200 && status !== 202) throw hookFailed(statusError(response))
  const type = headers.get('content-type') ?? ''
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw hookWrongContentType(type)
  }
  try {
    return await response.json()
  } catch (cause) {
    throw hookResponseInvalid('A hook returned something that is not JSON', cause)
  }
}

/** Causes of fetch's TypeError when a connection failed or was lost. */
const connectionErrors = /^(E[A-Z]+|EAI_[A-Z]+|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)$/

/** Errors of an established connection: the receiver may have processed the call. */
const hangUps = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function describeConnectionError(thrown: unknown): string | undefined {
  if (!(thrown instanceof TypeError)) return undefined
  const { cause } = thrown
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return connectionErrors.test(code) ? code : undefined
}

function toHookError(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return hookTimeout(thrown)
  if (thrown instanceof ResponseTooLargeError) {
    const isCompleteResponse = thrown.status === 200 || thrown.status === 202
    return isCompleteResponse ? hookResponseTooLarge(maxResponseBytes) : hookFailed(thrown)
  }
  return thrown instanceof TypeError ? hookUnreachable(thrown) : thrown
}

const statusError = ({ status }: Response) => new Error(`the hook responded with status ${status}`)

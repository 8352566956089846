/** A hook that is a server of the operator: a signed POST, answered within five seconds in all. */
import { setTimeout as sleep } from 'node:timers/promises'

import {
  hookAnswerTooLong,
  hookAnswerUnreadable,
  hookFailed,
  hookTimeout,
  hookUnreachable,
  hookUnreachableAfterRetry,
  hookWrongContentType,
} from '../../errors.ts'
import { AnswerTooLong, type Fetch } from '../http-client.ts'
import { signedHeaders, signingKeysOf } from './signature.ts'
import type { Transport } from './transport.ts'

/** Longest answer, in bytes. */
export const maxAnswerBytes = 204_800
const totalMs = 5_000
const attempts = 3
const pauseMs = 2_000

export interface HttpHook {
  url: string
  secrets: readonly string[]
  /** Takes no answer beyond `maxAnswerBytes` and follows no redirection. */
  fetch: Fetch
}

/** Throws HookError for everything but an answer that says yes. */
export function httpTransport({ url, secrets, fetch }: HttpHook): Transport {
  const keys = signingKeysOf(secrets)

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
    let wasHeard = false
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === attempts
      try {
        const response = await post(body, signal)
        const waitMs = isLast ? undefined : retryAfterMs(response)
        if (waitMs === undefined) return await readAnswer(response)
        // Nobody waits for longer than the call may take.
        if (waitMs >= totalMs) throw hookFailed(statusError(response))
        await pause(waitMs)
      } catch (thrown) {
        const lost = connectionErrorOf(thrown)
        if (lost === undefined) throw toHookError(thrown, signal)
        wasHeard ||= hangUps.has(lost)
        if (isLast) throw hookUnreachableAfterRetry(wasHeard ? 'silent' : 'unreachable', thrown)
        await pause(pauseMs)
      }
    }
  }
}

/** The pause that a busy receiver asks for (RFC 9110 §10.2.3); 0 for one that names no seconds. */
function retryAfterMs({ status, headers }: Response): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const asked = headers.get('retry-after')
  if (asked === null) return undefined
  return /^\d{1,6}$/.test(asked.trim()) ? Number(asked) * 1000 : 0
}

async function readAnswer(response: Response): Promise<unknown> {
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
    throw hookAnswerUnreadable('A hook answered with something that is not JSON', cause)
  }
}

/** The causes of fetch's TypeError that say that no connection came about, or that it was lost. */
const connectionErrors = /^(E[A-Z]+|EAI_[A-Z]+|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)$/

/** Those of a connection that had come about: the receiver may have taken the call. */
const hangUps = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function connectionErrorOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof TypeError)) return undefined
  const { cause } = thrown
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return connectionErrors.test(code) ? code : undefined
}

function toHookError(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return hookTimeout(thrown)
  if (thrown instanceof AnswerTooLong) {
    const isAnswer = thrown.status === 200 || thrown.status === 202
    return isAnswer ? hookAnswerTooLong(maxAnswerBytes) : hookFailed(thrown)
  }
  return thrown instanceof TypeError ? hookUnreachable(thrown) : thrown
}

const statusError = ({ status }: Response) => new Error(`the hook answered with status ${status}`)

/** Calls one hook: adds the common metadata to its input and parses its response. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { HookError, hookRejected, hookResponseInvalid } from '../../../schemas/errors.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import type { Deps } from '../../define-plugin.ts'

type CallerDeps = Pick<Deps<'telemetry'>['telemetry'], 'metrics' | 'tracing'> & {
  log: Pick<Deps<'log'>['log'], 'warn'>
}

export type HookResponse = Record<string, unknown>

interface HookCall {
  /** Of the client; empty when no request is involved. */
  ip: string | null
  /** Identifies the event across retries; a new one when absent. */
  uuid?: string
}

/** Throws HookError. */
export type HookCaller = (input: object, call: HookCall) => Promise<HookResponse>

/** `name` appears in the hook's metadata. */
export function createCaller(
  name: string,
  transport: Transport,
  { log, metrics, tracing }: CallerDeps,
): HookCaller {
  return async (input, { ip, uuid = crypto.randomUUID() }) => {
    const metadata = { uuid, time: new Date().toISOString(), name, ip_address: ip ?? '' }
    const body = JSON.stringify({ metadata, ...input })
    try {
      const call = async () => parseHookResponse(await transport(body))
      const response = await tracing.span('hook', { 'hook.name': name }, call)
      metrics.count('postern.hook_calls', { hook: name, outcome: 'ok' })
      return response
    } catch (error) {
      metrics.count('postern.hook_calls', { hook: name, outcome: toOutcome(error) })
      // The request's own error names no hook, and there may be several.
      if (!(error instanceof HookError) || error.kind !== 'rejected') {
        log.warn({ hook: name, reason: describeError(error) }, 'hook failed')
      }
      throw error
    }
  }
}

function toOutcome(error: unknown): string {
  return error instanceof Error && 'kind' in error ? String(error.kind) : 'failed'
}

/** The innermost cause: fetch itself only reports that it failed. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? describeError(error.cause) : error.message || error.name
}

// Hook responses: an object, which may contain an error for the client.

const ErrorResponse = Type.Object({
  error: Type.Object({
    http_code: Type.Optional(Type.Unknown()),
    message: Type.Optional(Type.Unknown()),
  }),
})

/** Throws HookError for a response that contains an error, or is not an object. */
function parseHookResponse(response: unknown): Record<string, unknown> {
  if (response === undefined || response === null) return {}
  if (!isRecord(response)) throw hookResponseInvalid('A hook returned JSON that is no object')
  if (Value.Check(ErrorResponse, response)) throwHookError(response.error)
  return response
}

/** An error without a message or status does not count: receivers send empty fields on success. */
function throwHookError({ http_code, message }: { http_code?: unknown; message?: unknown }): void {
  const isStatus =
    Number.isInteger(http_code) && Number(http_code) >= 400 && Number(http_code) < 600
  const text = typeof message === 'string' ? message : ''
  if (text === '' && !isStatus) return
  throw hookRejected(isStatus ? Number(http_code) : 500, text || 'A hook rejected this request')
}

/** Sends a call, as JSON, to the operator's hook. Resolves to its response; undefined for an empty one. */
export type Transport = (body: string) => Promise<unknown>

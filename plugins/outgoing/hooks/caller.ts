/** Calls one hook: adds the common metadata to its input and parses its response. */
import { HookError } from '../../../schemas/errors.ts'
import type { Deps } from '../../define-plugin.ts'
import { parseHookResponse } from './answer.ts'
import type { Transport } from './transport.ts'

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

/** One hook, ready to be called: its input gets the metadata that all have, its answer is read. */
import { HookError } from '../../errors.ts'
import type { House } from '../define-plugin.ts'
import { readAnswer } from './answer.ts'
import type { Transport } from './transport.ts'

type Watching = Pick<House<'telemetry'>['telemetry'], 'metrics' | 'tracing'> & {
  log: Pick<House<'log'>['log'], 'warn'>
}

export type HookAnswer = Record<string, unknown>

export interface HookCall {
  /** Of the client whose request it is; empty when there is none. */
  ip: string | null
  /** The same for every attempt at one thing, where that may be told twice; a new one when absent. */
  uuid?: string
}

/** Throws HookError. */
export type HookCaller = (input: object, call: HookCall) => Promise<HookAnswer>

/** `name` is what the hook is called in its metadata. */
export function createCaller(
  name: string,
  transport: Transport,
  { log, metrics, tracing }: Watching,
): HookCaller {
  return async (input, { ip, uuid = crypto.randomUUID() }) => {
    const metadata = { uuid, time: new Date().toISOString(), name, ip_address: ip ?? '' }
    const body = JSON.stringify({ metadata, ...input })
    try {
      const call = async () => readAnswer(await transport(body))
      const answer = await tracing.span('hook', { 'hook.name': name }, call)
      metrics.count('postern.hook_calls', { hook: name, outcome: 'answered' })
      return answer
    } catch (error) {
      metrics.count('postern.hook_calls', { hook: name, outcome: outcomeOf(error) })
      // A request that fails for it says no more than that a hook did, and there may be several.
      if (!(error instanceof HookError) || error.fault !== 'refused') {
        log.warn({ hook: name, reason: reasonOf(error) }, 'a hook did not do its part')
      }
      throw error
    }
  }
}

function outcomeOf(error: unknown): string {
  return error instanceof Error && 'fault' in error ? String(error.fault) : 'failed'
}

/** The innermost of what is known: fetch says no more than that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name
}

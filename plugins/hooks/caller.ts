/** One hook, ready to be called: its input gets the metadata that all have, its answer is read. */
import type { House } from '../define-plugin.ts'
import { readAnswer } from './answer.ts'
import type { Transport } from './transport.ts'

type Telemetry = Pick<House<'telemetry'>['telemetry'], 'metrics' | 'tracing'>

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
  { metrics, tracing }: Telemetry,
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
      throw error
    }
  }
}

function outcomeOf(error: unknown): string {
  return error instanceof Error && 'fault' in error ? String(error.fault) : 'failed'
}

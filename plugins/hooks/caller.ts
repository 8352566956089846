/** One hook, ready to be called: its input gets the metadata that all have, its answer is read. */
import type { Metrics } from '../telemetry/metrics.ts'
import { readAnswer } from './answer.ts'
import type { Transport } from './transport.ts'

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
export function createCaller(name: string, transport: Transport, metrics: Metrics): HookCaller {
  return async (input, { ip, uuid = crypto.randomUUID() }) => {
    const metadata = { uuid, time: new Date().toISOString(), name, ip_address: ip ?? '' }
    try {
      const answer = readAnswer(await transport(JSON.stringify({ metadata, ...input })))
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

import { Client } from 'undici'

import { describeAnswer, exchange } from './exchange.ts'
import type { Load } from './scenario.ts'
import type { Target } from './target.ts'

export interface Round {
  /** Milliseconds of each good answer, from the first byte sent to the last one read. */
  latencies: number[]
  /** How often each kind of failure was met. */
  errors: Map<string, number>
  /** How long the round really took. */
  seconds: number
  /** The index after the last request, where the next round goes on. */
  next: number
}

export interface RoundOptions {
  connections: number
  seconds: number
  first: number
  /** At most this many requests. */
  limit: number
}

/**
 * Keeps every connection busy for a while: a connection sends its next request when the answer is there.
 * What is under way when the time is over is still waited for, and counted.
 */
export async function runRound(target: Target, load: Load, options: RoundOptions): Promise<Round> {
  const round: Round = { latencies: [], errors: new Map(), seconds: 0, next: options.first }
  const started = performance.now()
  const end = started + options.seconds * 1000
  const last = options.first + options.limit

  async function keepBusy(connection: number) {
    const client = new Client(target.origin)
    while (round.next < last && performance.now() < end) {
      await sendOne(client, round.next++, connection)
    }
    await client.close()
  }

  async function sendOne(client: Client, i: number, connection: number) {
    const request = load.request(i, connection)
    const sent = performance.now()
    try {
      const answer = await exchange(client, target.prefix, request)
      const latency = performance.now() - sent
      if (answer.status > 299) return count(describeAnswer(answer))
      round.latencies.push(latency)
      load.answered?.(answer.body, connection)
    } catch (error) {
      count(error instanceof Error && 'code' in error ? String(error.code) : String(error))
    }
  }

  function count(failure: string) {
    round.errors.set(failure, (round.errors.get(failure) ?? 0) + 1)
  }

  await Promise.all(Array.from({ length: options.connections }, (_, i) => keepBusy(i)))
  round.seconds = (performance.now() - started) / 1000
  return round
}

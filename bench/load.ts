import { Client } from 'undici'

import { describeResponse, exchange } from './core/exchange.ts'
import { isGood, type Load } from './core/scenario.ts'
import type { Target } from './core/target.ts'

export interface Round {
  /** Milliseconds of each successful response, from the first byte sent to the last byte read. */
  latencies: number[]
  /** Number of failures by type. */
  errors: Map<string, number>
  /** The actual duration of the round. */
  seconds: number
  /** The index after the last request, where the next round continues. */
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
 * Keeps each connection busy for a while: it sends its next request after the response. Requests in flight at the end
 * are awaited and counted.
 */
export async function runRound(target: Target, load: Load, options: RoundOptions): Promise<Round> {
  const round: Round = { latencies: [], errors: new Map(), seconds: 0, next: options.first }
  const started = performance.now()
  const end = started + options.seconds * 1000
  const last = options.first + options.limit

  async function sendRequests(connection: number) {
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
      const response = await exchange(client, target.prefix, request)
      const latency = performance.now() - sent
      if (!isGood(load, response)) return count(describeResponse(response))
      round.latencies.push(latency)
      load.answered?.(response.body, connection)
    } catch (error) {
      count(error instanceof Error && 'code' in error ? String(error.code) : String(error))
    }
  }

  function count(failure: string) {
    round.errors.set(failure, (round.errors.get(failure) ?? 0) + 1)
  }

  await Promise.all(Array.from({ length: options.connections }, (_, i) => sendRequests(i)))
  round.seconds = (performance.now() - started) / 1000
  return round
}

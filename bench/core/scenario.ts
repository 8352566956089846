import type { HttpRequest, Response } from './exchange.ts'
import type { Target } from './target.ts'

/** One type of request, measured separately. A new one is a file in scenarios/ and a line in catalogue.ts. */
export interface Scenario {
  name: string
  /** Runs only when it is named. */
  isOptional?: true
  /**
   * Creates what the requests need (users, sessions, links), unmeasured. Throws Rejected when the server lacks the
   * endpoint.
   */
  prepare(target: Target, plan: Plan): Promise<Load>
}

export interface Plan {
  /** Concurrent requests; each connection sends the next one when its response is complete. */
  connections: number
  /** Number of single-use items (links, emails) for scenarios that consume them. */
  stock: number
}

export interface Load {
  /** The i-th request of the scenario (from 0, over all rounds), sent on that connection. */
  request(i: number, connection: number): HttpRequest
  /** Receives each successful response, for requests that depend on the previous one. */
  answered?(body: string, connection: number): void
  /** Whether the response has the expected result; by its status when absent. */
  isGood?(response: Response): boolean
  /** How many requests there are; absent when they never run out. */
  stock?: number
}

export function isGood(load: Load, response: Response): boolean {
  return load.isGood ? load.isGood(response) : response.status <= 299
}

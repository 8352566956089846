import type { HttpRequest } from './exchange.ts'
import type { Target } from './target.ts'

/** One kind of request, measured by itself. A new one is a file in scenarios/ and a line in catalogue.ts. */
export interface Scenario {
  name: string
  /**
   * Makes what the requests need (people, sessions, links); none of this is measured.
   * Throws Refused when the server does not offer the endpoint.
   */
  prepare(target: Target, plan: Plan): Promise<Load>
}

export interface Plan {
  /** Requests under way at a time; each connection sends the next when its answer is complete. */
  connections: number
  /** How many single-use things (links, addresses) to make for the scenarios that spend them. */
  stock: number
}

export interface Load {
  /** The i-th request of the scenario (from 0, over all rounds), sent on that connection. */
  request(i: number, connection: number): HttpRequest
  /** Sees each good answer, for what the next request of that connection depends on. */
  answered?(body: string, connection: number): void
  /** How many requests there are; absent when they never run out. */
  stock?: number
}

/** The server does not do this, or is not there at all; the message says why, to be read by people. */
export class Refused extends Error {
  override name = 'Refused'
}

/** Requests to other servers, counted by host and outcome. */
import type { Metrics } from './metrics.ts'

/** `fetch` with the response of whoever implements it. */
type Fetch<R> = (input: string | URL | Request, init?: RequestInit) => Promise<R>

/** Hosts that have a series of their own; those that come later share one, as webhooks are for anybody's hosts. */
const mostHosts = 50
const hosts = new Set<string>()

/** The same fetch, each call of which is counted. */
export function countedFetch<R extends { status: number }>(
  fetch: Fetch<R>,
  metrics: Metrics,
): Fetch<R> {
  if (!metrics.enabled) return fetch
  return async (input, init) => {
    const host = labelOf(new URL(input instanceof Request ? input.url : input).hostname)
    const count = (outcome: string) => metrics.count('postern.outgoing_requests', { host, outcome })
    try {
      const response = await fetch(input, init)
      count(outcomeOf(response.status))
      return response
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      count(isLate ? 'silent' : 'unreachable')
      throw error
    }
  }
}

function outcomeOf(status: number): string {
  if (status >= 500) return 'failed'
  return status >= 400 ? 'refused' : 'ok'
}

function labelOf(host: string): string {
  if (hosts.size < mostHosts) hosts.add(host)
  return hosts.has(host) ? host : 'other'
}

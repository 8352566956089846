/** Counts requests to other servers by host and outcome. */
import type { Metrics } from './metrics.ts'

/** `fetch` with the response type of its implementation. */
type Fetch<R> = (input: string | URL | Request, init?: RequestInit) => Promise<R>

/** Maximum hosts with their own series; later ones share one, because webhooks can name any host. */
const maxHosts = 50
const hosts = new Set<string>()

/** Wraps fetch to count each call, by its host or by the fixed label in its place. */
export function countedFetch<R extends { status: number }>(
  fetch: Fetch<R>,
  metrics: Metrics,
  label?: string,
): Fetch<R> {
  if (!metrics.enabled) return fetch
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const host = label ?? toHostLabel(url.hostname)
    const count = (outcome: string) => metrics.count('postern.outgoing_requests', { host, outcome })
    try {
      const response = await fetch(input, init)
      count(toOutcome(response.status))
      return response
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      count(isLate ? 'timeout' : 'unreachable')
      throw error
    }
  }
}

function toOutcome(status: number): string {
  if (status >= 500) return 'failed'
  return status >= 400 ? 'rejected' : 'ok'
}

function toHostLabel(host: string): string {
  if (hosts.size < maxHosts) hosts.add(host)
  return hosts.has(host) ? host : 'other'
}

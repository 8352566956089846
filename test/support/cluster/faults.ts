/** Causes a fault under load, and waits until requests succeed again. */
import type { TestContext } from 'node:test'

import { until } from '../processes/until.ts'
import type { Load } from './load.ts'

/** Recovered after this many responses without a failure. */
const wellAfter = 60
/** Responses that are observed after the recovery. */
const observed = 60

export interface Fault {
  name: string
  act: () => Promise<unknown>
}

export interface Observation {
  name: string
  requests: number
  failed: number
  /** Seconds from the first failed request to the last failure. */
  window: number
  /** Longest wait of a client, in seconds. */
  longest: number
  kinds: Record<string, number>
  /** Failures of requests that were sent after the recovery. */
  late: number
}

/** The requests are those from the fault until the end of the observation. */
export async function observe({ client }: Load, { name, act }: Fault): Promise<Observation> {
  const before = client.requests
  const known = client.failures.length
  client.takeLongestMs()
  await act()
  const acted = client.requests
  await until(() => client.requests >= acted + wellAfter && client.streak >= wellAfter, {
    seconds: 120,
    missing: `${name}: requests fail still`,
  })
  const recoveredAt = performance.now()
  const well = client.requests
  await until(() => client.requests >= well + observed)
  const failures = client.failures.slice(known)
  const kinds: Record<string, number> = {}
  for (const { what } of failures) kinds[what] = (kinds[what] ?? 0) + 1
  const first = Math.min(...failures.map(({ since }) => since))
  const last = Math.max(...failures.map(({ at }) => at))
  return {
    name,
    requests: client.requests - before,
    failed: failures.length,
    window: failures.length === 0 ? 0 : tenths(last - first),
    longest: tenths(client.takeLongestMs()),
    kinds,
    late: failures.filter(({ since }) => since > recoveredAt).length,
  }
}

/** Prints a table with one line for each fault. */
export function report(t: TestContext, load: Load, observations: readonly Observation[]): void {
  const rows = observations.map(({ name, requests, failed, window, longest, kinds }) => [
    name,
    String(requests),
    String(failed),
    `${window} s`,
    `${longest} s`,
    JSON.stringify(kinds),
  ])
  const head = ['Fault', 'requests', 'failed', 'window', 'longest', 'which']
  for (const row of [head, head.map(() => '---'), ...rows]) t.diagnostic(`| ${row.join(' | ')} |`)
  const { client, users, mailed, links } = load
  t.diagnostic(
    `${client.requests} requests, ${users.length} sessions, ${mailed.length} mails, ${links.length} links`,
  )
}

const tenths = (ms: number) => Math.round(ms / 100) / 10

/**
 * Traces and metrics by OpenTelemetry. When both are off, none of it is loaded and no hook runs. The entry point loads
 * the instrumentation (instrumentation.ts) earlier, before Fastify.
 */
import { readdir } from 'node:fs/promises'

import type { Histogram, Meter, ObservableResult } from '@opentelemetry/api'
import { LRUCache } from 'lru-cache'

import { version } from '../../../version.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import {
  type CounterLabels,
  type CounterName,
  counters,
  type GaugeName,
  gauges,
  type HistogramLabels,
  type HistogramName,
  histograms,
  type Reading,
  readCounters,
} from './instruments.ts'
import { continueTracesFrom } from './remote-parents.ts'
import { createTracing, type Tracing, withoutTracing } from './tracing.ts'

/** As many as a connection prepares. */
const names = new LRUCache<string, string>({ max: 500 })

/** The name of a statement in metrics: its operation and table, as in `update sessions`. */
function statementName(sql: string): string {
  const known = names.get(sql)
  if (known) return known
  const name = readName(sql)
  names.set(sql, name)
  return name
}

/** Only tables of our own schemas are named, so that the number of series is bounded. */
function readName(sql: string): string {
  const [, verb, table] = /\b(insert into|update|delete from|from) "\w+"\."(\w+)"/.exec(sql) ?? []
  if (verb && table) return `${verb === 'from' ? 'select' : verb.split(' ')[0]} ${table}`
  return /^\W*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? 'sql'
}

// Counts requests to other servers by host and outcome.

/** `fetch` with the response type of its implementation. */
type Fetch<R> = (input: string | URL | Request, init?: RequestInit) => Promise<R>

/** Maximum hosts with their own series; later ones share one, because webhooks can name any host. */
const maxHosts = 50

const hosts = new Set<string>()

/** Wraps fetch to count each call, by its host or by the fixed label in its place. */
function countedFetch<R extends { status: number }>(
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

declare module 'fastify' {
  interface FastifyInstance {
    telemetry: ReturnType<typeof createTelemetry>
  }
}

type TelemetryDeps = Deps<'config' | 'log' | 'addHook'>

function createTelemetry(metrics: Metrics, tracing: Tracing) {
  return {
    metrics,
    tracing,
    continueTracesFrom,

    /** Wraps fetch to count calls by host; by `label` where clients choose the host. */
    fetch: <R extends { status: number }>(
      fetch: (input: string | URL | Request, init?: RequestInit) => Promise<R>,
      label?: string,
    ) => countedFetch(fetch, metrics, label),

    /** Called after every statement; undefined when metrics are off. */
    onStatement: onStatement(metrics),
  }
}

export default definePlugin({
  name: 'telemetry',
  deps: ['config', 'log', 'addHook'],
  async create(deps) {
    const { AUTH_TRACING_ENABLED, AUTH_METRICS_ENABLED } = deps.config
    if (AUTH_TRACING_ENABLED || AUTH_METRICS_ENABLED) await runSdk(deps)
    const tracing = AUTH_TRACING_ENABLED ? await startTracing(deps) : withoutTracing
    const metrics = AUTH_METRICS_ENABLED ? await startMetrics(deps) : createMetrics(undefined)
    return createTelemetry(metrics, tracing)
  },
})

async function runSdk(deps: TelemetryDeps): Promise<void> {
  const { startSdk } = await import('./sdk.ts')
  const sdk = await startSdk(deps.config, deps.log)
  deps.addHook('onClose', sdk.shutdown)
}

async function startTracing(deps: TelemetryDeps): Promise<Tracing> {
  const api = await import('@opentelemetry/api')
  const { addHttpAttributes } = await import('./http-attributes.ts')
  const tracer = api.trace.getTracer('postern', version)
  addHttpAttributes(deps, api)
  return createTracing(api, tracer)
}

async function startMetrics(deps: TelemetryDeps): Promise<Metrics> {
  const api = await import('@opentelemetry/api')
  const { addHttpMetrics } = await import('./http-metrics.ts')
  const meter = api.metrics.getMeter('postern', version)
  let closing = false
  deps.addHook('preClose', async () => {
    closing = true
  })
  addHttpMetrics(deps, meter)
  const metrics = createMetrics(meter, () => closing)
  addProcessGauges(metrics)
  return metrics
}

// Durations of statements, by name.

/** Called after each statement; undefined when metrics are off. */
function onStatement(metrics: Metrics): ((sql: string, durationMs: number) => void) | undefined {
  if (!metrics.enabled) return undefined
  return (sql, durationMs) => {
    metrics.record('db.client.operation.duration', durationMs / 1000, {
      'db.query.summary': statementName(sql),
    })
  }
}

/** Resource usage of the process. */
function addProcessGauges(metrics: Metrics): void {
  metrics.gauge('process.memory.usage', () => [{ value: process.memoryUsage.rss(), labels: {} }])
  metrics.gauge('process.cpu.time', () => {
    const { user, system } = process.cpuUsage()
    return [
      { value: user / 1e6, labels: { 'cpu.mode': 'user' } },
      { value: system / 1e6, labels: { 'cpu.mode': 'system' } },
    ]
  })
  // Skipped where this folder does not exist.
  metrics.gauge('process.open_file_descriptor.count', async () => {
    const open = await readdir('/proc/self/fd').catch(() => undefined)
    return open ? [{ value: open.length, labels: {} }] : []
  })
}

// The server's counters, histograms and gauges (instruments.ts). When metrics are off, each call is an empty function.

interface Metrics {
  /** Whether metrics are exported. */
  enabled: boolean

  /** Adds one. */
  count<N extends CounterName>(name: N, labels: CounterLabels<N>): void

  /** Subscribes to every count, also when metrics are off. */
  onCount(listener: CountListener): void

  /** Records a duration in seconds. */
  record<N extends HistogramName>(name: N, seconds: number, labels: HistogramLabels<N>): void

  /** Registers how a gauge is read; at most once per name. A gauge whose read fails is skipped. */
  gauge<N extends GaugeName>(name: N, read: () => Reading<N>[] | Promise<Reading<N>[]>): void
}

type CountListener = (name: CounterName, labels: Readonly<Record<string, string>>) => void

/** Without a meter nothing is recorded. Gauges are skipped during shutdown, when their sources are closing too. */
export function createMetrics(meter: Meter | undefined, isClosing = () => false): Metrics {
  const listeners: CountListener[] = []
  const notifyListeners: CountListener = (name, labels) => {
    for (const listener of listeners) listener(name, labels)
  }
  const onCount = (listener: CountListener) => void listeners.push(listener)
  if (meter === undefined) {
    return { enabled: false, count: notifyListeners, onCount, record() {}, gauge() {} }
  }
  const counted = makeCounters(meter)
  const recorded = makeHistograms(meter)
  return {
    enabled: true,
    onCount,
    count(name, labels) {
      notifyListeners(name, labels)
      counted.get(name)?.add(1, labels)
    },
    record(name, seconds, labels) {
      recorded.get(name)?.record(seconds, labels)
    },
    gauge(name, read) {
      observable(meter, name).addCallback(async (result: ObservableResult) => {
        if (isClosing()) return
        for (const { value, labels } of await read()) result.observe(value, labels)
      })
    },
  }
}

function makeCounters(meter: Meter) {
  const made = Object.entries(counters).map(([name, { description, ...more }]) => {
    const counter = meter.createCounter(name, { description })
    for (const labels of 'from0' in more ? more.from0 : []) counter.add(0, labels)
    return [name, counter] as const
  })
  return new Map(made)
}

function makeHistograms(meter: Meter): Map<string, Histogram> {
  const made = Object.entries(histograms).map(([name, { description, boundaries }]) => {
    const advice = { explicitBucketBoundaries: [...boundaries] }
    return [name, meter.createHistogram(name, { description, unit: 's', advice })] as const
  })
  return new Map(made)
}

function observable(meter: Meter, name: GaugeName) {
  if (name === 'process.cpu.time') return meter.createObservableCounter(name, readCounters[name])
  return meter.createObservableGauge(name, gauges[name])
}

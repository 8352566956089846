/** The server's own counters and gauges (instruments.ts). Switched off, each call is an empty function. */
import type { Meter } from '@opentelemetry/api'
import {
  type CounterLabels,
  type CounterName,
  counters,
  type GaugeName,
  gauges,
  type Reading,
} from './instruments.ts'

export interface Metrics {
  /** Whether anybody reads them. */
  enabled: boolean

  /** Adds one. */
  count<N extends CounterName>(name: N, labels: CounterLabels<N>): void

  /** Says how a gauge is read; at most once a name. A reading that fails leaves its gauge out. */
  gauge<N extends GaugeName>(name: N, read: () => Reading<N>[] | Promise<Reading<N>[]>): void
}

/** Without a meter, nothing is counted. While the server closes, gauges are left out: what they read is closing too. */
export function createMetrics(meter: Meter | undefined, isClosing = () => false): Metrics {
  if (meter === undefined) return { enabled: false, count() {}, gauge() {} }
  const made = new Map(
    Object.entries(counters).map(([name, { description }]) => [
      name,
      meter.createCounter(name, { description }),
    ]),
  )
  return {
    enabled: true,
    count(name, labels) {
      made.get(name)?.add(1, labels)
    },
    gauge(name, read) {
      const instrument = meter.createObservableGauge(name, gauges[name])
      instrument.addCallback(async (result) => {
        if (isClosing()) return
        for (const { value, labels } of await read()) result.observe(value, labels)
      })
    },
  }
}

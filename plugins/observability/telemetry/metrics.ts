/**
 * The server's counters, histograms and gauges (instruments.ts). When metrics are off, each call is an empty function.
 */
import type { Histogram, Meter, ObservableResult } from '@opentelemetry/api'

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

export interface Metrics {
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

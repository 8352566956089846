/** The duration of an ended span, to the microsecond. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import * as api from '@opentelemetry/api'

import { createTracing } from '../../../plugins/observability/telemetry/tracing.ts'

suite('span of a completed operation', () => {
  test('has the duration of the operation', () => {
    const durations: number[] = []
    const spanContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }
    const span = api.trace.wrapSpanContext(spanContext)
    span.isRecording = () => true
    const trace = Object.assign(Object.create(api.trace), { getActiveSpan: () => span })
    const tracer = new api.ProxyTracerProvider().getTracer('test')
    tracer.startSpan = (_name, { startTime } = {}) => {
      const begun = Number(startTime)
      const started = api.trace.wrapSpanContext(spanContext)
      started.end = (endTime) => void durations.push(Number(endTime) - begun)
      return started
    }
    createTracing({ ...api, trace }, tracer).ended(() => ({ name: 'select', ms: 0.25 }))
    assert.deepEqual(durations, [0.25])
  })
})

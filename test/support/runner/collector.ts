/** An OpenTelemetry collector that stores received data, in either form of OTLP over HTTP. */
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'

import protobuf from 'protobufjs'

import type { Ending } from '../processes/ending.ts'
import { serve } from '../processes/listening.ts'

const protocol = protobuf.loadSync(join(import.meta.dirname, 'otlp.proto'))

/** The message of each path (OTLP/HTTP). */
const messages = {
  '/v1/traces': protocol.lookupType('otlp.ExportTraceServiceRequest'),
  '/v1/metrics': protocol.lookupType('otlp.ExportMetricsServiceRequest'),
}

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: string | number; doubleValue?: number }
}

interface Scoped<T> {
  resource: { attributes: Attribute[] }
  scopeSpans?: { spans: T[] }[]
  scopeMetrics?: { metrics: T[] }[]
}

export interface Span {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string | number
  endTimeUnixNano: string | number
  attributes?: Attribute[]
  status: { code?: number }
}

export interface Received {
  path: string
  type: string | undefined
  headers: IncomingMessage['headers']
  body: Buffer
}

export async function startCollector(t: Ending) {
  const received: Received[] = []
  /** Decoded once: tests look for a span many times. */
  const decoded = new WeakMap<Received, ReturnType<typeof decode>>()
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { url: path = '', headers } = request
    received.push({ path, type: headers['content-type'], headers, body })
    response.setHeader('content-type', headers['content-type'] ?? 'application/json')
    response.end(headers['content-type'] === 'application/json' ? '{}' : '')
  })
  const port = await serve(t, server)

  /** Data received on a path, in the form of OTLP’s JSON. */
  function resources<T>(path: keyof typeof messages): Scoped<T>[] {
    return received
      .filter((one) => one.path === path)
      .flatMap((one) => {
        const { type, body } = one
        const message =
          decoded.get(one) ??
          (type === 'application/json' ? JSON.parse(body.toString()) : decode(path, body))
        decoded.set(one, message)
        const { resourceSpans = [], resourceMetrics = [] } = message
        return [...resourceSpans, ...resourceMetrics]
      })
  }

  return {
    url: `http://127.0.0.1:${port}`,
    received,
    spans: () =>
      resources<Span>('/v1/traces').flatMap((one) => one.scopeSpans?.flatMap((s) => s.spans) ?? []),
    metricNames: () =>
      resources<{ name: string }>('/v1/metrics')
        .flatMap((one) => one.scopeMetrics?.flatMap((s) => s.metrics) ?? [])
        .map(({ name }) => name),
    resource: () => parseAttributes(resources('/v1/traces')[0]?.resource.attributes ?? []),
  }
}

/** An ExportTraceServiceRequest received over gRPC. */
export function readTraces(message: Buffer): Scoped<Span>[] {
  return decode('/v1/traces', message).resourceSpans ?? []
}

/** Ids in hexadecimal, as OTLP's JSON has them. */
function decode(path: keyof typeof messages, body: Buffer) {
  const message = messages[path].toObject(messages[path].decode(body), { longs: Number })
  const hex = (_key: string, value: unknown) => {
    const isBytes =
      typeof value === 'object' && value !== null && 'type' in value && 'data' in value
    return isBytes && Array.isArray(value.data) ? Buffer.from(value.data).toString('hex') : value
  }
  return JSON.parse(JSON.stringify(message), hex)
}

/** Attributes as an object. */
export function parseAttributes(
  attributes: Attribute[] = [],
): Record<string, string | number | undefined> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value.doubleValue : +value.intValue),
    ]),
  )
}

/** An OpenTelemetry collector that keeps what it receives, in either form of OTLP over HTTP. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'

interface Ending {
  after(stop: () => Promise<void>): void
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
  attributes: Attribute[]
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
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { url: path = '', headers } = request
    received.push({ path, type: headers['content-type'], headers, body })
    response.setHeader('content-type', headers['content-type'] ?? 'application/json')
    response.end(headers['content-type'] === 'application/json' ? '{}' : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0

  /** What came as JSON on a path. */
  function resources<T>(path: string): Scoped<T>[] {
    return received
      .filter((one) => one.path === path && one.type === 'application/json')
      .flatMap(({ body }) => {
        const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body.toString())
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
    resource: () => valuesOf(resources('/v1/traces')[0]?.resource.attributes ?? []),
  }
}

/** Attributes as an object. */
export function valuesOf(attributes: Attribute[]): Record<string, string | number | undefined> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue === undefined ? value.doubleValue : +value.intValue),
    ]),
  )
}

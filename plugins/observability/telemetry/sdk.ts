/** The OpenTelemetry SDK, loaded only when telemetry is on. Other settings come from its own OTEL_* variables. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

import type { FastifyBaseLogger } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import { version } from '../../../version.ts'

interface RunningSdk {
  /** Exports buffered data. Never throws: an unreachable collector must not fail the shutdown. */
  shutdown(): Promise<void>
}

/** A collector that does not respond must not delay the shutdown. */
const shutdownMs = 5_000

/** Throws, with one sentence, when the Prometheus port is in use. */
export async function startSdk(config: Config, log: FastifyBaseLogger): Promise<RunningSdk> {
  const { startNodeSdk } = await import('@opentelemetry/sdk-node')
  const sdk = startNodeSdk({
    // Used until the logger below replaces it; errors that prevent the SDK's start appear on the console.
    logLevel: config.DEBUG ? 'debug' : 'error',
    ...resourceOptions(config),
    logRecordProcessors: [],
    ...(!config.AUTH_TRACING_ENABLED && { spanProcessors: [] }),
    ...(await metricOptions(config)),
  })
  await logDiagnostics(log, config.DEBUG)
  return {
    async shutdown() {
      try {
        await Promise.race([sdk.shutdown(), pause(shutdownMs)])
      } catch (error) {
        log.warn(`telemetry: last export failed: ${error}`)
      }
    },
  }
}

/** No detectors: the SDK's would add the command line. OTEL_RESOURCE_ATTRIBUTES is read in any case. */
function resourceOptions({ OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES = '' }: Config) {
  const isNamed = /(^|,)\s*service\.name=/.test(OTEL_RESOURCE_ATTRIBUTES)
  const name = OTEL_SERVICE_NAME ?? (isNamed ? undefined : 'postern')
  return {
    resourceDetectors: [],
    resourceAttributes: {
      ...(name && { 'service.name': name }),
      'service.version': version,
      'service.instance.id': randomUUID(),
      'host.name': hostname(),
      'auth.version': version,
    },
  }
}

async function metricOptions(config: Config) {
  if (!config.AUTH_METRICS_ENABLED) return { metricReaders: [] }
  const { RuntimeNodeInstrumentation } = await import('@opentelemetry/instrumentation-runtime-node')
  const instrumentations = [new RuntimeNodeInstrumentation()]
  if (config.AUTH_METRICS_EXPORTER === 'opentelemetry') return { instrumentations }
  return { instrumentations, metricReaders: [await prometheusReader(config)] }
}

async function prometheusReader(config: Config) {
  const { PrometheusExporter } = await import('@opentelemetry/exporter-prometheus')
  const { OTEL_EXPORTER_PROMETHEUS_HOST: host, OTEL_EXPORTER_PROMETHEUS_PORT: port } = config
  const reader = new PrometheusExporter({ host, port, endpoint: '/', preventServerStart: true })
  try {
    await reader.startServer()
  } catch (error) {
    const hint = 'choose other values of OTEL_EXPORTER_PROMETHEUS_HOST and _PORT'
    throw new Error(`Metrics cannot be served on ${host}:${port}: ${hint}.`, { cause: error })
  }
  if (config.AUTH_TRACING_ENABLED) await excludeFromTraces(port)
  return reader
}

/** The exporter serves with node:http, which is instrumented. */
async function excludeFromTraces(port: number): Promise<void> {
  const { untracedPorts } = await import('./instrumentation.ts')
  untracedPorts.add(port)
}

async function logDiagnostics(log: FastifyBaseLogger, debug: boolean): Promise<void> {
  const { diag, DiagLogLevel } = await import('@opentelemetry/api')
  const write =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (message: string, ...more: unknown[]) =>
      log[level](`telemetry: ${[message, ...more].map(String).join(' ')}`)
  const logger = {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    verbose: write('debug'),
  }
  const logLevel = debug ? DiagLogLevel.DEBUG : DiagLogLevel.WARN
  diag.setLogger(logger, { logLevel, suppressOverrideMessage: true })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

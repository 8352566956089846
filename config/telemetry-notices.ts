/** Warns of metrics that are neither pushed to a collector nor scraped. */
import type { Config } from './groups/index.ts'
import type { Environment } from './names.ts'

export function telemetryNotices(env: Environment, config: Config): string[] {
  const isPushed = config.AUTH_METRICS_ENABLED && config.AUTH_METRICS_EXPORTER === 'opentelemetry'
  // The SDK reads the second one itself.
  const collector = config.OTEL_EXPORTER_OTLP_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
  if (!isPushed || collector) return []
  return [
    'AUTH_METRICS_ENABLED pushes metrics to a collector on this machine, because OTEL_EXPORTER_OTLP_ENDPOINT is not set: set it, or AUTH_METRICS_EXPORTER=prometheus to serve them on OTEL_EXPORTER_PROMETHEUS_PORT.',
  ]
}

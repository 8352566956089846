/** Metrics that go nowhere: switched on without a collector, while nobody is to fetch them either. */
import type { Config } from './config.ts'
import type { Environment } from './names.ts'

export function telemetryNotices(env: Environment, config: Config): string[] {
  const isPushed = config.AUTH_METRICS_ENABLED && config.AUTH_METRICS_EXPORTER === 'opentelemetry'
  // The second is read by the SDK itself.
  const collector = config.OTEL_EXPORTER_OTLP_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
  if (!isPushed || collector) return []
  return [
    'AUTH_METRICS_ENABLED pushes metrics to a collector on this machine, as OTEL_EXPORTER_OTLP_ENDPOINT names no other: AUTH_METRICS_EXPORTER=prometheus serves them on OTEL_EXPORTER_PROMETHEUS_PORT instead.',
  ]
}

import { Type } from '@sinclair/typebox'

import { choice, flag, group, secret, text, url, whole } from '../fields.ts'

const { Optional } = Type

export const telemetry = group('Logs, traces, metrics', {
  LOG_LEVEL: choice(
    'The least important kind of line that is logged.',
    ['panic', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    {
      default: 'info',
      'x-synonyms': { warning: 'warn' },
      'x-gotrue-names': ['GOTRUE_LOG_LEVEL', 'AUTH_LOG_LEVEL'],
    },
  ),
  AUTH_LOG_FILE: Optional(
    text('File to log to, reopened on SIGHUP.', {
      'x-aliases': ['LOG_FILE'],
      'x-default-text': 'standard output',
    }),
  ),
  AUTH_LOG_HEALTH_CHECKS: flag(
    'Logs requests to `/health` and `/ready` that were answered with yes; a no is logged in any case.',
    true,
  ),
  AUTH_TRACING_ENABLED: flag('Exports traces.', false),
  AUTH_TRACING_EXPORTER: choice('Where traces go: to an OTLP collector.', ['opentelemetry'], {
    default: 'opentelemetry',
  }),
  AUTH_METRICS_ENABLED: flag('Exports metrics.', false),
  AUTH_METRICS_EXPORTER: choice(
    '`opentelemetry` pushes metrics to a collector, `prometheus` serves them to be scraped.',
    ['opentelemetry', 'prometheus'],
    { default: 'opentelemetry' },
  ),
  OTEL_EXPORTER_PROMETHEUS_HOST: text('Address on which metrics are served, on path `/`.', {
    default: '0.0.0.0',
  }),
  OTEL_EXPORTER_PROMETHEUS_PORT: whole('Port on which metrics are served.', {
    default: 9100,
    maximum: 65535,
  }),
  OTEL_SERVICE_NAME: Optional(text('Name of this service in traces and metrics.')),
  OTEL_RESOURCE_ATTRIBUTES: Optional(
    text('Attributes added to everything exported, as `key=value,key=value`.'),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: Optional(
    choice('How the collector is spoken to.', ['grpc', 'http/protobuf', 'http/json']),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Optional(
    url('Address of the collector.', { 'x-example': 'http://localhost:4318' }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Optional(
    secret('Headers sent to the collector, as `key=value,key=value`.'),
  ),
  DEBUG: flag('Diagnostics of the telemetry SDK itself.', false, { 'x-shared': true }),
})

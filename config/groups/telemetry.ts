import { Type } from '@sinclair/typebox'

import {
  booleanField,
  enumField,
  group,
  integerField,
  secret,
  textField,
  url,
} from '../core/fields.ts'

const { Optional } = Type

export const telemetry = group('Logs, traces, metrics', {
  LOG_LEVEL: enumField(
    'Minimum level of log messages.',
    ['panic', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    {
      default: 'info',
      'x-synonyms': { warning: 'warn' },
      'x-gotrue-names': ['GOTRUE_LOG_LEVEL', 'AUTH_LOG_LEVEL'],
    },
  ),
  AUTH_LOG_FILE: Optional(
    textField('Log file, reopened on SIGHUP.', {
      'x-aliases': ['LOG_FILE'],
      'x-default-text': 'standard output',
    }),
  ),
  AUTH_LOG_HEALTH_CHECKS: booleanField(
    'Logs successful requests to `/health` and `/ready`. Failed ones are always logged.',
    true,
  ),
  AUTH_TRACING_ENABLED: booleanField('Exports traces.', false),
  AUTH_TRACING_EXPORTER: enumField('Exporter of traces: an OTLP collector.', ['opentelemetry'], {
    default: 'opentelemetry',
  }),
  AUTH_METRICS_ENABLED: booleanField('Exports metrics.', false),
  AUTH_METRICS_EXPORTER: enumField(
    '`opentelemetry` pushes metrics to a collector, `prometheus` serves them for scraping.',
    ['opentelemetry', 'prometheus'],
    { default: 'opentelemetry' },
  ),
  OTEL_EXPORTER_PROMETHEUS_HOST: textField('Address on which metrics are served, on path `/`.', {
    default: '0.0.0.0',
    'x-gotrue-names': ['GOTRUE_METRICS_OTEL_EXPORTER_PROMETHEUS_HOST'],
  }),
  OTEL_EXPORTER_PROMETHEUS_PORT: integerField('Port on which metrics are served.', {
    default: 9100,
    maximum: 65535,
    'x-gotrue-names': ['GOTRUE_METRICS_OTEL_EXPORTER_PROMETHEUS_PORT'],
  }),
  OTEL_SERVICE_NAME: Optional(
    textField('Name of this service in traces and metrics.', {
      'x-gotrue-names': ['GOTRUE_TRACING_SERVICE_NAME'],
    }),
  ),
  OTEL_RESOURCE_ATTRIBUTES: Optional(
    textField('Attributes added to all exported data, as `key=value,key=value`.'),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: Optional(
    enumField('Protocol of the collector.', ['grpc', 'http/protobuf', 'http/json']),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: Optional(
    url('Address of the collector.', { 'x-example': 'http://localhost:4318' }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Optional(
    secret('Headers sent to the collector, as `key=value,key=value`.'),
  ),
  DEBUG: booleanField('Logs diagnostics of the telemetry SDK.', false, { 'x-shared': true }),
})

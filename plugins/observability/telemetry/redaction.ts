/**
 * Removes error messages from the spans of instrumentation libraries: they can contain an email address, a value or a
 * token.
 */
import type { Exception, Span, SpanStatus, Tracer, TracerProvider } from '@opentelemetry/api'

/** Wraps a provider whose spans keep an error's type and drop its message and stack. */
export function withoutErrorTexts(provider: TracerProvider): TracerProvider {
  return {
    getTracer: (name, version, options) => redacting(provider.getTracer(name, version, options)),
  }
}

function redacting(tracer: Tracer): Tracer {
  return {
    startSpan: (name, options, context) => redact(tracer.startSpan(name, options, context)),
    startActiveSpan() {
      throw new Error('no instrumentation of this server starts active spans')
    },
  }
}

function redact(span: Span): Span {
  if (!span.isRecording()) return span
  const { setStatus } = span
  span.recordException = (exception) => void span.setAttribute('error.type', getType(exception))
  span.setStatus = ({ code }: SpanStatus) => setStatus.call(span, { code })
  return span
}

function getType(exception: Exception): string {
  if (typeof exception === 'string') return 'unknown'
  return String(exception.code ?? exception.name ?? 'unknown')
}

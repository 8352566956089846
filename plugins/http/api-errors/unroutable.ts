/** Responses to requests that reach no route: unparsable URLs and invalid HTTP. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

import type { FastifyReply, FastifyRequest } from 'fastify'

import { render } from './render.ts'
import { toApiError } from './to-api-error.ts'

/** For Fastify's `frameworkErrors`; no hook runs for such a request. */
export function replyBadUrl(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('access-control-allow-origin', '*')
  render(toApiError(error), request, reply)
}

const faults: Record<string, [status: number, code: string, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'request_headers_too_large', 'The request headers are too large'],
}
const unreadable = [400, 'bad_request', 'The HTTP request cannot be parsed'] as const

/** For Fastify's `clientErrorHandler`, which has only the socket. */
export function replyBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, code, message] = faults[error.code ?? ''] ?? unreadable
  const body = JSON.stringify({ code: status, error_code: code, msg: message })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroy(error)
}

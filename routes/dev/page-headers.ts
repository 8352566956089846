import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Mails are shown in frames that inherit this policy, so their inline styles and images pass.
 * No script but our own files runs anywhere.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data: https: http:',
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export async function pageHeaders(_request: FastifyRequest, reply: FastifyReply) {
  reply.header('content-security-policy', policy)
  reply.header('referrer-policy', 'no-referrer')
}

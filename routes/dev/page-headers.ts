import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Emails are shown in frames that inherit this policy, so that inline styles and images are allowed. Scripts come from
 * our files only.
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

export async function setDevPageHeaders(_request: FastifyRequest, reply: FastifyReply) {
  reply.header('content-security-policy', policy)
  reply.header('referrer-policy', 'no-referrer')
}

import type { FastifyReply, FastifyRequest } from 'fastify'

import { notFound } from '../../errors.ts'

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

/**
 * This server answers browsers on any site, and mails hold working links: a page elsewhere must not read them.
 * Browsers say where a request comes from; following a link here is fine.
 */
export async function onlyFromHere({ headers }: FastifyRequest) {
  const isElsewhere = headers['sec-fetch-site'] === 'cross-site'
  if (isElsewhere && headers['sec-fetch-mode'] !== 'navigate') throw notFound()
}

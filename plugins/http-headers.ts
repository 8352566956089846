/** CORS for browsers on any site (tokens travel in headers, never in cookies), and the headers every answer has. */
import cors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'

import { defineExtension } from './define-plugin.ts'

const requestHeaders = [
  'Accept',
  'Authorization',
  'Content-Type',
  'apikey',
  'X-Client-IP',
  'X-Client-Info',
  'X-JWT-AUD',
  'X-Session-Tag',
  'x-use-cookie',
  'X-Supabase-Api-Version',
]
const exposedHeaders = [
  'X-Total-Count',
  'X-Total-Count-Precision',
  'Link',
  'X-Supabase-Api-Version',
  'X-Request-Id',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

export default defineExtension({
  name: 'http-headers',
  needs: ['config', 'addHook', 'register'],
  async install(house) {
    // Hooks that every request passes call back instead of returning promises, which costs less.
    house.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      reply.header('x-content-type-options', 'nosniff')
      reply.header('vary', 'Origin')
      if (!isPlainOptions(request)) return done()
      reply.header('access-control-allow-origin', '*')
      reply.callNotFound()
    })
    await house.register(cors, {
      origin: '*',
      credentials: true,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: [...requestHeaders, ...house.config.AUTH_CORS_ALLOWED_HEADERS],
      exposedHeaders: exposedHeaders.join(', '),
      maxAge: 600,
      strictPreflight: false,
      optionsSuccessStatus: 204,
    })
    house.addHook('onSend', (_request, reply, _payload, done) => {
      // Nearly every answer holds a token or a person; what may be cached says so itself.
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
      done()
    })
  },
})

/** OPTIONS without what makes it a preflight (Fetch §3.2.2) asks for a method that no path has. */
function isPlainOptions({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] === undefined
}

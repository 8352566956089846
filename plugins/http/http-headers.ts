/** CORS for browsers on any site (tokens travel in headers, never in cookies), and the headers of every response. */
import cors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'

import { defineHooksPlugin } from '../define-plugin.ts'

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
  // Clients of the Model Context Protocol send it with every request, also for metadata and tokens.
  'MCP-Protocol-Version',
]
/**
 * Sent by the SDK to PostgREST, which is not part of this server: in development the browser may read where it is
 * (routes/dev/other-services.ts).
 */
const tableHeaders = ['Accept-Profile', 'Content-Profile', 'Prefer', 'Range', 'Range-Unit']
const exposedHeaders = [
  'X-Total-Count',
  'X-Total-Count-Precision',
  'Link',
  'X-Supabase-Api-Version',
  'X-Request-Id',
  'Retry-After',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

export default defineHooksPlugin({
  name: 'http-headers',
  deps: ['config', 'addHook', 'register'],
  async install(deps) {
    // Hooks on every request use callbacks, which are faster than promises.
    deps.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      reply.header('x-content-type-options', 'nosniff')
      reply.header('vary', 'Origin')
      if (!isPlainOptions(request)) return done()
      reply.header('access-control-allow-origin', '*')
      reply.callNotFound()
    })
    await deps.register(cors, {
      origin: '*',
      credentials: true,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: [
        ...requestHeaders,
        ...(deps.config.dev ? tableHeaders : []),
        ...deps.config.AUTH_CORS_ALLOWED_HEADERS,
      ],
      exposedHeaders: exposedHeaders.join(', '),
      maxAge: 600,
      strictPreflight: false,
      optionsSuccessStatus: 204,
    })
    deps.addHook('onSend', (_request, reply, _payload, done) => {
      // Nearly every response contains a token or a user; cacheable ones set their own header.
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
      done()
    })
  },
})

/** OPTIONS without the headers of a preflight (Fetch §3.2.2) is a method that no path supports. */
function isPlainOptions({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] === undefined
}

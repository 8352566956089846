/** CORS for browsers on any site (tokens travel in headers, never in cookies), and the headers every answer has. */
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

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

async function httpHeaders(fastify: FastifyInstance) {
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('vary', 'Origin')
    if (isPlainOptions(request)) {
      reply.header('access-control-allow-origin', '*')
      reply.callNotFound()
      return reply
    }
  })
  await fastify.register(cors, {
    origin: (_origin, allow) => allow(null, '*'),
    credentials: true,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [...requestHeaders, ...fastify.config.AUTH_CORS_ALLOWED_HEADERS],
    exposedHeaders,
    maxAge: 600,
    strictPreflight: false,
    optionsSuccessStatus: 204,
  })
  fastify.addHook('onSend', async (_request, reply) => {
    // Nearly every answer holds a token or a person; what may be cached says so itself.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
}

/** OPTIONS without what makes it a preflight (Fetch §3.2.2) asks for a method that no path has. */
function isPlainOptions({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] === undefined
}

export default fp(httpHeaders, { name: 'http-headers', fastify: '5.x', dependencies: ['config'] })

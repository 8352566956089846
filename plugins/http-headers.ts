/** CORS for browsers on any site (tokens travel in headers, never in cookies), and the headers every answer has. */
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

const requestHeaders = [
  'Accept',
  'Authorization',
  'Content-Type',
  'apikey',
  'X-Client-IP',
  'X-Client-Info',
  'X-JWT-AUD',
  'x-use-cookie',
  'X-Supabase-Api-Version',
]
const exposedHeaders = [
  'X-Total-Count',
  'Link',
  'X-Supabase-Api-Version',
  'X-Request-Id',
  'Retry-After',
]

async function httpHeaders(fastify: FastifyInstance) {
  await fastify.register(cors, {
    origin: (_origin, allow) => allow(null, '*'),
    credentials: true,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [...requestHeaders, ...fastify.config.AUTH_CORS_ALLOWED_HEADERS],
    exposedHeaders,
    maxAge: 600,
    optionsSuccessStatus: 204,
  })
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('vary', 'Origin')
  })
  fastify.addHook('onSend', async (_request, reply) => {
    // Nearly every answer holds a token or a person; what may be cached says so itself.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
}

export default fp(httpHeaders, { name: 'http-headers', fastify: '5.x', dependencies: ['config'] })

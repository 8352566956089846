/** The OpenAPI 3.1 document, made from the schemas that validate and serialize. */
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { version } from '../schemas/version.ts'

async function openapi(fastify: FastifyInstance) {
  await fastify.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Postern',
        version,
        description: 'User management and authentication next to Postgres.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This server; everything also answers under /auth/v1' }],
      tags: [
        { name: 'auth', description: 'Signing up and in' },
        { name: 'user', description: 'What a signed-in person does' },
        { name: 'admin', description: 'For tokens with an admin role' },
        { name: 'operations', description: 'Keys, settings and health' },
      ],
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
    },
    hideUntagged: true,
  })
  fastify.get('/openapi.json', async () => fastify.swagger())
}

export default fp(openapi, { name: 'openapi', fastify: '5.x' })

/** Whether the server runs, and whether it is ready for requests. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import type { Readiness as Found } from '../../plugins/observability/readiness.ts'
import { StringEnum } from '../../schemas/values/choices.ts'
import { version } from '../../version.ts'

const Health = Type.Object({
  version: Type.String(),
  name: Type.String(),
  description: Type.String(),
})

const health: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/health',
    {
      // Load balancers and uptime checks send HEAD requests.
      exposeHeadRoute: true,
      schema: {
        summary: 'Liveness check: does not use the database',
        tags: ['operations'],
        response: {
          200: Health,
        },
      },
    },
    async () => ({
      version,
      name: 'Postern',
      description: 'Postern is a user registration and authentication API',
    }),
  )
}

const Check = StringEnum(['ok', 'failed'])

const Readiness = Type.Object({
  status: StringEnum(['ready', 'not ready', 'stopping']),
  checks: Type.Object({ database: Check, migrations: Check, queue: Check }),
})

const ready: FastifyPluginAsyncTypebox = async (app) => {
  const { readiness } = app
  app.get(
    '/ready',
    {
      // Load balancers and uptime checks send HEAD requests.
      exposeHeadRoute: true,
      schema: {
        summary: 'Readiness check for load balancers',
        tags: ['operations'],
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_request, reply) => {
      const found = await readiness.check()
      return reply.status(found.ready ? 200 : 503).send(toBody(found))
    },
  )
}

function toBody({ ready, stopping, checks }: Found): Static<typeof Readiness> {
  return {
    status: stopping ? 'stopping' : ready ? 'ready' : 'not ready',
    checks: {
      database: toStatus(checks.database),
      migrations: toStatus(checks.migrations),
      queue: toStatus(checks.queue),
    },
  }
}

function toStatus(passed: boolean): Static<typeof Check> {
  return passed ? 'ok' : 'failed'
}

export const healthRoutes = { health, ready }

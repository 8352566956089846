import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { readStatistics } from '../../../modules/statistics/index.ts'
import { Range, Statistics } from '../../../schemas/console/statistics.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { version } from '../../../version.ts'

const Query = Type.Object({ range: Type.Optional(Range) })

const statistics: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/admin/statistics',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'Get statistics of users, sign-ins, emails, hooks, webhooks and keys',
        description:
          'Sign-ins, limits and hooks are counted per hour, from the first start with AUTH_CONSOLE_ENABLED.',
        tags: ['admin'],
        querystring: Query,
        response: { 200: Statistics, ...ErrorResponses },
      },
    },
    async ({ query, audience: aud }) =>
      readStatistics(app, { range: query.range ?? '24h', aud, version }, new Date()),
  )
}

export default statistics

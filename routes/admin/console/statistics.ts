/** Numbers for the console: statistics, and the calls of hooks. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { sumUsageCounts } from '../../../db/statistics/statistics.ts'
import { readStatistics } from '../../../modules/statistics/index.ts'
import { HookSummaries } from '../../../schemas/console/providers.ts'
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

const dayMs = 86_400_000

const hooks: FastifyPluginAsyncTypebox = async (app) => {
  const { db, hooks: configured, usageCounts } = app

  app.get(
    '/admin/hooks',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List the hooks with their calls and failures in the last 24 hours',
        tags: ['admin'],
        response: { 200: HookSummaries, ...ErrorResponses },
      },
    },
    async () => {
      await usageCounts.flush()
      const since = new Date(Date.now() - dayMs)
      const usage = await sumUsageCounts(db, { since, bucketSeconds: 3600 })
      const sumCounts = (name: string, outcome?: string) =>
        usage
          .filter((row) => row.kind === 'hook' && row.name === name)
          .filter((row) => outcome === undefined || row.outcome === outcome)
          .reduce((sum, { count }) => sum + count, 0)
      return {
        hooks: configured.describe().map((hook) => ({
          ...hook,
          calls: sumCounts(hook.name),
          failures: sumCounts(hook.name, 'failed'),
        })),
      }
    },
  )
}

export const statisticsRoutes = { statistics, hooks }

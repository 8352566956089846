import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { sumUsageCounts } from '../../../db/statistics/statistics.ts'
import { HookSummaries } from '../../../schemas/console/providers.ts'
import { ErrorResponses } from '../../../schemas/error.ts'

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

export default hooks

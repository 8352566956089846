import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { replayDeliveries } from '../../../db/events/history.ts'
import { lockWebhook } from '../../../db/events/webhooks.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import { readTimestamp } from '../../../schemas/console/user-filter.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed, webhookNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { nullable } from '../../../schemas/values/choices.ts'
import { Timestamp } from '../../../schemas/values/timestamp.ts'
import { WebhookPath } from '../../../schemas/webhook.ts'

const maxEvents = 10_000

const Body = Type.Object({
  events: Type.Optional(
    Type.Array(Type.String({ format: 'uuid' }), { maxItems: 1000, description: 'Ids of events' }),
  ),
  since: Type.Optional(Timestamp),
  until: Type.Optional(Timestamp),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: '`next` of a response: only events after this position',
    }),
  ),
  dead: Type.Optional(Type.Boolean({ description: 'Only abandoned deliveries' })),
})

const Queued = Type.Object({
  queued: Type.Integer({
    description: `Number of events, oldest first, without those already queued; at most ${maxEvents}`,
  }),
  next: nullable(
    Type.Integer({
      description: `For \`after\`, when ${maxEvents} were found and there may be more`,
    }),
  ),
})

const replay: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/admin/webhooks/:webhook_id/replay',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Replay events to a webhook',
        description:
          'By id, by time, or all abandoned ones; only of the types that the webhook subscribes to. Ids stay the same. ' +
          'Later events of the same users wait until they are delivered.',
        tags: ['admin'],
        params: WebhookPath,
        body: Body,
        response: { 200: Queued, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const webhookId = readUuid('webhook_id', request.params.webhook_id)
      const { events, since, until, after, dead = false } = request.body
      if (!events && !since && after === undefined && !dead) {
        throw validationFailed('Send one of events, since, after or dead')
      }
      const [from, to] = [readTimestamp('since', since), readTimestamp('until', until)]
      const selection = { webhookId, events, since: from, until: to, after, dead }
      const { queued, found, lastPosition } = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        if (!(await lockWebhook(trx, webhookId))) throw webhookNotFound()
        const replayed = await replayDeliveries(trx, selection, maxEvents, now)
        const traits = { now, webhook_id: webhookId, queued: replayed.queued }
        await recordAdminAction(audit, trx, 'webhook_replayed', request, traits)
        return replayed
      })
      return { queued, next: found === maxEvents ? lastPosition : null }
    },
  )
}

export default replay

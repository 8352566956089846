/** What is sent to a webhook: its deliveries, test events, and events that are sent again. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listDeliveries, replayDeliveries } from '../../db/events/history.ts'
import { findWebhook, lockWebhook } from '../../db/events/webhooks.ts'
import { recordAdminAction } from '../../modules/audit/index.ts'
import { readTimestamp } from '../../schemas/console/user-filter.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed, webhookNotFound } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import { readLimit, readPosition } from '../../schemas/pagination.ts'
import { nullable, StringEnum } from '../../schemas/values/choices.ts'
import { Timestamp } from '../../schemas/values/timestamp.ts'
import { Delivery, DeliveryRequest, DeliveryResponse, WebhookPath } from '../../schemas/webhook.ts'

const Query = Type.Object({
  state: Type.Optional(StringEnum(['waiting', 'delivered', 'dead'])),
  before: Type.Optional(Type.String({ description: '`next` of the previous page' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
})

const Deliveries = Type.Object({
  deliveries: Type.Array(Delivery),
  next: nullable(Type.Integer({ description: 'For `before`; null at the end' })),
})

const webhookDeliveries: FastifyPluginAsyncTypebox = async (app) => {
  const { db, events, readDb } = app

  app.get(
    '/admin/webhooks/:webhook_id/deliveries',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List the deliveries of a webhook, newest first',
        tags: ['admin'],
        params: WebhookPath,
        querystring: Query,
        response: { 200: Deliveries, ...ErrorResponses },
      },
    },
    async ({ params, query }) => {
      const webhookId = readUuid('webhook_id', params.webhook_id)
      const webhook = await findWebhook(db, webhookId)
      if (!webhook) throw webhookNotFound()
      const { state, before, limit } = query
      const size = readLimit(limit)
      const filter = {
        webhookId,
        state,
        before: readPosition('before', before, Number.MAX_SAFE_INTEGER),
      }
      const rows = await listDeliveries(readDb, filter, size + 1)
      const page = rows.slice(0, size)
      return {
        deliveries: page.map((row) => events.toDelivery(row, webhook.url)),
        next: rows.length > size ? (page.at(-1)?.position ?? null) : null,
      }
    },
  )
}

const TestResult = Type.Object({
  accepted: Type.Boolean(),
  request: DeliveryRequest,
  answer: DeliveryResponse,
})

const testWebhook: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, events } = app

  app.post(
    '/admin/webhooks/:webhook_id/test',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Send a test event to a webhook',
        description:
          'Its type is `webhook.test`. It is not part of the event stream and is not retried.',
        tags: ['admin'],
        params: WebhookPath,
        response: { 200: TestResult, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('webhook_id', request.params.webhook_id)
      const webhook = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const found = await lockWebhook(trx, id)
        if (!found) throw webhookNotFound()
        await recordAdminAction(audit, trx, 'webhook_tested', request, { now, webhook_id: id })
        return found
      })
      return events.testEndpoint(webhook, now)
    },
  )
}

const maxEvents = 10_000

const ReplayBody = Type.Object({
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

const replayWebhook: FastifyPluginAsyncTypebox = async (app) => {
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
        body: ReplayBody,
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

export const webhookDeliveryRoutes = { webhookDeliveries, testWebhook, replayWebhook }

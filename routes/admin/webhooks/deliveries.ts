import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listDeliveries } from '../../../db/events/history.ts'
import { findWebhook } from '../../../db/events/webhooks.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { webhookNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { readLimit, readPosition } from '../../../schemas/pagination.ts'
import { nullable, StringEnum } from '../../../schemas/values/choices.ts'
import { Delivery, WebhookPath } from '../../../schemas/webhook.ts'

const Query = Type.Object({
  state: Type.Optional(StringEnum(['waiting', 'delivered', 'dead'])),
  before: Type.Optional(Type.String({ description: '`next` of the previous page' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
})

const Deliveries = Type.Object({
  deliveries: Type.Array(Delivery),
  next: nullable(Type.Integer({ description: 'For `before`; null at the end' })),
})

const deliveries: FastifyPluginAsyncTypebox = async (app) => {
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

export default deliveries

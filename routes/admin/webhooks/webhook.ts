import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findWebhook } from '../../../db/webhooks.ts'
import { webhookNotFound } from '../../../errors.ts'
import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { toWebhook, Webhook, WebhookChange, WebhookPath } from '../../../schemas/webhook.ts'

const webhook: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, events } = fastify
  const path = '/admin/webhooks/:webhook_id'
  const schema = { tags: ['admin'], params: WebhookPath }
  const response = { 200: Webhook, ...ErrorResponses }

  fastify.get(
    path,
    { schema: { ...schema, summary: 'One webhook', response } },
    async (request) => {
      const found = await findWebhook(db, readUuid('webhook_id', request.params.webhook_id))
      if (!found) throw webhookNotFound()
      return toWebhook(found)
    },
  )

  fastify.put(
    path,
    {
      schema: {
        ...schema,
        summary: 'Change, pause or resume a webhook',
        description: 'Events for a paused webhook wait, and are sent when it is active again.',
        body: WebhookChange,
        response,
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('webhook_id', request.params.webhook_id)
      return db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const { before, after } = await events.changeEndpoint(trx, id, request.body, now)
        const changes = audit.difference(
          events.endpointTraits(before),
          events.endpointTraits(after),
        )
        const traits = { now, webhook_id: id, ...changes }
        await audit.recordAdminOn(trx, 'webhook_updated', request, traits)
        return toWebhook(after)
      })
    },
  )

  fastify.delete(
    path,
    {
      schema: {
        ...schema,
        summary: 'Remove a webhook, with what waits for it',
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const id = readUuid('webhook_id', request.params.webhook_id)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const removed = await events.removeEndpoint(trx, id)
        const changes = audit.difference(events.endpointTraits(removed), undefined)
        const traits = { now, webhook_id: id, ...changes }
        await audit.recordAdminOn(trx, 'webhook_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default webhook

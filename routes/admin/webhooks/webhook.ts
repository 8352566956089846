import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findWebhook } from '../../../db/events/webhooks.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { webhookNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { toWebhook, Webhook, WebhookChange, WebhookPath } from '../../../schemas/webhook.ts'

const schema = { tags: ['admin'], params: WebhookPath }

const response = { 200: Webhook, ...ErrorResponses }

const readSchema = { ...schema, summary: 'Get a webhook', response }

const updateSchema = {
  ...schema,
  summary: 'Update, pause or resume a webhook',
  description: 'Events for a paused webhook are queued and sent when it is active again.',
  body: WebhookChange,
  response,
}

const deleteSchema = {
  ...schema,
  summary: 'Delete a webhook and its queued deliveries',
  response: { 204: NoBody, ...ErrorResponses },
}

const webhook: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, events } = app
  const path = '/admin/webhooks/:webhook_id'

  app.get(path, { config: { minimumRole: 'support' }, schema: readSchema }, async (request) => {
    const found = await findWebhook(db, readUuid('webhook_id', request.params.webhook_id))
    if (!found) throw webhookNotFound()
    return toWebhook(found)
  })

  app.put(path, { config: { minimumRole: 'operator' }, schema: updateSchema }, async (request) => {
    const now = new Date()
    const id = readUuid('webhook_id', request.params.webhook_id)
    return db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      const { before, after } = await events.changeEndpoint(trx, id, request.body, now)
      const changes = changedFields(events.endpointTraits(before), events.endpointTraits(after))
      const traits = { now, webhook_id: id, ...changes }
      await recordAdminAction(audit, trx, 'webhook_updated', request, traits)
      return toWebhook(after)
    })
  })

  app.delete(
    path,
    { config: { minimumRole: 'operator' }, schema: deleteSchema },
    async (request, reply) => {
      const now = new Date()
      const id = readUuid('webhook_id', request.params.webhook_id)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const removed = await events.removeEndpoint(trx, id)
        const changes = changedFields(events.endpointTraits(removed), undefined)
        const traits = { now, webhook_id: id, ...changes }
        await recordAdminAction(audit, trx, 'webhook_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default webhook

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { lockWebhook } from '../../../db/events/webhooks.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { webhookNotFound } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { DeliveryRequest, DeliveryResponse, WebhookPath } from '../../../schemas/webhook.ts'

const Result = Type.Object({
  accepted: Type.Boolean(),
  request: DeliveryRequest,
  answer: DeliveryResponse,
})

const test: FastifyPluginAsyncTypebox = async (app) => {
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
        response: { 200: Result, ...ErrorResponses },
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

export default test

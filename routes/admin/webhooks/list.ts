import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listWebhooks } from '../../../db/events/webhooks.ts'
import { changedFields, recordAdminAction } from '../../../modules/audit/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { eventsDisabled } from '../../../schemas/errors.ts'
import { NewWebhook, toWebhook, Webhook, WebhookWithSecret } from '../../../schemas/webhook.ts'

const Webhooks = Type.Object({ webhooks: Type.Array(Webhook) })

const list: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, events } = app
  const path = '/admin/webhooks'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List webhooks, oldest first',
        tags: ['admin'],
        response: { 200: Webhooks, ...ErrorResponses },
      },
    },
    async () => ({ webhooks: (await listWebhooks(db)).map(toWebhook) }),
  )

  app.post(
    path,
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Create a webhook',
        description:
          'Receives events from now on; `replay` sends earlier ones. The secret is only shown here.',
        tags: ['admin'],
        body: NewWebhook,
        response: { 200: WebhookWithSecret, ...ErrorResponses },
      },
    },
    async (request) => {
      if (!events.enabled) throw eventsDisabled()
      const now = new Date()
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { webhook, secret } = await events.createEndpoint(trx, request.body, now)
        const changes = changedFields(undefined, events.endpointTraits(webhook))
        const traits = { now, webhook_id: webhook.id, ...changes }
        await recordAdminAction(audit, trx, 'webhook_created', request, traits)
        return { ...toWebhook(webhook), secret }
      })
    },
  )
}

export default list

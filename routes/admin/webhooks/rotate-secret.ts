import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAdminAction } from '../../../modules/audit/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import {
  toWebhook,
  WebhookPath,
  WebhookSecret,
  WebhookWithSecret,
} from '../../../schemas/webhook.ts'

const day = 86_400

const Body = Type.Union([
  Type.Object({
    secret: Type.Optional(WebhookSecret),
    overlap: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * day,
        description: 'Seconds for which the previous secret also signs; one day by default',
      }),
    ),
  }),
  Type.Null(),
])

const rotateSecret: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, events } = app

  app.post(
    '/admin/webhooks/:webhook_id/rotate_secret',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Rotate the secret of a webhook',
        description:
          'Both secrets sign during the overlap, so that the receiver can be reconfigured.',
        tags: ['admin'],
        params: WebhookPath,
        body: Body,
        response: { 200: WebhookWithSecret, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const id = readUuid('webhook_id', request.params.webhook_id)
      const { secret, overlap: overlapSeconds = day } = request.body ?? {}
      const rotation = { overlapSeconds, ...(secret !== undefined && { secret }) }
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const made = await events.rotateSecret(trx, id, rotation, now)
        const traits = { now, webhook_id: id, overlap: overlapSeconds }
        await recordAdminAction(audit, trx, 'webhook_secret_rotated', request, traits)
        return { ...toWebhook(made.webhook), secret: made.secret }
      })
    },
  )
}

export default rotateSecret

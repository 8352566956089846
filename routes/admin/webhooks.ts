/** Webhooks and their secrets. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findWebhook, listWebhooks } from '../../db/events/webhooks.ts'
import { changedFields, recordAdminAction } from '../../modules/audit/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { eventsDisabled, webhookNotFound } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import {
  NewWebhook,
  toWebhook,
  Webhook,
  WebhookChange,
  WebhookPath,
  WebhookSecret,
  WebhookWithSecret,
} from '../../schemas/webhook.ts'

const Webhooks = Type.Object({ webhooks: Type.Array(Webhook) })

const webhooks: FastifyPluginAsyncTypebox = async (app) => {
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

const day = 86_400

const RotationBody = Type.Union([
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

const rotateWebhookSecret: FastifyPluginAsyncTypebox = async (app) => {
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
        body: RotationBody,
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

export const webhookRoutes = { webhooks, webhook, rotateWebhookSecret }

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { replayDeliveries } from '../../../db/webhook-history.ts'
import { lockWebhook } from '../../../db/webhooks.ts'
import { validationFailed, webhookNotFound } from '../../../errors.ts'
import { nullable } from '../../../schemas/choices.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Timestamp } from '../../../schemas/timestamp.ts'
import { WebhookPath } from '../../../schemas/webhook.ts'

const most = 10_000

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
      description: '`next` of the answer before: only what comes behind it in the stream',
    }),
  ),
  dead: Type.Optional(Type.Boolean({ description: 'Only what was given up' })),
})

const Queued = Type.Object({
  queued: Type.Integer({
    description: `How many events, the oldest first, without those that wait already; at most ${most}`,
  }),
  next: nullable(
    Type.Integer({ description: `For \`after\`, when ${most} were found and there may be more` }),
  ),
})

const replay: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db } = fastify

  fastify.post(
    '/admin/webhooks/:webhook_id/replay',
    {
      schema: {
        summary: 'Send events once more',
        description:
          'By their ids, by time, or all that were given up; of the types that the webhook asked for. They keep their ids. ' +
          'Until they have arrived, later events of the same people wait.',
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
        throw validationFailed('Name what is to be sent again: events, since, after, or dead')
      }
      const [from, to] = [readMoment('since', since), readMoment('until', until)]
      const wanted = { webhookId, events, since: from, until: to, after, dead }
      const { queued, found, lastPosition } = await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        if (!(await lockWebhook(trx, webhookId))) throw webhookNotFound()
        const replayed = await replayDeliveries(trx, wanted, most, now)
        const traits = { now, webhook_id: webhookId, queued: replayed.queued }
        await audit.recordAdminOn(trx, 'webhook_replayed', request, traits)
        return replayed
      })
      return { queued, next: found === most ? lastPosition : null }
    },
  )
}

/** A leap second is a time by its form (RFC 3339), and none that a date can hold. Throws validation_failed. */
function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) throw validationFailed(`${name} must be a moment`)
  return moment
}

export default replay

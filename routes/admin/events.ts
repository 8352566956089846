import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listEvents } from '../../db/events.ts'
import { eventsDisabled } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { StreamedEvent, toEvent } from '../../schemas/events.ts'
import { readUuid } from '../../schemas/fields.ts'
import { readLimit, readPosition } from '../../schemas/pagination.ts'

const Query = Type.Object({
  after: Type.Optional(Type.String({ description: '`next` of the answer before; 0 begins' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
  type: Type.Optional(Type.String({ description: 'Of one type' })),
  user_id: Type.Optional(Type.String({ description: 'About one person' })),
})

const Stream = Type.Object({
  events: Type.Array(StreamedEvent),
  next: Type.Integer({ description: 'For `after`, also when nothing is new' }),
  has_more: Type.Boolean(),
})

const stream: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db, events } = fastify

  fastify.get(
    '/admin/events',
    {
      schema: {
        summary: 'What happened, oldest first',
        description:
          'For those who poll: keep `next`, and ask with `after` for what came since. Positions appear in order, so that ' +
          'none is missed. Off unless AUTH_EVENTS_ENABLED, or a webhook is in the environment.',
        tags: ['admin'],
        querystring: Query,
        response: { 200: Stream, ...ErrorResponses },
      },
    },
    async ({ query }) => {
      if (!events.enabled) throw eventsDisabled()
      const after = readPosition('after', query.after, 0)
      const size = readLimit(query.limit)
      const userId = query.user_id ? readUuid('user_id', query.user_id) : undefined
      const rows = await listEvents(db, { after, type: query.type || undefined, userId }, size + 1)
      const page = rows.slice(0, size)
      return {
        events: page.map(toEvent),
        next: page.at(-1)?.position ?? after,
        has_more: rows.length > size,
      }
    },
  )
}

export default stream

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listEvents } from '../../db/events/events.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { eventsDisabled } from '../../schemas/errors.ts'
import { StreamedEvent, toEvent } from '../../schemas/events.ts'
import { readUuid } from '../../schemas/fields.ts'
import { readLimit, readPosition } from '../../schemas/pagination.ts'

const Query = Type.Object({
  after: Type.Optional(
    Type.String({ description: '`next` of the previous response; 0 starts from the beginning' }),
  ),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
  type: Type.Optional(Type.String({ description: 'Of one type' })),
  user_id: Type.Optional(Type.String({ description: 'Of one user' })),
})

const Stream = Type.Object({
  events: Type.Array(StreamedEvent),
  next: Type.Integer({ description: 'For `after`, also when nothing is new' }),
  has_more: Type.Boolean(),
})

const stream: FastifyPluginAsyncTypebox = async (app) => {
  const { events, readDb } = app

  app.get(
    '/admin/events',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List events, oldest first',
        description:
          'To poll, store `next` and send it as `after`. Positions become visible in order, so that ' +
          'no event is missed. Requires AUTH_EVENTS_ENABLED or a webhook in the environment.',
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
      const rows = await listEvents(
        readDb,
        { after, type: query.type || undefined, userId },
        size + 1,
      )
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

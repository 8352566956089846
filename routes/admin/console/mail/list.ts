import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listMail } from '../../../../db/emails/queue.ts'
import { readRowCursor, toRowCursor } from '../../../../schemas/console/cursor.ts'
import { QueuedMails, toQueuedMail } from '../../../../schemas/console/mail.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { readLimit } from '../../../../schemas/pagination.ts'
import { StringEnum } from '../../../../schemas/values/choices.ts'

const Query = Type.Object({
  state: Type.Optional(StringEnum(['waiting', 'dead', 'sent'])),
  kind: Type.Optional(Type.String({ maxLength: 64 })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous response' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
})

const list: FastifyPluginAsyncTypebox = async (app) => {
  const { mailer, readDb } = app

  app.get(
    '/admin/mail',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List queued, sent and undelivered emails, newest first',
        description: 'Sent emails are listed for 7 days, undelivered ones for 30.',
        tags: ['admin'],
        querystring: Query,
        response: { 200: QueuedMails, ...ErrorResponses },
      },
    },
    async ({ query }) => {
      const now = new Date()
      const size = readLimit(query.limit)
      const filter = { state: query.state, kind: query.kind, after: readRowCursor(query.cursor) }
      const rows = await listMail(readDb, filter, size)
      const page = rows.slice(0, size)
      const last = rows.length > size ? page.at(-1) : undefined
      return {
        mails: page.map((row) => toQueuedMail(row, mailer.retryBlocker(row, now))),
        next_cursor: last ? toRowCursor(toCursorPosition(last)) : null,
      }
    },
  )
}

/** Rows of emails have millisecond timestamps. */
const toCursorPosition = ({ created_at, id }: { created_at: Date; id: string }) => ({
  microseconds: created_at.getTime() * 1000,
  id,
})

export default list

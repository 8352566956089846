/** Queued, sent and undelivered emails. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deleteMail, findMail, listDeadMail } from '../../../db/emails/dead-letters.ts'
import { listMail } from '../../../db/emails/queue.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import { readRowCursor, toRowCursor } from '../../../schemas/console/cursor.ts'
import { MailPath, QueuedMails, RetryBody, toQueuedMail } from '../../../schemas/console/mail.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { mailNotFound, mailNotRetryable } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { readLimit } from '../../../schemas/pagination.ts'
import { StringEnum } from '../../../schemas/values/choices.ts'
import { EmptyObject, NoBody } from '../../../schemas/values/empty.ts'

const Query = Type.Object({
  state: Type.Optional(StringEnum(['waiting', 'dead', 'sent'])),
  kind: Type.Optional(Type.String({ maxLength: 64 })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous response' })),
  limit: Type.Optional(Type.String({ description: '1 to 1000; default 50' })),
})

const mail: FastifyPluginAsyncTypebox = async (app) => {
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

/** Further ones are retried by the next request. */
const maxEmails = 1_000

const Queued = Type.Object({
  queued: Type.Integer({
    description: `Number of emails that will be sent again, at most ${maxEmails}`,
  }),
})

const tags = ['admin']

const retrySchema = {
  summary: 'Retry a dead letter',
  tags,
  params: MailPath,
  body: RetryBody,
  response: { 200: EmptyObject, ...ErrorResponses },
}

const retryAllSchema = {
  summary: 'Retry all dead letters that can be sent',
  tags,
  body: RetryBody,
  response: { 200: Queued, ...ErrorResponses },
}

const mailRetry: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, mailer } = app

  app.post(
    '/admin/mail/:id/retry',
    { config: { minimumRole: 'operator' }, schema: retrySchema },
    async (request) => {
      const now = new Date()
      const id = readUuid('id', request.params.id)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const row = await findMail(trx, id)
        if (!row) throw mailNotFound()
        const blocker = mailer.retryBlocker(row, now)
        const isAccepted = blocker?.isUncertain && request.body?.uncertain
        if (blocker && !isAccepted) throw mailNotRetryable(blocker.sentence)
        if (!(await mailer.retry(trx, id, now))) throw mailNotRetryable('is being sent')
        await recordAdminAction(audit, trx, 'mail_retried', request, { now, message_id: id })
      })
      return {}
    },
  )

  app.post(
    '/admin/mail/retry',
    { config: { minimumRole: 'operator' }, schema: retryAllSchema },
    async (request) => {
      const now = new Date()
      const includeUncertain = request.body?.uncertain ?? false
      const queued = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        let count = 0
        for (const row of await listDeadMail(trx, maxEmails)) {
          const blocker = mailer.retryBlocker(row, now)
          if (blocker && !(blocker.isUncertain && includeUncertain)) continue
          if (await mailer.retry(trx, row.id, now)) count += 1
        }
        await recordAdminAction(audit, trx, 'mail_retried', request, { now, queued: count })
        return count
      })
      return { queued }
    },
  )
}

const deleteSchema = {
  summary: 'Delete an email that is not being sent',
  tags,
  params: MailPath,
  response: { 204: NoBody, ...ErrorResponses },
}

const mailDeletion: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.delete(
    '/admin/mail/:id',
    { config: { minimumRole: 'operator' }, schema: deleteSchema },
    async (request, reply) => {
      const now = new Date()
      const id = readUuid('id', request.params.id)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        if (!(await deleteMail(trx, id))) throw mailNotFound()
        await recordAdminAction(audit, trx, 'mail_dropped', request, { now, message_id: id })
      })
      return reply.status(204).send(null)
    },
  )
}

export const mailRoutes = { mail, mailRetry, mailDeletion }

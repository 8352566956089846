import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deleteMail, findMail, listDeadMail } from '../../../../db/emails/dead-letters.ts'
import { recordAdminAction } from '../../../../modules/audit/index.ts'
import { MailPath, RetryBody } from '../../../../schemas/console/mail.ts'
import { ErrorResponses } from '../../../../schemas/error.ts'
import { mailNotFound, mailNotRetryable } from '../../../../schemas/errors.ts'
import { readUuid } from '../../../../schemas/fields.ts'
import { EmptyObject, NoBody } from '../../../../schemas/values/empty.ts'

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

const deleteSchema = {
  summary: 'Delete an email that is not being sent',
  tags,
  params: MailPath,
  response: { 204: NoBody, ...ErrorResponses },
}

const retry: FastifyPluginAsyncTypebox = async (app) => {
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

export default retry

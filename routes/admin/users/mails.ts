import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findMailDeliveries } from '../../../db/emails/queue.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { MailDeliveries, toMailDelivery } from '../../../schemas/mail-delivery.ts'
import { requireUserParam } from './user-param.ts'

const mails: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/admin/users/:user_id/mails',
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'List the emails to a user with their delivery status, newest first',
        description: 'Sent emails are listed for 7 days, undelivered ones for 30.',
        params: UserPath,
        response: { 200: MailDeliveries, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const user = await requireUserParam(db, readUuid('user_id', params.user_id))
      const deliveries = await findMailDeliveries(db, user.id)
      return { mails: deliveries.map(toMailDelivery) }
    },
  )
}

export default mails

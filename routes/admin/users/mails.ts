import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { findMailDeliveries } from '../../../db/mail-deliveries.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { MailDeliveries, toMailDelivery } from '../../../schemas/mail-delivery.ts'
import { requirePerson } from './person.ts'

const mails: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db } = fastify

  fastify.get(
    '/admin/users/:user_id/mails',
    {
      schema: {
        tags: ['admin'],
        summary: 'What became of the mails of a person, newest first',
        description: 'Sent mail is listed for 7 days, mail that was not sent for 30.',
        params: UserPath,
        response: { 200: MailDeliveries, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const user = await requirePerson(db, readUuid('user_id', params.user_id))
      const deliveries = await findMailDeliveries(db, user.id)
      return { mails: deliveries.map(toMailDelivery) }
    },
  )
}

export default mails

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findMailDeliveries } from '../../../db/mail-deliveries.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
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
        params: Type.Object({ user_id: Type.String({ format: 'uuid' }) }),
        response: { 200: MailDeliveries, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const user = await requirePerson(db, params.user_id)
      const deliveries = await findMailDeliveries(db, user.id)
      return { mails: deliveries.map(toMailDelivery) }
    },
  )
}

export default mails

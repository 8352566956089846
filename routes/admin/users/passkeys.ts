import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deletePasskey, findPasskeys } from '../../../db/webauthn-credentials.ts'
import { noSuchPasskey } from '../../../errors.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { NoBody } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { PasskeyPath, Passkeys, toPasskey } from '../../../schemas/passkey.ts'
import { requirePerson } from './person.ts'

const Path = Type.Composite([UserPath, PasskeyPath])

const path = '/admin/users/:user_id/passkeys'

const passkeys: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, users } = fastify

  fastify.get(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'The passkeys of a person, oldest first',
        params: UserPath,
        response: { 200: Passkeys, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requirePerson(db, readUuid('user_id', params.user_id))
      return (await findPasskeys(db, id)).map(toPasskey)
    },
  )

  fastify.delete(
    `${path}/:passkey_id`,
    {
      schema: {
        tags: ['admin'],
        summary: 'Delete a passkey of a person',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { params } = request
      const userId = readUuid('user_id', params.user_id)
      const id = readUuid('passkey_id', params.passkey_id)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await users.lockNamed(trx, userId)
        if (!(await deletePasskey(trx, { userId, id }))) throw noSuchPasskey()
        await audit.recordAdmin(trx, 'passkey_deleted', request, user, { now, passkey_id: id })
      })
      return reply.status(204).send(null)
    },
  )
}

export default passkeys

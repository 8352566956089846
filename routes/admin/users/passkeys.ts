import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { deletePasskey, findPasskeys } from '../../../db/passkeys/credentials.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { noSuchPasskey } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { PasskeyPath, Passkeys, toPasskey } from '../../../schemas/passkey.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { requireUserParam } from './user-param.ts'

const Path = Type.Composite([UserPath, PasskeyPath])

const path = '/admin/users/:user_id/passkeys'

const passkeys: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'List the passkeys of a user, oldest first',
        params: UserPath,
        response: { 200: Passkeys, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requireUserParam(db, readUuid('user_id', params.user_id))
      return (await findPasskeys(db, id)).map(toPasskey)
    },
  )

  app.delete(
    `${path}/:passkey_id`,
    {
      config: { minimumRole: 'operator' },
      schema: {
        tags: ['admin'],
        summary: 'Delete a passkey of a user',
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
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, userId)
        if (!(await deletePasskey(trx, { userId, id }))) throw noSuchPasskey()
        await recordAdminActionOnUser(audit, trx, 'passkey_deleted', request, user, {
          now,
          passkey_id: id,
        })
      })
      return reply.status(204).send(null)
    },
  )
}

export default passkeys

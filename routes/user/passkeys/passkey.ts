import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  changePasskeyName,
  removePasskey,
  requirePasskeysEnabled,
} from '../../../modules/passkeys/index.ts'
import { needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Passkey, PasskeyPath, toPasskey } from '../../../schemas/passkey.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const maxNameLength = 120

const Change = Type.Object({
  friendly_name: Type.Optional(
    Type.String({ description: `At most ${maxNameLength} bytes`, ...needed }),
  ),
})

const passkey: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/passkeys/:passkey_id'

  app.patch(
    path,
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Rename a passkey',
        tags: ['user'],
        params: PasskeyPath,
        body: Change,
        response: { 200: Passkey, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const id = readUuid('passkey_id', request.params.passkey_id)
      const { friendly_name: name = '' } = request.body
      if (name === '' || Buffer.byteLength(name) > maxNameLength) {
        throw validationFailed(`friendly_name must have 1 to ${maxNameLength} bytes`)
      }
      const at = { ip: request.clientIp, now: new Date() }
      const renamed = await db.transaction().execute(async (trx) => {
        const current = await bearerAuth.reauthorizeSession(trx, auth, at.now)
        return changePasskeyName(app, trx, current, { id, name }, at)
      })
      return toPasskey(renamed)
    },
  )

  app.delete(
    path,
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Delete a passkey',
        description: 'A user with a second factor needs a session at aal2.',
        tags: ['user'],
        params: PasskeyPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const auth = bearerAuth.getSessionAuth(request)
      const id = readUuid('passkey_id', request.params.passkey_id)
      const at = { ip: request.clientIp, now: new Date() }
      await db.transaction().execute(async (trx) => {
        const current = await bearerAuth.reauthorizeSession(trx, auth, at.now)
        await removePasskey(app, trx, current, id, at)
      })
      return reply.status(204).send(null)
    },
  )
}

export default passkey

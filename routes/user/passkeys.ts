/** Passkeys of the current user. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { findPasskeys } from '../../db/passkeys/credentials.ts'
import {
  changePasskeyName,
  checkCanAddPasskey,
  consumePasskeyRegistration,
  createPasskeyRegistration,
  registerPasskey,
  removePasskey,
  requirePasskeysEnabled,
} from '../../modules/passkeys/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed, webauthnVerificationFailed } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import {
  Passkey,
  PasskeyPath,
  PasskeyResponseBody,
  Passkeys,
  Question,
  readPasskeyResponse,
  toPasskey,
} from '../../schemas/passkey.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const passkeyRegistration: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, passkeys } = app

  app.post(
    '/passkeys/registration/options',
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Create registration options for a passkey (WebAuthn)',
        description:
          'A user with a second factor needs a session at aal2, also to complete the registration.',
        tags: ['user'],
        response: { 200: Question, ...ErrorResponses },
      },
    },
    (request) => createPasskeyRegistration(app, db, bearerAuth.getSessionAuth(request), new Date()),
  )

  app.post(
    '/passkeys/registration/verify',
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Register a passkey',
        description: 'In the session that requested it. A challenge is valid for one attempt.',
        tags: ['user'],
        body: PasskeyResponseBody,
        response: { 200: Passkey, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const auth = bearerAuth.getSessionAuth(request)
      checkCanAddPasskey(app, auth, now)
      const { challengeId, credential } = readPasskeyResponse(request.body)
      const challenge = await consumePasskeyRegistration(app, db, challengeId, auth, now)
      const key = await passkeys.ceremonies
        .verifyAttestation(credential, challenge)
        .catch((error) => {
          throw webauthnVerificationFailed(error)
        })
      const at = { ip: request.clientIp, now }
      const added = await db.transaction().execute(async (trx) => {
        const current = await bearerAuth.reauthorizeSession(trx, auth, now)
        return registerPasskey(app, trx, current, key, at)
      })
      return toPasskey(added)
    },
  )
}

const passkeyList: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/passkeys',
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the passkeys of the current user, oldest first',
        tags: ['user'],
        response: { 200: Passkeys, ...ErrorResponses },
      },
    },
    async (request) => {
      const { user } = bearerAuth.getAuth(request)
      return (await findPasskeys(db, user.id)).map(toPasskey)
    },
  )
}

const maxNameLength = 120

const Change = Type.Object({
  friendly_name: Type.Optional(
    Type.String({ description: `At most ${maxNameLength} bytes`, ...needed }),
  ),
})

const renameSchema = {
  summary: 'Rename a passkey',
  tags: ['user'],
  params: PasskeyPath,
  body: Change,
  response: { 200: Passkey, ...ErrorResponses },
}

const deleteSchema = {
  summary: 'Delete a passkey',
  description: 'A user with a second factor needs a session at aal2.',
  tags: ['user'],
  params: PasskeyPath,
  response: { 204: NoBody, ...ErrorResponses },
}

const passkey: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/passkeys/:passkey_id'

  app.patch(
    path,
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rejectsImpersonation: true },
      schema: renameSchema,
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const id = readUuid('passkey_id', request.params.passkey_id)
      const name = readName(request.body)
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
      schema: deleteSchema,
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

function readName({ friendly_name: name = '' }: Static<typeof Change>): string {
  if (name === '' || Buffer.byteLength(name) > maxNameLength) {
    throw validationFailed(`friendly_name must have 1 to ${maxNameLength} bytes`)
  }
  return name
}

export const passkeyRoutes = { passkeyRegistration, passkeyList, passkey }

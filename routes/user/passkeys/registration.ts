import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import {
  checkCanAddPasskey,
  consumePasskeyRegistration,
  createPasskeyRegistration,
  registerPasskey,
  requirePasskeysEnabled,
} from '../../../modules/passkeys/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { webauthnVerificationFailed } from '../../../schemas/errors.ts'
import {
  Passkey,
  PasskeyResponseBody,
  Question,
  readPasskeyResponse,
  toPasskey,
} from '../../../schemas/passkey.ts'

const registration: FastifyPluginAsyncTypebox = async (app) => {
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

export default registration

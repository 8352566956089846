import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { webauthnVerificationFailed } from '../../../errors.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { AnswerBody, Passkey, Question, readAnswer, toPasskey } from '../../../schemas/passkey.ts'

const registration: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, webauthn } = fastify
  const { passkeys } = webauthn

  fastify.post(
    '/passkeys/registration/options',
    {
      onRequest: passkeys.requireEnabled,
      config: { themselves: true },
      schema: {
        summary: 'Ask to add a passkey',
        description: 'A person with a second factor needs a session at aal2, here and to finish.',
        tags: ['user'],
        response: { 200: Question, ...ErrorResponses },
      },
    },
    (request) => passkeys.askToRegister(db, bearerAuth.memberOf(request), new Date()),
  )

  fastify.post(
    '/passkeys/registration/verify',
    {
      onRequest: passkeys.requireEnabled,
      config: { themselves: true },
      schema: {
        summary: 'Add a passkey',
        description: 'In the session that asked for it. A challenge is good for one try.',
        tags: ['user'],
        body: AnswerBody,
        response: { 200: Passkey, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const member = bearerAuth.memberOf(request)
      passkeys.checkMayAdd(member, now)
      const { challengeId, credential } = readAnswer(request.body)
      const challenge = await passkeys.spendRegistration(db, challengeId, member, now)
      const key = await webauthn.verifyCreation(credential, challenge).catch((error) => {
        throw webauthnVerificationFailed(error)
      })
      const at = { ip: request.clientIp, now }
      const added = await db.transaction().execute(async (trx) => {
        const held = await bearerAuth.holdMember(trx, member, now)
        return passkeys.register(trx, held, key, at)
      })
      return toPasskey(added)
    },
  )
}

export default registration

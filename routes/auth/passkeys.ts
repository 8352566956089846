import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { ApiError, webauthnVerificationFailed } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { CaptchaFields } from '../../schemas/fields.ts'
import { AnswerBody, Question, readAnswer } from '../../schemas/passkey.ts'
import { Session } from '../../schemas/session.ts'

const OptionsBody = Type.Union([Type.Object(CaptchaFields), Type.Null()])

const passkeySignIn: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, db, rateLimits, sessions, telemetry, webauthn } = fastify
  const { passkeys } = webauthn

  fastify.post(
    '/passkeys/authentication/options',
    {
      onRequest: passkeys.requireEnabled,
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.passkey },
      schema: {
        summary: 'Ask to sign in with a passkey',
        description: 'The same for everybody: the passkey says who they are.',
        tags: ['auth'],
        body: OptionsBody,
        response: { 200: Question, ...ErrorResponses },
      },
    },
    () => passkeys.askForSignIn(db, new Date()),
  )

  fastify.post(
    '/passkeys/authentication/verify',
    {
      onRequest: passkeys.requireEnabled,
      config: { signIn: () => 'passkey' },
      schema: {
        summary: 'Sign in with a passkey',
        description: 'A challenge is good for one try.',
        tags: ['auth'],
        body: AnswerBody,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async ({ body, client, clientIp: ip }) => {
      const now = new Date()
      try {
        const { challengeId, credential } = readAnswer(body)
        const challenge = await passkeys.spendSignIn(db, challengeId, now)
        const proof = await passkeys.judge(db, credential, challenge)
        const outcome = await db
          .transaction()
          .execute((trx) => passkeys.accept(trx, proof, { ip, client }, now))
        if (outcome.state === 'cloned') throw webauthnVerificationFailed()
        return await sessions.answer(outcome.opened, now)
      } catch (error) {
        const isRefusal = error instanceof ApiError && error.status < 500
        const outcome = isRefusal ? 'refused' : 'failed'
        telemetry.metrics.count('postern.sign_ins', { method: 'passkey', outcome })
        throw error
      }
    },
  )
}

export default passkeySignIn

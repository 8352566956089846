import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  completePasskeySignIn,
  consumePasskeyAuthentication,
  createPasskeyAuthentication,
  requirePasskeysEnabled,
  verifyPasskeyResponse,
} from '../../modules/passkeys/index.ts'
import { toTokenResponse } from '../../modules/sessions/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ApiError, webauthnVerificationFailed } from '../../schemas/errors.ts'
import { CaptchaFields } from '../../schemas/fields.ts'
import { PasskeyResponseBody, Question, readPasskeyResponse } from '../../schemas/passkey.ts'
import { Session } from '../../schemas/session.ts'

const OptionsBody = Type.Union([Type.Object(CaptchaFields), Type.Null()])

const passkeySignIn: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, db, rateLimits, telemetry } = app

  app.post(
    '/passkeys/authentication/options',
    {
      onRequest: () => requirePasskeysEnabled(app),
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.passkey },
      schema: {
        summary: 'Create authentication options for a passkey (WebAuthn)',
        description: 'The same for every user: the passkey identifies the user.',
        tags: ['auth'],
        body: OptionsBody,
        response: { 200: Question, ...ErrorResponses },
      },
    },
    () => createPasskeyAuthentication(app, db, new Date()),
  )

  app.post(
    '/passkeys/authentication/verify',
    {
      onRequest: () => requirePasskeysEnabled(app),
      config: { rateLimit: rateLimits.passkey, signIn: () => 'passkey' },
      schema: {
        summary: 'Sign in with a passkey',
        description: 'A challenge is valid for one attempt.',
        tags: ['auth'],
        body: PasskeyResponseBody,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async ({ body, clientInfo, clientIp: ip }) => {
      const now = new Date()
      try {
        const { challengeId, credential } = readPasskeyResponse(body)
        const challenge = await consumePasskeyAuthentication(db, challengeId, now)
        const assertion = await verifyPasskeyResponse(app, db, credential, challenge)
        const outcome = await db
          .transaction()
          .execute((trx) => completePasskeySignIn(app, trx, assertion, { ip, clientInfo }, now))
        if (outcome.state === 'cloned') throw webauthnVerificationFailed()
        return await toTokenResponse(app, outcome.opened, now)
      } catch (error) {
        const isRejection = error instanceof ApiError && error.status < 500
        const outcome = isRejection ? 'rejected' : 'failed'
        telemetry.metrics.count('postern.sign_ins', { method: 'passkey', outcome })
        throw error
      }
    },
  )
}

export default passkeySignIn

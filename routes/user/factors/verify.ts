import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { notifyOfFailure } from '../../../modules/credentials/index.ts'
import {
  type ChallengeResponse,
  callMfaVerificationHook,
  completeFactorVerification,
  type FactorChallenge,
  loadFactorChallenge,
  precomputeFactorClaims,
  rejectClonedAuthenticator,
  throttleFactorAttempt,
  verifyChallengeResponse,
} from '../../../modules/factors/index.ts'
import type { SessionAuth } from '../../../plugins/security/bearer-auth/index.ts'
import { needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { ApiError, badJson, mfaInvalidCode } from '../../../schemas/errors.ts'
import { FactorPath } from '../../../schemas/factor.ts'
import { isUuid, readUuid } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'
import { AuthenticationCredential, RegistrationCredential } from '../../../schemas/webauthn.ts'

const Body = Type.Object({
  challenge_id: Type.Optional(Type.String(needed)),
  code: Type.Optional(Type.String({ description: 'Of a totp or phone factor' })),
  webauthn: Type.Optional(
    Type.Object({
      credential_response: Type.Optional(
        Type.Union([RegistrationCredential, AuthenticationCredential, Type.Null()]),
      ),
    }),
  ),
})

const schema = {
  summary: 'Verify a factor',
  description:
    'The session continues at aal2 with new tokens; the previous refresh token must not be used again. ' +
    'Other sessions of the user below aal2 are revoked.',
  tags: ['mfa'],
  params: FactorPath,
  body: Body,
  response: { 200: Session, ...ErrorResponses },
}

const verify: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  app.post(
    '/factors/:factor_id/verify',
    {
      config: {
        rejectsImpersonation: true,
        rateLimit: rateLimits.mfa,
        isOpenWithoutFactor: true,
        signIn: () => 'factor',
      },
      schema,
    },
    async (request) => {
      const now = new Date()
      const auth = bearerAuth.getSessionAuth(request)
      const response = {
        factorId: readUuid('factor_id', request.params.factor_id),
        ...parseHookResponse(request.body),
        ip: request.clientIp,
      }
      const challenged = await loadFactorChallenge(app, db, auth, response, now)
      const attempt = await throttleFactorAttempt(app, db, auth.user.id, now)
      const verifyResponse = () => verifyAndComplete(auth, challenged, response, now)
      const raised = await attempt.check(db, verifyResponse, isRaised)
      if (raised instanceof ApiError) throw raised
      if (raised) return raised
      await notifyOfFailure(app, db, auth.user, { attempt, isFactor: true }, now)
      throw mfaInvalidCode(challenged.factor.factor_type)
    },
  )

  /** The session at aal2, the hook's rejection, or undefined for a wrong response. Throws mfa_verification_failed. */
  async function verifyAndComplete(
    auth: SessionAuth,
    challenged: FactorChallenge,
    response: ChallengeResponse,
    now: Date,
  ) {
    const at = { ip: response.ip, now }
    const verification = await verifyChallengeResponse(app, db, challenged, response, now)
    if (verification && 'key' in verification && verification.key.isCloned) {
      const { key } = verification
      throw await db
        .transaction()
        .execute((trx) => rejectClonedAuthenticator(app, trx, auth, key, at))
    }
    const result = { isRight: verification !== undefined, ip: at.ip }
    const rejection = await callMfaVerificationHook(app, db, challenged.factor, result)
    if (rejection) return rejection
    if (!verification) return undefined
    const approved = await precomputeFactorClaims(app, auth, verification, at)
    const accepted = await db
      .transaction()
      .execute((trx) => completeFactorVerification(app, trx, auth, approved, at))
    if (accepted instanceof ApiError) throw accepted
    return accepted
  }
}

function isRaised(outcome: object | undefined): boolean {
  return outcome !== undefined && !(outcome instanceof ApiError)
}

/** The stored challenge decides between creation and assertion; the client's statement is ignored. */
function parseHookResponse({ challenge_id, code, webauthn }: Static<typeof Body>) {
  if (!challenge_id || !isUuid(challenge_id)) throw badJson('challenge_id must be an UUID')
  return { challengeId: challenge_id, code, credential: webauthn?.credential_response ?? undefined }
}

export default verify

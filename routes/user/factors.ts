/** Second factors of the current user: enrolment, challenge, verification, removal. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import type { ChallengeableFactorType } from '../../db/tables/factors.ts'
import { notifyOfFailure } from '../../modules/credentials/index.ts'
import {
  type ChallengeResponse,
  callMfaVerificationHook,
  challengeFactor,
  completeFactorVerification,
  enrollFactor,
  type FactorChallenge,
  loadFactorChallenge,
  precomputeFactorClaims,
  rejectClonedAuthenticator,
  requireFactorEnrollEnabled,
  throttleFactorAttempt,
  unenrollFactor,
  verifyChallengeResponse,
} from '../../modules/factors/index.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import { choices, needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ApiError, badJson, mfaInvalidCode, validationFailed } from '../../schemas/errors.ts'
import { FactorPath } from '../../schemas/factor.ts'
import { Channel, isUuid, normalizePhone, readUuid } from '../../schemas/fields.ts'
import { Session } from '../../schemas/session.ts'
import { AuthenticationCredential, RegistrationCredential } from '../../schemas/webauthn.ts'

const EnrollBody = Type.Object({
  factor_type: Type.Optional(Type.String({ ...needed, ...choices('totp', 'phone', 'webauthn') })),
  friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
  issuer: Type.Optional(
    Type.String({ maxLength: 64, description: 'The name of this site in an authenticator app' }),
  ),
  phone: Type.Optional(Type.String({ description: 'E.164, of a phone factor' })),
})

const Enrolled = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: Type.String(),
    friendly_name: Type.String(),
    totp: Type.Optional(
      Type.Object({
        qr_code: Type.String({ description: 'The uri as an SVG QR code' }),
        secret: Type.String({ description: 'Base32' }),
        uri: Type.String({ description: 'otpauth' }),
      }),
    ),
    phone: Type.Optional(Type.String({ description: 'As it was sent' })),
  },
  { title: 'EnrolledFactor' },
)

const enroll: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/factors',
    {
      config: { rejectsImpersonation: true, isOpenWithoutFactor: true },
      schema: {
        summary: 'Enroll a factor',
        description:
          'The factor is active once a challenge was verified in this session. ' +
          'A user who already has one needs a session at aal2.',
        tags: ['mfa'],
        body: EnrollBody,
        response: { 200: Enrolled, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const { factor_type, friendly_name: name = '', issuer, phone } = request.body
      const type = readType(factor_type)
      requireFactorEnrollEnabled(app, type)
      const enrolment = {
        type,
        name,
        issuer: issuer || undefined,
        phone: type === 'phone' ? normalizePhone(phone ?? '') : null,
      }
      const at = { ip: request.clientIp, now: new Date() }
      const enrolled = await db
        .transaction()
        .execute((trx) => enrollFactor(app, trx, auth, enrolment, at))
      return { ...enrolled, ...(type === 'phone' && phone !== undefined && { phone }) }
    },
  )
}

function readType(type: string | undefined): ChallengeableFactorType {
  if (type === 'totp' || type === 'phone' || type === 'webauthn') return type
  throw validationFailed('factor_type needs to be totp, phone, or webauthn')
}

const ChallengeBody = Type.Union([Type.Object({ channel: Channel }), Type.Null()])

const Challenge = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    type: Type.String(),
    expires_at: Type.Integer({ description: 'Seconds since the Unix epoch' }),
    webauthn: Type.Optional(
      Type.Object({
        type: Type.String({ description: 'create or request' }),
        credential_options: Type.Object({
          publicKey: Type.Record(Type.String(), Type.Unknown(), {
            description: 'For navigator.credentials.create() or get()',
          }),
        }),
      }),
    ),
  },
  { title: 'FactorChallenge' },
)

const challenge: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  app.post(
    '/factors/:factor_id/challenge',
    {
      config: { rejectsImpersonation: true, rateLimit: rateLimits.mfa, isOpenWithoutFactor: true },
      schema: {
        summary: 'Create a challenge for a factor',
        description: 'Sends the code of a phone factor.',
        tags: ['mfa'],
        params: FactorPath,
        body: ChallengeBody,
        response: { 200: Challenge, ...ErrorResponses },
      },
    },
    (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const factorId = readUuid('factor_id', request.params.factor_id)
      const channel = request.body?.channel
      const input = { factorId, channel, ip: request.clientIp }
      return challengeFactor(app, db, auth, input, new Date())
    },
  )
}

const VerifyBody = Type.Object({
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

const verifySchema = {
  summary: 'Verify a factor',
  description:
    'The session continues at aal2 with new tokens; the previous refresh token must not be used again. ' +
    'Other sessions of the user below aal2 are revoked.',
  tags: ['mfa'],
  params: FactorPath,
  body: VerifyBody,
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
      schema: verifySchema,
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
      const verifyResponse = () => verifyAndComplete(app, auth, challenged, response, now)
      const raised = await attempt.check(db, verifyResponse, isRaised)
      if (raised instanceof ApiError) throw raised
      if (raised) return raised
      await notifyOfFailure(app, db, auth.user, { attempt, isFactor: true }, now)
      throw mfaInvalidCode(challenged.factor.factor_type)
    },
  )
}

/** The session at aal2, the hook's rejection, or undefined for a wrong response. Throws mfa_verification_failed. */
async function verifyAndComplete(
  app: FastifyInstance,
  auth: SessionAuth,
  challenged: FactorChallenge,
  response: ChallengeResponse,
  now: Date,
) {
  const { db } = app
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

function isRaised(outcome: object | undefined): boolean {
  return outcome !== undefined && !(outcome instanceof ApiError)
}

/** The stored challenge decides between creation and assertion; the client's statement is ignored. */
function parseHookResponse({ challenge_id, code, webauthn }: Static<typeof VerifyBody>) {
  if (!challenge_id || !isUuid(challenge_id)) throw badJson('challenge_id must be an UUID')
  return { challengeId: challenge_id, code, credential: webauthn?.credential_response ?? undefined }
}

const Removed = Type.Object({ id: Type.String({ format: 'uuid' }) })

const unenroll: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.delete(
    '/factors/:factor_id',
    {
      config: { rejectsImpersonation: true, isOpenWithoutFactor: true },
      schema: {
        summary: 'Delete a factor',
        description:
          'A verified factor requires a session at aal2. Sessions that it stepped up return to aal1.',
        tags: ['mfa'],
        params: FactorPath,
        response: { 200: Removed, ...ErrorResponses },
      },
    },
    async (request) => {
      const auth = bearerAuth.getSessionAuth(request)
      const id = readUuid('factor_id', request.params.factor_id)
      const at = { ip: request.clientIp, now: new Date() }
      await db.transaction().execute((trx) => unenrollFactor(app, trx, auth, id, at))
      return { id }
    },
  )
}

export const factorRoutes = { enroll, challenge, verify, unenroll }

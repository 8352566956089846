import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { ApiError, badJson, mfaWrongAnswer } from '../../../errors.ts'
import type { Answer, Asked } from '../../../plugins/accounts/factors/judge.ts'
import type { Member } from '../../../plugins/bearer-auth.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { FactorPath } from '../../../schemas/factor.ts'
import { isUuid, readUuid } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'
import { AuthenticationCredential, RegistrationCredential } from '../../../schemas/webauthn.ts'

const Body = Type.Object({
  challenge_id: Type.Optional(Type.String()),
  code: Type.Optional(Type.String({ description: 'Of a totp or phone factor' })),
  webauthn: Type.Optional(
    Type.Object({
      credential_response: Type.Optional(
        Type.Union([RegistrationCredential, AuthenticationCredential, Type.Null()]),
      ),
    }),
  ),
})

const verify: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, factors, rateLimits } = fastify

  fastify.post(
    '/factors/:factor_id/verify',
    {
      config: {
        themselves: true,
        rateLimit: rateLimits.mfa,
        isOpenWithoutFactor: true,
        signIn: () => 'factor',
      },
      schema: {
        summary: 'Prove a second factor',
        description:
          'The session goes on at aal2, with new tokens; the refresh token from before must not be used again. ' +
          'Other sessions of the person that are below aal2 end.',
        tags: ['mfa'],
        params: FactorPath,
        body: Body,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const member = bearerAuth.memberOf(request)
      const answer = {
        factorId: readUuid('factor_id', request.params.factor_id),
        ...readAnswer(request.body),
        ip: request.clientIp,
      }
      const asked = await factors.findAsked(db, member, answer, now)
      const attempt = await factors.gate(db, member.user.id, now)
      const tryAnswer = () => prove(member, asked, answer, now)
      const raised = await attempt.check(db, tryAnswer, isRaised)
      if (raised instanceof ApiError) throw raised
      if (!raised) throw mfaWrongAnswer(asked.factor.factor_type)
      return raised
    },
  )

  /** The session at aal2, the refusal of a hook, or undefined for a wrong answer. Throws mfa_verification_failed. */
  async function prove(member: Member, asked: Asked, answer: Answer, now: Date) {
    const { ip } = answer
    const at = { ip, now }
    const proof = await factors.judge(db, asked, answer, now)
    if (proof && 'key' in proof && proof.key.isCloned) {
      const { key } = proof
      throw await db.transaction().execute((trx) => factors.refuseClone(trx, member, key, at))
    }
    const refusal = await factors.consult(db, asked, { isRight: proof !== undefined, ip })
    if (refusal) return refusal
    if (!proof) return undefined
    const approved = await factors.approve(member, proof, at)
    const accepted = await db
      .transaction()
      .execute((trx) => factors.accept(trx, member, approved, at))
    if (accepted instanceof ApiError) throw accepted
    return accepted
  }
}

function isRaised(outcome: object | undefined): boolean {
  return outcome !== undefined && !(outcome instanceof ApiError)
}

/** Which of create and request it is, the stored challenge says; what the client says is not read. */
function readAnswer({ challenge_id, code, webauthn }: Static<typeof Body>) {
  if (!challenge_id || !isUuid(challenge_id)) throw badJson('challenge_id must be an UUID')
  return { challengeId: challenge_id, code, credential: webauthn?.credential_response ?? undefined }
}

export default verify

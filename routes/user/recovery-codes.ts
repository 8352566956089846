import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { countRecoveryCodes } from '../../db/recovery-codes.ts'
import { mfaVerificationFailed, validationFailed } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { RemainingCodes } from '../../schemas/recovery-codes.ts'
import { Session } from '../../schemas/session.ts'

const Codes = Type.Object({ codes: Type.Array(Type.String()) }, { title: 'RecoveryCodes' })

const Body = Type.Object({ code: Type.Optional(Type.String()) })

const recoveryCodes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, factors, rateLimits } = fastify
  const path = '/factors/recovery_codes'

  fastify.get(
    path,
    {
      config: { themselves: false, isOpenWithoutFactor: true },
      schema: {
        summary: 'How many recovery codes are left',
        tags: ['mfa'],
        response: { 200: RemainingCodes, ...ErrorResponses },
      },
    },
    async (request) => {
      const { user } = bearerAuth.bearerOf(request)
      return { remaining: await countRecoveryCodes(db, user.id) }
    },
  )

  fastify.post(
    path,
    {
      config: { themselves: true },
      schema: {
        summary: 'Make ten recovery codes',
        description:
          'Needs a session at aal2. They are shown this once, and all from before are void.',
        tags: ['mfa'],
        response: { 200: Codes, ...ErrorResponses },
      },
    },
    async (request) => {
      const member = bearerAuth.memberOf(request)
      const at = { ip: request.clientIp, now: new Date() }
      const made = await db.transaction().execute(async (trx) => {
        const held = await bearerAuth.holdMember(trx, member, at.now)
        return factors.makeRecoveryCodes(trx, held, at)
      })
      return { codes: made }
    },
  )

  // The client SDK spells the path with a hyphen (recovery-codes-of-sdk.ts).
  for (const written of [path, '/factors/recovery-codes']) {
    fastify.post(
      `${written}/verify`,
      {
        config: { themselves: true, rateLimit: rateLimits.mfa, isOpenWithoutFactor: true },
        schema: {
          summary: 'Use a recovery code in the place of a second factor',
          description:
            'The code is spent. The session goes on at aal2, with new tokens; other sessions of the person that are below aal2 end.',
          tags: ['mfa'],
          body: Body,
          response: { 200: Session, ...ErrorResponses },
        },
      },
      async (request) => {
        const now = new Date()
        const member = bearerAuth.memberOf(request)
        const { code } = request.body
        if (!code) throw validationFailed('Code needs to be non-empty')
        const attempt = await factors.gateRecoveryCode(db, member.user.id, now)
        const at = { ip: request.clientIp, now }
        const use = async () => {
          const approved = await factors.approveRecoveryCode(db, member, code, at)
          if (!approved) return undefined
          return db.transaction().execute(async (trx) => {
            const held = await bearerAuth.holdMember(trx, member, now)
            return factors.spendRecoveryCode(trx, held, approved, at)
          })
        }
        const raised = await attempt.check(db, use, (outcome) => outcome !== undefined)
        if (!raised) throw mfaVerificationFailed('The recovery code is wrong or was used before')
        return raised
      },
    )
  }
}

export default recoveryCodes

/**
 * Recovery codes as the client SDK asks for them (`auth.mfa.recoveryCodes` of @supabase/auth-js, experimental there).
 * There the set of codes is a factor with an id. Here a person has one set and no row for it, so its id is theirs.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { countRecoveryCodes } from '../../db/recovery-codes.ts'
import { recoveryCodesExist, recoveryCodesNotFound } from '../../errors.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { codesInSet } from '../../schemas/recovery-codes.ts'

const fields = { id: Type.String(), type: Type.Literal('recovery_code'), total: Type.Integer() }

const Status = Type.Object(
  { ...fields, remaining: Type.Integer() },
  { title: 'RecoveryCodeStatus' },
)

const CodeSet = Type.Object(
  { ...fields, codes: Type.Array(Type.String()) },
  { title: 'RecoveryCodeSet' },
)

const Removed = Type.Object({ id: Type.String() }, { title: 'RecoveryCodesRemoved' })

const type = 'recovery_code' as const

const recoveryCodesOfSdk: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, factors } = fastify
  const path = '/factors/recovery-codes'

  /** A new set. Whether there is one already has to be as the person thinks: else codes on paper become void unseen. */
  async function make(request: FastifyRequest, expected: 'none' | 'some') {
    const member = bearerAuth.memberOf(request)
    const at = { ip: request.clientIp, now: new Date() }
    const { id } = member.user
    const made = await db.transaction().execute(async (trx) => {
      const held = await bearerAuth.holdMember(trx, member, at.now)
      const found = (await countRecoveryCodes(trx, id)) > 0 ? 'some' : 'none'
      if (found !== expected) {
        throw found === 'some' ? recoveryCodesExist() : recoveryCodesNotFound()
      }
      return factors.makeRecoveryCodes(trx, held, at)
    })
    // Apps divide them into groups of their own.
    const bare = made.map((code) => code.replace('-', ''))
    return { id, type, total: made.length, codes: bare }
  }

  fastify.get(
    path,
    {
      config: { themselves: false, isOpenWithoutFactor: true },
      schema: {
        summary: 'How many recovery codes are left, as the client SDK asks',
        tags: ['mfa'],
        response: { 200: Status, ...ErrorResponses },
      },
    },
    async (request) => {
      const { id } = bearerAuth.bearerOf(request).user
      const remaining = await countRecoveryCodes(db, id)
      if (remaining === 0) throw recoveryCodesNotFound()
      return { id, type, total: codesInSet, remaining }
    },
  )

  fastify.post(
    path,
    {
      config: { themselves: true },
      schema: {
        summary: 'Make ten recovery codes, where there are none',
        description: 'Needs a session at aal2. They are shown this once.',
        tags: ['mfa'],
        response: { 200: CodeSet, ...ErrorResponses },
      },
    },
    (request) => make(request, 'none'),
  )

  fastify.post(
    `${path}/regenerate`,
    {
      config: { themselves: true },
      schema: {
        summary: 'Make ten recovery codes in the place of those from before',
        description:
          'Needs a session at aal2. They are shown this once, and all from before are void.',
        tags: ['mfa'],
        response: { 200: CodeSet, ...ErrorResponses },
      },
    },
    (request) => make(request, 'some'),
  )

  fastify.delete(
    path,
    {
      config: { themselves: true },
      schema: {
        summary: 'Void all recovery codes',
        description: 'Needs a session at aal2.',
        tags: ['mfa'],
        response: { 200: Removed, ...ErrorResponses },
      },
    },
    async (request) => {
      const member = bearerAuth.memberOf(request)
      const at = { ip: request.clientIp, now: new Date() }
      const { id } = member.user
      const isDone = await db.transaction().execute(async (trx) => {
        const held = await bearerAuth.holdMember(trx, member, at.now)
        return factors.discardRecoveryCodes(trx, held, at)
      })
      if (!isDone) throw recoveryCodesNotFound()
      return { id }
    },
  )
}

export default recoveryCodesOfSdk

/**
 * Who says whether a texted code is right: the operator for numbers with a fixed code, the provider where it makes
 * the codes itself, and else our own tokens.
 */
import { timingSafeEqual } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { countGuess, type TokenRow, type TokenType } from '../../db/one-time-tokens.ts'
import { findNewestToken, takeFoundToken } from '../../db/phone-tokens.ts'
import { findUserByPhone, lockUser } from '../../db/users.ts'

declare module 'fastify' {
  interface FastifyInstance {
    phoneProofs: ReturnType<typeof createPhoneProofs>
  }
}

/** A code as somebody typed it, and for which purpose. */
export interface TypedCode {
  type: TokenType
  /** E.164 digits without the plus sign. */
  phone: string
  code: string
}

export type Judgement =
  | { by: 'operator' }
  /** The token the right code was sent for; undefined for a wrong one. */
  | { by: 'provider'; token: TokenRow | undefined }
  | { by: 'us' }

/** Whose code it was, and what for. */
export type SpentToken = Pick<TokenRow, 'user_id' | 'token_type' | 'relates_to'>

interface PhoneProofDeps {
  sms: Pick<FastifyInstance['sms'], 'testOtp' | 'verify'>
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  aud: string
}

export function createPhoneProofs({ sms, oneTimeTokens, aud }: PhoneProofDeps) {
  type Check = NonNullable<typeof sms.verify>

  /** The provider's word counts for what we asked it to send, for as many guesses as our own codes allow. */
  async function askProvider(db: Db, check: Check, { type, phone, code }: TypedCode, now: Date) {
    const live = await db.transaction().execute((trx) => countGuess(trx, [type], phone, now))
    const newest = await findNewestToken(db, type, phone)
    // Asked for unknown numbers too, so that the time of the answer tells nothing.
    const isRight = await check(phone, code)
    return isRight ? live.find(({ id }) => id === newest?.id) : undefined
  }

  /** The person at a number with a fixed code, whether or not anything was sent there. */
  async function ownerOf(trx: Trx, type: TokenType, phone: string) {
    if (type === 'phone_change_token') return (await findNewestToken(trx, type, phone))?.user_id
    return (await findUserByPhone(trx, phone, aud))?.id
  }

  return {
    /**
     * Asks whoever knows. Outside of a transaction, for a provider may take its time. Throws unexpected_failure
     * when that does not answer.
     */
    async judge(db: Db, typed: TypedCode, now: Date): Promise<Judgement> {
      const fixed = sms.testOtp(typed.phone, now)
      if (fixed !== undefined && equal(fixed, typed.code)) return { by: 'operator' }
      if (!sms.verify) return { by: 'us' }
      return { by: 'provider', token: await askProvider(db, sms.verify, typed, now) }
    },

    /** Spends the code. Undefined for a wrong, late or used one: the guess is counted, so commit before refusing. */
    async take(
      trx: Trx,
      { type, phone, code }: TypedCode,
      judgement: Judgement,
      now: Date,
    ): Promise<SpentToken | undefined> {
      if (judgement.by === 'us') return oneTimeTokens.takeCode(trx, [type], phone, code, now)
      if (judgement.by === 'operator') {
        const user_id = await ownerOf(trx, type, phone)
        if (!user_id) return undefined
        await lockUser(trx, user_id)
        return { user_id, token_type: type, relates_to: phone }
      }
      if (!judgement.token) return undefined
      await lockUser(trx, judgement.token.user_id)
      return takeFoundToken(trx, judgement.token, now)
    },
  }
}

function equal(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function phoneProofs(fastify: FastifyInstance) {
  const { config, sms, oneTimeTokens } = fastify
  const aud = config.AUTH_JWT_AUD
  fastify.decorate('phoneProofs', createPhoneProofs({ sms, oneTimeTokens, aud }))
}

export default fp(phoneProofs, {
  name: 'phone-proofs',
  fastify: '5.x',
  dependencies: ['config', 'sms', 'one-time-tokens'],
})

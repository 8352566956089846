/** What a spent one-time token changes: the effect of each type, and what an unproven past loses by it. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import type { TokenType } from '../../db/one-time-tokens.ts'
import { findUser, type UserRecord, updateUser } from '../../db/users.ts'
import { userBanned } from '../../errors.ts'
import type { Judgement, SpentToken } from './phone-proofs.ts'
import { confirmMailbox, confirmSignUp } from './verifications/email.ts'
import { confirmPhone } from './verifications/phone.ts'
import type { Verified } from './verifications/verified.ts'

declare module 'fastify' {
  interface FastifyInstance {
    verifications: ReturnType<typeof createVerifications>
  }
}

/** Which tokens each `type` of /verify may spend. */
const emailTypes = new Map<string, readonly TokenType[]>([
  ['signup', ['confirmation_token']],
  ['invite', ['confirmation_token']],
  ['recovery', ['recovery_token']],
  ['magiclink', ['recovery_token']],
  ['email', ['confirmation_token', 'recovery_token']],
  ['email_change', ['email_change_token_new', 'email_change_token_current']],
])
const phoneTypes = new Map<string, TokenType>([
  ['sms', 'confirmation_token'],
  ['phone_change', 'phone_change_token'],
])

/** What a person shows: a code with the address it went to, or the token of a link. */
export type Proof = { type: string } & (
  | { linkToken: string }
  | { email: string; code: string }
  | { phone: string; code: string; judgement: Judgement }
)

const halfDoneMessage =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'

interface VerificationDeps {
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  passwords: FastifyInstance['passwords']
  emailChanges: FastifyInstance['emailChanges']
  phoneChanges: FastifyInstance['phoneChanges']
  phoneProofs: FastifyInstance['phoneProofs']
}

export function createVerifications(deps: VerificationDeps) {
  const { oneTimeTokens, passwords, emailChanges, phoneChanges, phoneProofs } = deps

  /** Spends the token that the proof names; undefined for a wrong, late, used or foreign one. */
  async function take(trx: Trx, proof: Proof, now: Date): Promise<SpentToken | undefined> {
    if ('phone' in proof) {
      const type = phoneTypes.get(proof.type)
      return type && phoneProofs.take(trx, { ...proof, type }, proof.judgement, now)
    }
    const types = emailTypes.get(proof.type) ?? []
    if ('linkToken' in proof) return oneTimeTokens.takeLink(trx, types, proof.linkToken, now)
    return oneTimeTokens.takeCode(trx, types, proof.email, proof.code, now)
  }

  /** Carries out what the token was for. */
  async function apply(
    trx: Trx,
    token: SpentToken,
    user: UserRecord,
    type: string,
    now: Date,
  ): Promise<Verified> {
    switch (token.token_type) {
      case 'confirmation_token':
        if (type === 'sms') return confirmPhone(trx, user, now)
        return confirmSignUp(trx, user, type === 'invite' ? 'invite' : 'signup', now)
      case 'recovery_token':
        return confirmMailbox(trx, user, type === 'recovery' ? 'recovery' : 'magiclink', now)
      case 'email_change_token_new':
      case 'email_change_token_current':
        return emailChanges.agree(trx, user, token.token_type, now)
      case 'phone_change_token':
        return phoneChanges.agree(trx, user, now)
      default:
        return { state: 'refused' }
    }
  }

  return {
    halfDoneMessage,

    /** Which token a code texted for this type of /verify spends. */
    phoneTokenOf: (type: string): TokenType | undefined => phoneTypes.get(type),

    isType: (type: string): boolean => emailTypes.has(type) || phoneTypes.has(type),

    /**
     * Spends what the proof names and carries out what it was for. A refused guess has been counted, so the
     * transaction has to end well. Throws user_banned to whoever has the right proof, and email_exists.
     */
    async spend(trx: Trx, proof: Proof, now: Date): Promise<Verified> {
      const token = await take(trx, proof, now)
      const user = token && (await findUser(trx, token.user_id))
      if (!user || user.deleted_at || !isSentTo(user, token)) return { state: 'refused' }
      if (user.banned_until && user.banned_until > now) throw userBanned(403)
      return apply(trx, token, user, proof.type, now)
    },

    /** True for a link that can still be opened; nothing is spent. */
    async isLive(db: Db, linkToken: string, type: string, now: Date): Promise<boolean> {
      const types = emailTypes.get(type) ?? []
      return (await oneTimeTokens.findLink(db, types, linkToken, now)) !== undefined
    },

    /** A password that comes with the proof, for somebody who has none yet. */
    async setFirstPassword(trx: Trx, user: UserRecord, password: string, now: Date) {
      if (user.encrypted_password) return
      await updateUser(trx, user.id, { encrypted_password: await passwords.hash(password) }, now)
    },
  }
}

/** An address that is no longer the person's proves nothing about them. */
function isSentTo(user: UserRecord, token: SpentToken): boolean {
  const addresses: Record<TokenType, (string | null)[]> = {
    confirmation_token: [user.email, user.phone],
    recovery_token: [user.email],
    reauthentication_token: [],
    email_change_token_new: [user.email_change],
    email_change_token_current: [user.email],
    phone_change_token: [user.phone_change],
  }
  return addresses[token.token_type].includes(token.relates_to)
}

async function verifications(fastify: FastifyInstance) {
  const { oneTimeTokens, passwords, emailChanges, phoneChanges, phoneProofs } = fastify
  const decorator = createVerifications({
    oneTimeTokens,
    passwords,
    emailChanges,
    phoneChanges,
    phoneProofs,
  })
  fastify.decorate('verifications', decorator)
}

export default fp(verifications, {
  name: 'verifications',
  fastify: '5.x',
  dependencies: ['one-time-tokens', 'passwords', 'email-changes', 'phone-changes', 'phone-proofs'],
})

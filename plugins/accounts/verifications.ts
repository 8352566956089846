/** What a spent one-time token changes: the effect of each type, and what an unproven past loses by it. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import {
  deleteOtherIdentities,
  putIdentity,
  recomputeProviders,
  verifyIdentityEmail,
} from '../../db/identities.ts'
import { deleteTokens, type TokenRow, type TokenType } from '../../db/one-time-tokens.ts'
import { deleteSessions } from '../../db/sessions.ts'
import { findUser, lockUser, mergeMetadata, type UserRecord, updateUser } from '../../db/users.ts'
import { otpExpired, userBanned } from '../../errors.ts'
import type { VerificationType } from './links.ts'

declare module 'fastify' {
  interface FastifyInstance {
    verifications: ReturnType<typeof createVerifications>
  }
}

/** Which tokens each `type` of /verify may spend. */
export const tokenTypesOf: Record<string, readonly TokenType[]> = {
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email: ['confirmation_token', 'recovery_token'],
  email_change: ['email_change_token_new', 'email_change_token_current'],
  sms: ['confirmation_token'],
  phone_change: ['phone_change_token'],
}

/** What a person shows: a code with the address it went to, or the token of a link. */
export type Proof = { type: string; aud: string } & (
  | { linkToken: string }
  | { address: string; code: string }
)

export type Verified =
  | { state: 'done'; user: UserRecord; type: VerificationType | 'sms' | 'phone_change' }
  /** The first of two links of an email change. */
  | { state: 'half'; user: UserRecord }
  /** Wrong, late, used, foreign: one answer for all. The guess has been counted. */
  | { state: 'refused' }

const halfDoneMessage =
  'Confirmation link accepted. Please proceed to confirm link sent to the other email'

interface VerificationDeps {
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  passwords: FastifyInstance['passwords']
  /** Both the old and the new address have to agree to a change. */
  secureEmailChange: boolean
}

export function createVerifications(deps: VerificationDeps) {
  const { oneTimeTokens, passwords, secureEmailChange } = deps

  /** Carries out what the token was for. Throws user_banned; the token stays spent then. */
  async function apply(trx: Trx, token: TokenRow, type: string, now: Date): Promise<Verified> {
    await lockUser(trx, token.user_id)
    const user = await findUser(trx, token.user_id)
    if (!user || user.deleted_at) throw otpExpired()
    if (user.banned_until && user.banned_until > now) throw userBanned(403)

    switch (token.token_type) {
      case 'confirmation_token':
        if (type === 'sms') return confirmPhone(trx, user, now)
        return confirmSignUp(trx, user, type === 'invite' ? 'invite' : 'signup', now)
      case 'recovery_token':
        return confirmMailbox(trx, user, type === 'recovery' ? 'recovery' : 'magiclink', now)
      case 'email_change_token_new':
      case 'email_change_token_current':
        return changeEmail(trx, user, token, now)
      case 'phone_change_token':
        return changePhone(trx, user, now)
      default:
        throw otpExpired()
    }
  }

  /** The link came with the sign-up's own password, so that password is proven along with the address. */
  async function confirmSignUp(
    trx: Trx,
    user: UserRecord,
    type: 'signup' | 'invite',
    now: Date,
  ): Promise<Verified> {
    await deleteTokens(trx, user.id)
    if (type === 'invite' || user.invited_at) await deleteSessions(trx, user.id)
    await confirmEmail(trx, user, now)
    return done(trx, user, type, now)
  }

  /** Proves the mailbox and nothing else: whatever an unproven account already had is not the owner's. */
  async function confirmMailbox(
    trx: Trx,
    user: UserRecord,
    type: 'recovery' | 'magiclink',
    now: Date,
  ): Promise<Verified> {
    await deleteTokens(trx, user.id)
    if (!user.email_confirmed_at) {
      await dropUnprovenCredentials(trx, user, now)
      await confirmEmail(trx, user, now)
    }
    return done(trx, user, type, now)
  }

  async function changeEmail(
    trx: Trx,
    user: UserRecord,
    token: TokenRow,
    now: Date,
  ): Promise<Verified> {
    const needsBoth = secureEmailChange && user.email !== null && user.email !== ''
    if (needsBoth && user.email_change_confirm_status === 0) {
      await updateUser(trx, user.id, { email_change_confirm_status: 1 }, now)
      return { state: 'half', user }
    }
    const email = user.email_change
    if (!email) throw otpExpired()
    // The link to the current address alone proves nothing about the new one.
    if (!needsBoth && token.token_type === 'email_change_token_current') throw otpExpired()
    await deleteTokens(trx, user.id)
    const change = {
      email,
      email_change: '',
      email_change_confirm_status: 0,
      email_confirmed_at: user.email_confirmed_at ?? now,
      is_anonymous: false,
    }
    await updateUser(trx, user.id, change, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    await putEmailIdentity(trx, user.id, email, now)
    return done(trx, user, 'email_change', now)
  }

  return {
    halfDoneMessage,

    /** Spends what the proof names and carries out what it was for. Throws user_banned. */
    async spend(trx: Trx, proof: Proof, now: Date): Promise<Verified> {
      const types = Object.hasOwn(tokenTypesOf, proof.type) ? tokenTypesOf[proof.type] : undefined
      if (!types) return { state: 'refused' }
      const token =
        'code' in proof
          ? await oneTimeTokens.takeCode(trx, types, proof.address, proof.code, now)
          : await oneTimeTokens.takeLink(trx, types, proof.linkToken, now)
      return token ? apply(trx, token, proof.type, now) : { state: 'refused' }
    },

    /** A password that comes with the proof, for somebody who has none yet. */
    async setFirstPassword(trx: Trx, user: UserRecord, password: string, now: Date) {
      if (user.encrypted_password) return
      await updateUser(trx, user.id, { encrypted_password: await passwords.hash(password) }, now)
    },
  }
}

async function confirmEmail(trx: Trx, user: UserRecord, now: Date): Promise<void> {
  await updateUser(trx, user.id, { email_confirmed_at: now }, now)
  await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
  if (user.email) await verifyIdentityEmail(trx, user.id, user.email, now)
}

async function confirmPhone(trx: Trx, user: UserRecord, now: Date): Promise<Verified> {
  await deleteTokens(trx, user.id)
  await updateUser(trx, user.id, { phone_confirmed_at: user.phone_confirmed_at ?? now }, now)
  await mergeMetadata(trx, user.id, { user: { phone_verified: true } }, now)
  return done(trx, user, 'sms', now)
}

async function changePhone(trx: Trx, user: UserRecord, now: Date): Promise<Verified> {
  const phone = user.phone_change
  if (!phone) throw otpExpired()
  await deleteTokens(trx, user.id)
  const change = { phone, phone_change: '', phone_confirmed_at: now, is_anonymous: false }
  await updateUser(trx, user.id, change, now)
  const identity = {
    user_id: user.id,
    provider: 'phone',
    provider_id: user.id,
    identity_data: { sub: user.id, phone, phone_verified: true },
  }
  await putIdentity(trx, identity, now)
  return done(trx, user, 'phone_change', now)
}

/** A password, identity or session from before the proof may be somebody else's; a proven phone's stays. */
export async function dropUnprovenCredentials(trx: Trx, user: UserRecord, now: Date) {
  const keepsPassword = user.phone_confirmed_at !== null
  if (!keepsPassword) await updateUser(trx, user.id, { encrypted_password: null }, now)
  await deleteOtherIdentities(trx, user.id, keepsPassword ? ['email', 'phone'] : ['email'])
  await deleteSessions(trx, user.id)
}

export function putEmailIdentity(trx: Trx, userId: string, email: string, now: Date) {
  const identity = {
    user_id: userId,
    provider: 'email',
    provider_id: userId,
    identity_data: { sub: userId, email, email_verified: true, phone_verified: false },
  }
  return putIdentity(trx, identity, now)
}

async function done(
  trx: Trx,
  { id }: UserRecord,
  type: Extract<Verified, { state: 'done' }>['type'],
  now: Date,
): Promise<Verified> {
  await recomputeProviders(trx, id, now)
  const user = await findUser(trx, id)
  if (!user) throw otpExpired()
  return { state: 'done', user, type }
}

async function verifications(fastify: FastifyInstance) {
  const { AUTH_MAILER_AUTOCONFIRM, AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED } = fastify.config
  const secureEmailChange = !AUTH_MAILER_AUTOCONFIRM && AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED
  const { oneTimeTokens, passwords } = fastify
  const decorator = createVerifications({ oneTimeTokens, passwords, secureEmailChange })
  fastify.decorate('verifications', decorator)
}

export default fp(verifications, {
  name: 'verifications',
  fastify: '5.x',
  dependencies: ['config', 'one-time-tokens', 'passwords'],
})

/** The ways a person can sign in: adding one from another provider, taking one away. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import { findAddressOwners } from '../../db/address-owners.ts'
import type { Trx } from '../../db/database.ts'
import {
  deleteIdentity,
  findIdentity,
  lockIdentity,
  recomputeProviders,
} from '../../db/identities.ts'
import { deleteTokens } from '../../db/one-time-tokens.ts'
import {
  findUser,
  lockUser,
  mergeMetadata,
  type UserChange,
  type UserRecord,
  updateUser,
} from '../../db/users.ts'
import {
  emailConflictIdentityNotDeletable,
  emailExists,
  emailNotConfirmed,
  identityAlreadyExists,
  identityNotFound,
  singleIdentityNotDeletable,
  userBanned,
  userNotFound,
} from '../../errors.ts'
import { readAddresses } from './external-sign-ins/addresses.ts'
import { addIdentity, linkedElsewhere, traitsOf } from './external-sign-ins/identity.ts'
import type { ExternalPerson, SignInContext, SignInOutcome } from './external-sign-ins.ts'
import { promotions } from './identities/promotions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    identities: ReturnType<typeof createIdentities>
  }
}

interface IdentityDeps {
  aud: string
  autoconfirm: boolean
  audit: FastifyInstance['audit']
  letters: FastifyInstance['letters']
  recipients: FastifyInstance['recipients']
  sendLimits: FastifyInstance['sendLimits']
}

interface Unlinking {
  userId: string
  identityId: string
  ip: string
}

export function createIdentities(deps: IdentityDeps) {
  const { aud, autoconfirm, audit, letters, recipients, sendLimits } = deps

  /** Somebody without an address gets the identity's. */
  async function takeAddress(
    trx: Trx,
    user: UserRecord,
    { identity }: ExternalPerson,
    context: SignInContext,
    now: Date,
  ): Promise<'confirmed' | 'unconfirmed'> {
    const { primary: email, verified } = readAddresses(identity, autoconfirm)
    if (!email) {
      await updateUser(trx, user.id, { is_anonymous: false }, now)
      return 'confirmed'
    }
    const owners = await findAddressOwners(trx, [email], aud)
    if (owners.length > 0) throw emailExists(400)
    if (verified.includes(email)) {
      const change = { email, email_confirmed_at: now, is_anonymous: false }
      await updateUser(trx, user.id, change, now)
      await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
      return 'confirmed'
    }
    recipients.check(email)
    await sendLimits.claimInterval(trx, 'email', 'confirmation', email, now)
    await sendLimits.claimQuota(trx, 'email', now)
    await updateUser(trx, user.id, { email }, now)
    const links = { ...context.links, pkce: undefined }
    await letters.sendLink(trx, 'confirmation', { ...user, email }, links, now)
    return 'unconfirmed'
  }

  return {
    /**
     * Adds what a provider says to a person who is signed in. Throws identity_already_exists, email_exists, user_banned,
     * user_not_found, over_email_send_rate_limit.
     */
    async link(
      trx: Trx,
      userId: string,
      person: ExternalPerson,
      context: SignInContext,
      now: Date,
    ): Promise<SignInOutcome> {
      const { provider, identity: told } = person
      await lockIdentity(trx, provider, told.providerId)
      const user = await locked(trx, userId)
      if (user.banned_until && user.banned_until > now) throw userBanned(403)
      const existing = await findIdentity(trx, provider, told.providerId)
      if (existing) {
        const isOwn = existing.user_id === userId
        throw identityAlreadyExists(isOwn ? 'Identity is already linked' : linkedElsewhere)
      }
      const identity = await addIdentity(trx, userId, person, now)
      const state = user.email ? 'confirmed' : await takeAddress(trx, user, person, context, now)
      await recomputeProviders(trx, userId, now)
      await audit.record(trx, 'identity_linked', user, {
        ...{ ip: context.ip, now, traits: traitsOf(identity) },
      })
      if (state === 'unconfirmed') return { state: 'refused', error: needsConfirmation() }
      const linked = await locked(trx, userId)
      const letter = { kind: 'identity_linked_notification', Provider: provider } as const
      await letters.notify(trx, linked, letter, now)
      return { state: 'accepted', user: linked, action: 'identity_linked' }
    },

    /**
     * Takes one away. Throws single_identity_not_deletable, identity_not_found, email_conflict_identity_not_deletable.
     */
    async unlink(trx: Trx, { userId, identityId, ip }: Unlinking, now: Date): Promise<void> {
      const user = await locked(trx, userId)
      if (user.identities.length <= 1) throw singleIdentityNotDeletable()
      const identity = user.identities.find(({ id }) => id === identityId)
      if (!identity) throw identityNotFound()
      await deleteIdentity(trx, identity.id)
      const rest = user.identities.filter(({ id }) => id !== identityId)
      if (identity.provider === 'phone') {
        await updateUser(trx, userId, { phone: null, phone_confirmed_at: null }, now)
      } else if (!rest.some(({ email }) => (email ?? '') === (user.email ?? ''))) {
        await promote(trx, user, rest, now)
      }
      await recomputeProviders(trx, userId, now)
      await audit.record(trx, 'identity_unlinked', user, { ip, now, traits: traitsOf(identity) })
      const letter = {
        kind: 'identity_unlinked_notification',
        Provider: identity.provider,
      } as const
      await letters.notify(trx, user, letter, now)
    },
  }

  /** The address went with the identity: the best of the others becomes the account's. */
  async function promote(
    trx: Trx,
    user: UserRecord,
    rest: UserRecord['identities'],
    now: Date,
  ): Promise<void> {
    const chosen = await firstFree(trx, user, rest)
    if (!chosen) throw emailConflictIdentityNotDeletable()
    const isProven = chosen.email !== null && (chosen.verified || autoconfirm)
    const change: UserChange = {
      email: chosen.email,
      email_confirmed_at: isProven ? (user.email_confirmed_at ?? now) : null,
      ...{ email_change: '', email_change_confirm_status: 0 },
    }
    await updateUser(trx, user.id, change, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: isProven } }, now)
    await deleteTokens(trx, user.id)
  }

  async function firstFree(trx: Trx, user: UserRecord, rest: UserRecord['identities']) {
    for (const candidate of promotions(rest)) {
      if (candidate.email === null || user.is_sso_user) return candidate
      const owners = await findAddressOwners(trx, [candidate.email], aud)
      if (owners.every(({ id }) => id === user.id)) return candidate
    }
    return undefined
  }
}

const needsConfirmation = () =>
  emailNotConfirmed(
    'The address of this identity is unverified. Open the link we mailed to it.',
    422,
  )

async function locked(trx: Trx, userId: string): Promise<UserRecord> {
  await lockUser(trx, userId)
  const user = await findUser(trx, userId)
  if (!user || user.deleted_at) throw userNotFound()
  return user
}

async function identities(fastify: FastifyInstance) {
  const { config, audit, letters, recipients, sendLimits } = fastify
  const decorator = createIdentities({
    ...{ audit, letters, recipients, sendLimits },
    aud: config.AUTH_JWT_AUD,
    autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
  })
  fastify.decorate('identities', decorator)
}

export default fp(identities, {
  name: 'identities',
  fastify: '5.x',
  dependencies: ['config', 'audit', 'letters', 'recipients', 'send-limits'],
})

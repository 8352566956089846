/** Whether the account that was found may be entered: its address is confirmed, is proven now, or is asked for by mail. */
import type { FastifyInstance } from 'fastify'

import { findAddressOwners } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import {
  findUser,
  lockUser,
  mergeMetadata,
  type UserRecord,
  updateUser,
} from '../../../db/users.ts'
import {
  ApiError,
  inviteNotFound,
  providerEmailNeedsVerification,
  validationFailed,
} from '../../../errors.ts'
import type { Identity } from '../../oauth-providers.ts'
import type {
  Arrival,
  ArrivalAction,
  ExternalPerson,
  SignInContext,
  SignInOutcome,
} from '../external-sign-ins.ts'
import { type Addresses, readAddresses } from './addresses.ts'
import { purge } from './purge.ts'

interface AdmissionDeps {
  aud: string
  autoconfirm: boolean
  /** People with an unconfirmed address may come in. */
  allowsUnverified: boolean
  letters: FastifyInstance['letters']
  recipients: FastifyInstance['recipients']
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  sendLimits: FastifyInstance['sendLimits']
}

export interface Admission {
  person: ExternalPerson
  addresses: Addresses
  context: SignInContext
}

export function createAdmission(deps: AdmissionDeps) {
  const { aud, autoconfirm, allowsUnverified, letters, recipients } = deps
  const { oneTimeTokens, sendLimits } = deps

  async function claimMail(trx: Trx, address: string, now: Date) {
    recipients.check(address)
    await sendLimits.claimInterval(trx, 'email', 'confirmation', address, now)
    await sendLimits.claimQuota(trx, 'email', now)
  }

  async function askForProof(trx: Trx, user: UserRecord, { links }: SignInContext, now: Date) {
    await claimMail(trx, user.email ?? '', now)
    await letters.sendLink(trx, 'confirmation', user, { ...links, pkce: undefined }, now)
  }

  async function confirm(
    trx: Trx,
    { user }: Arrival,
    action: ArrivalAction,
    now: Date,
  ): Promise<SignInOutcome> {
    await updateUser(trx, user.id, { email_confirmed_at: now, is_anonymous: false }, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    await deleteTokens(trx, user.id)
    return { state: 'accepted', user: await reload(trx, user), action }
  }

  /** An address nobody proved gives way to one that the provider proved, unless that is somebody else's. */
  async function adoptAddress(
    trx: Trx,
    user: UserRecord,
    { primary: email, verified }: Addresses,
    now: Date,
  ): Promise<UserRecord> {
    if (!email || email === user.email || !verified.includes(email)) return user
    if (user.email && verified.includes(user.email)) return user
    const owners = user.is_sso_user ? [] : await findAddressOwners(trx, [email], aud)
    if (owners.length > 0) return user
    await updateUser(trx, user.id, { email }, now)
    return { ...user, email }
  }

  async function withoutProof(
    trx: Trx,
    { user }: Arrival,
    context: SignInContext,
    now: Date,
  ): Promise<SignInOutcome> {
    if (!allowsUnverified) {
      if (!user.email) throw providerEmailNeedsVerification()
      await askForProof(trx, user, context, now)
      return { state: 'refused', error: providerEmailNeedsVerification() }
    }
    if (user.email) await askForProof(trx, user, context, now).catch(ignoreTooSoon)
    return { state: 'accepted', user: await reload(trx, user), action: 'login' }
  }

  return {
    async admit(
      trx: Trx,
      found: Arrival,
      { person, addresses, context }: Admission,
      now: Date,
    ): Promise<SignInOutcome> {
      const { user, isNew } = found
      if (isSettled(user, person.emailOptional)) {
        return { state: 'accepted', user, action: isNew ? 'user_signedup' : 'login' }
      }
      if (!isNew) await purge(trx, user, found.identity, now)
      const addressed = await adoptAddress(trx, user, addresses, now)
      const arrived = { ...found, user: addressed }
      const { email } = addressed
      const isProven = email && (autoconfirm || addresses.verified.includes(email))
      if (!isProven) return withoutProof(trx, arrived, context, now)
      return confirm(trx, arrived, 'user_signedup', now)
    },

    /** The same answer and the same limits as for an address that nobody has; its owner gets no mail. */
    async refuseOwned(trx: Trx, address: string, now: Date): Promise<SignInOutcome> {
      await claimMail(trx, address, now)
      return { state: 'refused', error: providerEmailNeedsVerification() }
    },

    /** Spends the invitation and returns the person. Throws invite_not_found, validation_failed for another address. */
    async takeInvitation(trx: Trx, token: string, told: Identity, now: Date): Promise<UserRecord> {
      const invitation = await oneTimeTokens.takeLink(trx, ['confirmation_token'], token, now)
      if (!invitation) throw inviteNotFound()
      await lockUser(trx, invitation.user_id)
      const user = await findUser(trx, invitation.user_id)
      if (!user) throw inviteNotFound()
      const { primary, verified } = readAddresses(told, true)
      if (user.email && [primary, ...verified].includes(user.email)) return user
      throw validationFailed('The invitation was sent to another address than the provider tells')
    },

    async welcome(trx: Trx, arrived: Arrival, now: Date): Promise<SignInOutcome> {
      if (!arrived.user.email_confirmed_at) await purge(trx, arrived.user, arrived.identity, now)
      return confirm(trx, arrived, 'invite_accepted', now)
    },
  }
}

/** Nothing is left to prove: the address is confirmed, or there is none and none is needed. */
function isSettled(user: UserRecord, emailOptional: boolean): boolean {
  if (user.email_confirmed_at) return true
  return !user.email && (emailOptional || user.phone_confirmed_at !== null)
}

function ignoreTooSoon(error: unknown) {
  if (error instanceof ApiError && error.status === 429) return
  throw error
}

async function reload(trx: Trx, { id }: UserRecord): Promise<UserRecord> {
  const user = await findUser(trx, id)
  if (!user) throw new Error('a user vanished inside a transaction that holds its lock')
  return user
}

/** Whether the account that was found may be entered: its address is confirmed, is proven now, or is asked for by mail. */
import { findAddressOwners } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { deleteSessions } from '../../../db/sessions.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { findUser, type UserRecord, updateUser } from '../../../db/users.ts'
import { ApiError, providerEmailNeedsVerification } from '../../../errors.ts'
import type {
  Arrival,
  ArrivalAction,
  ExternalPerson,
  SignInContext,
  SignInOutcome,
} from '../external-sign-ins.ts'
import type { Addresses } from './addresses.ts'
import type { createConfirmationMail } from './confirmation-mail.ts'
import { purge } from './purge.ts'

interface AdmissionDeps {
  aud: string
  autoconfirm: boolean
  /** People with an unconfirmed address may come in. */
  allowsUnverified: boolean
  confirmationMail: ReturnType<typeof createConfirmationMail>
}

export interface Admission {
  person: ExternalPerson
  addresses: Addresses
  context: SignInContext
}

export function createAdmission(deps: AdmissionDeps) {
  const { aud, autoconfirm, allowsUnverified, confirmationMail } = deps

  /** The address of the account is proven: who was in before may be somebody else. */
  async function confirm(
    trx: Trx,
    { user }: Arrival,
    action: ArrivalAction,
    now: Date,
  ): Promise<SignInOutcome> {
    await updateUser(trx, user.id, { email_confirmed_at: now, is_anonymous: false }, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    await deleteTokens(trx, user.id)
    await deleteSessions(trx, user.id)
    return { state: 'accepted', user: await reload(trx, user), action }
  }

  async function withoutProof(
    trx: Trx,
    { user }: Arrival,
    { links }: SignInContext,
    now: Date,
  ): Promise<SignInOutcome> {
    if (!allowsUnverified) {
      if (!user.email) throw providerEmailNeedsVerification()
      await confirmationMail.send(trx, user, links, now)
      return { state: 'refused', error: providerEmailNeedsVerification() }
    }
    if (user.email) await confirmationMail.send(trx, user, links, now).catch(ignoreTooSoon)
    return { state: 'accepted', user: await reload(trx, user), action: 'login' }
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

  return {
    confirm,

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
      const arrived = { ...found, user: await adoptAddress(trx, user, addresses, now) }
      const { email } = arrived.user
      const isProven = email && (autoconfirm || addresses.verified.includes(email))
      if (!isProven) return withoutProof(trx, arrived, context, now)
      return confirm(trx, arrived, 'user_signedup', now)
    },

    /** The same answer and the same limits as for an address that nobody has; its owner gets no mail. */
    async refuseOwned(trx: Trx, address: string, now: Date): Promise<SignInOutcome> {
      await confirmationMail.claim(trx, address, now)
      return { state: 'refused', error: providerEmailNeedsVerification() }
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

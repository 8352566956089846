import { findAddressOwners } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import { deleteIdentity, type IdentityJson, recomputeProviders } from '../../../db/identities.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { type UserRecord, updateUser } from '../../../db/users.ts'
import {
  emailConflictIdentityNotDeletable,
  identityNotFound,
  singleIdentityNotDeletable,
} from '../../../errors.ts'
import { traitsOf } from '../external-sign-ins/identity.ts'
import type { IdentityDeps } from '../identities.ts'
import { lockedPerson } from './locked-person.ts'
import { type Promotion, promotions } from './promotions.ts'

export interface Unlinking {
  userId: string
  identityId: string
  ip: string
}

export function createUnlinking({ aud, autoconfirm, audit, letters }: IdentityDeps) {
  async function firstFree(
    trx: Trx,
    user: UserRecord,
    rest: readonly IdentityJson[],
  ): Promise<Promotion | undefined> {
    for (const candidate of promotions(rest)) {
      if (candidate.email === null || user.is_sso_user) return candidate
      const owners = await findAddressOwners(trx, [candidate.email], aud)
      if (owners.every(({ id }) => id === user.id)) return candidate
    }
    return undefined
  }

  /** The address went with the identity: the best of the others becomes the account's. */
  async function promote(trx: Trx, user: UserRecord, rest: readonly IdentityJson[], now: Date) {
    const chosen = await firstFree(trx, user, rest)
    if (!chosen) throw emailConflictIdentityNotDeletable()
    const isProven = chosen.email !== null && (chosen.verified || autoconfirm)
    const change = {
      email: chosen.email,
      email_confirmed_at: isProven ? (user.email_confirmed_at ?? now) : null,
      ...{ email_change: '', email_change_confirm_status: 0 },
    }
    await updateUser(trx, user.id, change, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: isProven } }, now)
    await deleteTokens(trx, user.id)
  }

  /** Throws single_identity_not_deletable, identity_not_found, email_conflict_identity_not_deletable. */
  return async function unlink(
    trx: Trx,
    { userId, identityId, ip }: Unlinking,
    now: Date,
  ): Promise<void> {
    const user = await lockedPerson(trx, userId)
    if (user.identities.length <= 1) throw singleIdentityNotDeletable()
    const identity = user.identities.find(({ id }) => id === identityId)
    if (!identity) throw identityNotFound()
    await deleteIdentity(trx, identity.id)
    const rest = user.identities.filter(({ id }) => id !== identityId)
    const { provider } = identity
    if (provider === 'phone') {
      await updateUser(trx, userId, { phone: null, phone_confirmed_at: null }, now)
    } else if (!rest.some(({ email }) => (email ?? '') === (user.email ?? ''))) {
      await promote(trx, user, rest, now)
    }
    await recomputeProviders(trx, userId, now)
    await audit.record(trx, 'identity_unlinked', user, { ip, now, traits: traitsOf(identity) })
    // To the address that was the account's until now: it is the one an intruder cannot have chosen.
    const letter = { kind: 'identity_unlinked_notification', Provider: provider } as const
    await letters.notify(trx, user, letter, now)
  }
}

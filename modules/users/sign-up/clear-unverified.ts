/** The only function that clears credentials set before the identifier was verified. */
import type { Trx } from '../../../db/core/database.ts'
import { deleteFactors } from '../../../db/factors/factors.ts'
import {
  deleteOtherIdentities,
  deleteOtherIdentitiesOfProvider,
} from '../../../db/identities/identities.ts'
import { revokeConsents } from '../../../db/oauth-server/consents.ts'
import { deletePasskeys } from '../../../db/passkeys/credentials.ts'
import { deleteKnownDevices } from '../../../db/sessions/known-devices.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { consumeAutoconfirmed } from '../../../db/users/autoconfirmed-addresses.ts'
import { replaceUserMetadata } from '../../../db/users/merge-user.ts'
import { recomputeProviders } from '../../../db/users/providers.ts'
import { updateUser, withoutPendingChanges } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { revokeAllSessions } from '../../sessions/index.ts'
import { leaveUnverifiedOrganizations } from './leave-organizations.ts'

/** Credentials that belong to the verification and are kept. */
interface RetainedCredentials {
  /** One identity, or those of one provider. */
  keepIdentity: { id: string } | { provider: 'email' | 'phone' }
  /** Replaces the password; null for a verification without one. */
  passwordHash: string | null
  /** Replaces user_metadata; kept when absent. */
  metadata?: UserMetadata
  /** Keeps earlier sessions; verifyEmail revokes them once the email is verified. */
  keepSessions?: boolean
}

/**
 * After the verification of an autoconfirmed identifier: clears earlier credentials and the account's other identifier,
 * which another user may have set. Returns false and does nothing for every other identifier.
 */
export async function clearAutoconfirmed(
  deps: Deps<'sessions'>,
  trx: Trx,
  user: UserRecord,
  address: string,
  retained: RetainedCredentials,
  now: Date,
): Promise<boolean> {
  if (!(await consumeAutoconfirmed(trx, user.id, address))) return false
  const other =
    address === user.email
      ? { phone: null, phone_confirmed_at: null }
      : { email: null, email_confirmed_at: null }
  await updateUser(trx, user.id, other, now)
  await clearUnverifiedCredentials(
    deps,
    trx,
    { ...user, ...other, phone_confirmed_at: null },
    retained,
    now,
  )
  return true
}

/**
 * A password, passkey, factor, identity, session, consent, membership or pending change from before the verification
 * may be another user's. A confirmed phone was verified and is kept, with its password, passkeys, factors, consents and
 * memberships. An unconfirmed one is an admin's, and is kept with its identity.
 */
export async function clearUnverifiedCredentials(
  { sessions }: Deps<'sessions'>,
  trx: Trx,
  user: UserRecord,
  { keepIdentity, passwordHash, metadata, keepSessions }: RetainedCredentials,
  now: Date,
): Promise<void> {
  const keepsPhone = user.phone_confirmed_at !== null
  const password = keepsPhone ? {} : { encrypted_password: passwordHash }
  await updateUser(trx, user.id, { ...password, ...withoutPendingChanges }, now)
  if (!keepsPhone) {
    await deleteFactors(trx, user.id)
    await deletePasskeys(trx, user.id)
    await revokeConsents(trx, user.id, now)
    await leaveUnverifiedOrganizations(sessions, trx, user, now)
  }
  if (metadata) await replaceUserMetadata(trx, user.id, metadata, now)
  const phone = user.phone ? ['phone'] : []
  if ('id' in keepIdentity) {
    await deleteOtherIdentitiesOfProvider(trx, { id: keepIdentity.id, user_id: user.id }, phone)
  } else {
    await deleteOtherIdentities(trx, user.id, [keepIdentity.provider, ...phone])
  }
  await recomputeProviders(trx, user.id, now)
  if (!keepSessions) {
    await revokeAllSessions(sessions, trx, user.id, { keepsUnopened: true }, now)
    await deleteKnownDevices(trx, user.id)
  }
}

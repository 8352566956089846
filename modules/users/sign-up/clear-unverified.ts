/** Applies a sign-up to an account, or returns the account as if it were applied. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { deleteFactors } from '../../../db/factors/factors.ts'
import {
  deleteOtherIdentities,
  deleteOtherIdentitiesOfProvider,
  type NewIdentity,
  upsertIdentity,
} from '../../../db/identities/identities.ts'
import { revokeConsents } from '../../../db/oauth-server/consents.ts'
import { insertOrganizationAuditEntry } from '../../../db/organizations/audit.ts'
import { deleteInvitationsBy } from '../../../db/organizations/invitations.ts'
import { deleteObtainedMemberships } from '../../../db/organizations/members.ts'
import { deletePasskeys } from '../../../db/passkeys/credentials.ts'
import { deleteKnownDevices } from '../../../db/sessions/devices.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { clearUnverifiedUsername } from '../../../db/usernames/usernames.ts'
import { consumeAutoconfirmed } from '../../../db/users/autoconfirmed-addresses.ts'
import { replaceUserMetadata } from '../../../db/users/merge-user.ts'
import type { PendingSignUpData, StoredData } from '../../../db/users/pending-sign-ups.ts'
import {
  recomputeProviders,
  updateUser,
  withoutPendingChanges,
} from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { memberTraits, recordAudit } from '../../audit/index.ts'
import { revokeAllSessions } from '../../sessions/index.ts'
import type { SignUpInput } from './types.ts'
import { isMadeByAdmin, type LoginIdentifier, toNewIdentity, toUserMetadata } from './user-data.ts'

/** The values of a sign-up. */
interface PendingSignUpDraft {
  contact: LoginIdentifier
  metadata: UserMetadata
  identity: NewIdentity
}

export function createPendingDraft(user: UserRecord, input: SignUpInput): PendingSignUpDraft {
  const { contact } = input
  const metadata = metadataFor(user, input)
  return { contact, metadata, identity: identityRow(user, contact, metadata) }
}

/** The metadata of the sign-up; an admin's metadata are kept, those of an earlier sign-up are not. */
function metadataFor(user: UserRecord, { contact, data, byAdmin }: SignUpInput): UserMetadata {
  if (!byAdmin) return toUserMetadata(user.id, contact, data)
  return isMadeByAdmin(user) ? (user.raw_user_meta_data ?? {}) : data
}

function identityRow(
  { id }: UserRecord,
  contact: LoginIdentifier,
  metadata: UserMetadata,
): NewIdentity {
  return { ...toNewIdentity(id, contact, metadata), user_id: id }
}

/** Replaces password and metadata with those of the sign-up and clears the rest. */
export async function replaceAccountData(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  contact: LoginIdentifier,
  { passwordHash, metadata }: PendingSignUpData,
  now: Date,
): Promise<void> {
  const { provider } = contact
  await upsertIdentity(trx, identityRow(user, contact, metadata), now)
  await clearUnverifiedCredentials(
    app,
    trx,
    user,
    { keepIdentity: { provider }, passwordHash, metadata },
    now,
  )
}

/** The account as this sign-up alone would have created it, for the response. */
export function withPendingSignUp(
  user: UserRecord,
  { contact: { provider, address }, identity }: PendingSignUpDraft,
  stored: StoredData & { id?: string },
  now: Date,
): UserRecord {
  const time = now.toISOString()
  const own = user.identities.find((identity) => identity.provider === provider) ?? {
    id: stored.id ?? crypto.randomUUID(),
    last_sign_in_at: time,
    created_at: time,
    updated_at: time,
  }
  const shown = {
    ...own,
    ...identity,
    identity_data: stored.identityData,
    email: provider === 'email' ? address : null,
  }
  return { ...user, raw_user_meta_data: stored.metadata, identities: [shown] }
}

// The only function that clears credentials set before the identifier was verified.

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
  app: FastifyInstance,
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
    app,
    trx,
    { ...user, ...other, phone_confirmed_at: null },
    retained,
    now,
  )
  return true
}

/**
 * A password, username, passkey, factor, identity, session, consent, membership or pending change from before the verification
 * may be another user's. A confirmed phone was verified and is kept, with its password, passkeys, factors, consents and
 * memberships. An unconfirmed one is an admin's, and is kept with its identity.
 */
export async function clearUnverifiedCredentials(
  app: FastifyInstance,
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
    await clearUnverifiedUsername(trx, user.id, now)
    await revokeConsents(trx, user.id, null, now)
    await leaveUnverifiedOrganizations(app, trx, user, now)
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
    await revokeAllSessions(app, trx, user.id, { keepsUnopened: true }, now)
    await deleteKnownDevices(trx, user.id)
  }
}

// Removes a user from the organizations that an account joined before its address was verified.

const action = 'organization_member_removed'

/**
 * Another user may have created them, and be in them with another account. Memberships by an admin, a connection or a
 * SCIM client stay. An organization without another owner has none until an admin of the server names one. Invitations
 * that the account sent are deleted.
 */
async function leaveUnverifiedOrganizations(
  { audit }: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  now: Date,
): Promise<void> {
  for (const member of await deleteObtainedMemberships(trx, user.id)) {
    const traits = memberTraits(member)
    await recordAudit(audit, trx, action, user, { ip: '', now, traits })
    const { organization_id, ...rest } = traits
    await insertOrganizationAuditEntry(trx, {
      organization_id,
      action,
      traits: rest,
      ip_address: '',
      created_at: now,
      actor_id: user.id,
      actor_name: user.email || user.phone || '',
      acting: audit.events.describeActor(user.id),
    })
  }
  await deleteInvitationsBy(trx, user.id)
}

/** Provisioned users: creating, changing and deleting them. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { leaveGroups } from '../../db/scim/groups.ts'
import {
  findDeletedScimUser,
  findScimUser,
  insertScimUser,
  isUserNameTaken,
  lockAndFindScimUser,
  lockScimAccount,
  lockScimUser,
  type ResourceKey,
  type ScimUserRow,
  setOwnsAccount,
  updateScimUser,
} from '../../db/scim/users.ts'
import type { StoredScimResource } from '../../db/tables/scim.ts'
import { lockUser } from '../../db/users/update-user.ts'
import { findUser } from '../../db/users/users.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { endLoginsOfUser } from '../saml/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import {
  deactivateAccount,
  deleteUnusedAccount,
  followEmail,
  reactivateAccount,
  recordStateChange,
  undoEarlierDeactivation,
  unlinkAccount,
} from './account-state.ts'
import { rejectIfTaken, uniqueness } from './accounts.ts'
import { toAccountClaims } from './claims.ts'
import { followIdentity } from './follow-identity.ts'
import { linkOrCreateAccount } from './link-account.ts'
import { joinOrganization, leaveOrganization, type ProvisioningRequest } from './membership.ts'
import { checkVersion } from './response.ts'
import { canonicalJson } from './values.ts'

/** A resource, and the version that the client expects. */
export interface ResourceRequest {
  id: string
  ifMatch: string | undefined
}

const userNameTaken = 'Another user of this connection has this userName'

/**
 * Creates the user; a deleted user with the same userName is restored with its id. Throws uniqueness, also for a
 * repeated request.
 */
export async function createScimUser(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  { resource, permit }: { resource: StoredScimResource; permit: CreationPermit },
): Promise<ScimUserRow> {
  const { connection, now } = request
  const connectionId = connection.sso_provider_id
  const claims = toAccountClaims(resource)
  if (await isUserNameTaken(trx, connectionId, claims.userName)) throw uniqueness(userNameTaken)
  const deleted = await lockDeleted(trx, connectionId, claims.userName)
  const account = await linkOrCreateAccount(app, trx, request, { claims, permit, deleted })
  const { userId, isNew } = account
  const key = { connectionId, id: deleted?.id ?? crypto.randomUUID() }
  const revival = { resource, userId, deletedAt: null }
  await rejectIfTaken<unknown>(userNameTaken, () =>
    deleted ? updateScimUser(trx, key, revival, now) : insertScimUser(trx, key, revival, now),
  )
  await setOwnsAccount(trx, key.id, isNew)
  const user = await findUser(trx, userId)
  if (user) await joinOrganization(app, trx, user, request)
  await recordStateChange(app, trx, 'user_provisioned', userId, request)
  const created = await requireScimUser(trx, key)
  if (created.active) await undoEarlierDeactivation(app, trx, userId, request)
  else await deactivateAccount(app, trx, userId, request)
  return created
}

/** The deleted user of this name, locked with the account. */
async function lockDeleted(trx: Trx, connectionId: string, userName: string) {
  const found = await findDeletedScimUser(trx, connectionId, userName)
  if (!found) return undefined
  if (found.user_id) await lockUser(trx, found.user_id)
  const locked = await lockAndFindScimUser(trx, { connectionId, id: found.id })
  // Another request restored it.
  if (!locked?.deleted_at) throw uniqueness(userNameTaken)
  return { ...locked, owns_account: found.owns_account }
}

/**
 * Replaces the resource by the result of `change`. A repeated request changes nothing, not even the version. Throws
 * uniqueness and the errors of `change`.
 */
export async function changeScimUser(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  { id, ifMatch }: ResourceRequest,
  change: (resource: StoredScimResource) => StoredScimResource,
): Promise<ScimUserRow> {
  const { connection, now } = request
  const key = { connectionId: connection.sso_provider_id, id }
  const before = await lockWithAccount(trx, key)
  checkVersion(before, ifMatch)
  const resource = change(before.resource)
  if (canonicalJson(resource) === canonicalJson(before.resource)) return before
  const changed = await rejectIfTaken(userNameTaken, () =>
    updateScimUser(trx, key, { resource }, now),
  )
  const after = { ...before, ...changed }
  await followChanges(app, trx, { before, after }, request)
  return after
}

async function followChanges(
  app: FastifyInstance,
  trx: Trx,
  { before, after }: { before: ScimUserRow; after: ScimUserRow },
  request: ProvisioningRequest,
): Promise<void> {
  const { user_id: userId } = after
  if (!userId) return
  if (before.active && !after.active) await deactivateAccount(app, trx, userId, request)
  if (!before.active && after.active) await reactivateAccount(app, trx, userId, request)
  const [earlier, claims] = [toAccountClaims(before.resource), toAccountClaims(after.resource)]
  await followIdentity(app, trx, userId, { before: earlier, after: claims }, request)
  if (!after.owns_account || earlier.email === claims.email) return
  const user = await findUser(trx, userId)
  if (user) await followEmail(app, trx, user, claims, request)
}

/**
 * Deletes the user, the membership and the sessions of the provider. The account is kept if anything else uses it.
 */
export async function deleteScimUser(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  { id, ifMatch }: ResourceRequest,
): Promise<void> {
  const { connection, now } = request
  const connectionId = connection.sso_provider_id
  const key = { connectionId, id }
  const before = await lockWithAccount(trx, key)
  checkVersion(before, ifMatch)
  await updateScimUser(trx, key, { deletedAt: now }, now)
  await leaveGroups(trx, id)
  const { user_id: userId, owns_account: owns } = before
  if (!userId) return
  await recordStateChange(app, trx, 'user_deprovisioned', userId, request)
  await leaveOrganization(app, trx, userId, request)
  await endLoginsOfUser(app, trx, { sso_provider_id: connectionId, user_id: userId }, now)
  if (owns) await deleteUnusedAccount(app, trx, userId, request)
  else await unlinkAccount(trx, userId, request)
}

/** Locks are taken in one order: the account, then the provisioned user. Throws 404. */
async function lockWithAccount(trx: Trx, key: ResourceKey): Promise<ScimUserRow> {
  await lockScimAccount(trx, key)
  await lockScimUser(trx, key)
  return requireScimUser(trx, key)
}

/** Throws 404, the same for a user of another connection. */
export async function requireScimUser(db: Db, key: ResourceKey): Promise<ScimUserRow> {
  const found = await findScimUser(db, key)
  if (!found) throw scimRejected(404, undefined, `There is no user ${key.id}`)
  return found
}

/** The account of a provisioned user: an existing one is linked, otherwise one is created. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { findIdentity, insertIdentity, upsertIdentity } from '../../db/identities/identities.ts'
import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import { findProvisioner } from '../../db/scim/users.ts'
import { findIdentifierOwners } from '../../db/users/identifier-owners.ts'
import { lockUser, recomputeProviders } from '../../db/users/update-user.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import { findConfirmedAddress, hasServerRole, recordAccess } from '../access/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import {
  createAccount,
  hasVerifiedEmailDomain,
  isAccountOfTenant,
  nameIdTaken,
  rejectIfTaken,
  uniqueness,
} from './accounts.ts'
import { type AccountClaims, toProviderName, toScimIdentities } from './claims.ts'
import { type ProvisioningRequest, scimClientInfo } from './membership.ts'

/** A deleted user of this name. */
interface DeletedScimUser {
  user_id: string | null
  /** The account was created for the user. */
  owns_account: boolean
}

/**
 * Returns the account, locked. The account that the deleted user had is used again when it was made for them.
 * Otherwise an existing one is linked that signed in at the provider of the connection under this name, or whose
 * confirmed address is inside a verified domain. Throws uniqueness.
 */
export async function linkOrCreateAccount(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  {
    claims,
    permit,
    deleted,
  }: { claims: AccountClaims; permit: CreationPermit; deleted: DeletedScimUser | undefined },
): Promise<{ userId: string; isNew: boolean }> {
  const { connection, now } = request
  const former = await findFormerAccount(app, trx, connection, claims, deleted)
  if (former) return { userId: former, isNew: true }
  const found = await findLinkable(app, trx, connection, claims)
  if (found) await lockUser(trx, found)
  // The user may have changed while this waited for the lock.
  const linked = found && (await findLinkable(app, trx, connection, claims))
  if (!linked || linked !== found) {
    await rejectTakenName(trx, connection, claims)
    const userId = await createAccount(app, trx, connection, { claims, permit }, now)
    return { userId, isNew: true }
  }
  const provisioner = await findProvisioner(trx, linked)
  if (provisioner) throw alreadyProvisioned(connection, provisioner)
  await addIdentity(app, trx, request, claims, linked)
  return { userId: linked, isNew: false }
}

/**
 * The account that was made for a deleted user, unless another user has it now, its address is one of another holder,
 * or it has a role on the server. One that was linked must be linked again.
 */
export async function findFormerAccount(
  app: FastifyInstance,
  trx: Trx,
  connection: ScimConnectionRow,
  { email }: AccountClaims,
  deleted: DeletedScimUser | undefined,
): Promise<string | undefined> {
  if (!deleted?.user_id || !deleted.owns_account) return undefined
  const user = await findUser(trx, deleted.user_id)
  if (!user || (await findProvisioner(trx, user.id))) return undefined
  if (await isAccountOfTenant(app, trx, connection, user)) return user.id
  // The holder of an outside address is asked whether to join again.
  if (user.email !== email || (await hasServerRole(app, trx, user.id))) return undefined
  return user.id
}

/** The existing account that a new user is linked to. */
export async function findLinkable(
  app: FastifyInstance,
  trx: Trx,
  connection: ScimConnectionRow,
  claims: AccountClaims,
): Promise<string | undefined> {
  const { userName, email } = claims
  const provider = toProviderName(connection)
  const identity = connection.has_saml ? await findIdentity(trx, provider, userName) : undefined
  if (identity) {
    const user = await findUser(trx, identity.user_id)
    return user && (await isLinkable(app, trx, connection, claims, user)) ? user.id : undefined
  }
  if (!email) return undefined
  for (const { id } of await findIdentifierOwners(trx, [email], app.config.AUTH_JWT_AUD)) {
    const user = await findUser(trx, id)
    if (user && (await isLinkable(app, trx, connection, claims, user))) return user.id
  }
  return undefined
}

/**
 * An account of the provider, or one whose user confirmed the address, which is inside a verified domain. An address
 * that was confirmed without verification is not confirmed.
 */
async function isLinkable(
  app: FastifyInstance,
  db: Db,
  connection: ScimConnectionRow,
  { email }: AccountClaims,
  user: UserRecord,
): Promise<boolean> {
  if (await hasServerRole(app, db, user.id)) return false
  if (user.is_sso_user) return true
  if (email === null || (await findConfirmedAddress(db, user)) !== email) return false
  return hasVerifiedEmailDomain(db, connection, email)
}

/** Throws uniqueness when an account that cannot be linked signs in at the provider with the name. */
async function rejectTakenName(
  trx: Trx,
  connection: ScimConnectionRow,
  { userName }: AccountClaims,
): Promise<void> {
  if (!connection.has_saml) return
  if (await findIdentity(trx, toProviderName(connection), userName)) throw uniqueness(nameIdTaken)
}

/** Another user of any connection has the account. */
function alreadyProvisioned({ sso_provider_id }: ScimConnectionRow, provisioner: string) {
  return uniqueness(
    provisioner === sso_provider_id
      ? 'The account of this user is provisioned under another userName of this connection'
      : 'The account of this user is provisioned by another connection',
  )
}

/** A sign-in at the provider signs in to the linked account, not to another one with its address. */
async function addIdentity(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  claims: AccountClaims,
  userId: string,
): Promise<void> {
  const { connection, now } = request
  const user = await findUser(trx, userId)
  const [made] = toScimIdentities(connection, claims, userId, true)
  if (!user || !connection.has_saml || !made) return
  const row = { ...made, user_id: userId }
  if (await findIdentity(trx, row.provider, row.provider_id)) {
    await upsertIdentity(trx, row, now)
  } else {
    const identity = await rejectIfTaken(nameIdTaken, () => insertIdentity(trx, row, now))
    await recordLink(app, trx, request, user, identity)
  }
  await recomputeProviders(trx, userId, now)
}

/** Tells the user that the provider opens their account now, or by another name. */
export async function recordLink(
  app: FastifyInstance,
  trx: Trx,
  request: ProvisioningRequest,
  user: UserRecord,
  identity: { id: string; provider: string; provider_id: string },
): Promise<void> {
  const { actor, ip } = scimClientInfo(request)
  const grant = { kind: 'identity', identity, ip } as const
  await recordAccess(app, trx, { user, grant, actor }, request.now)
}

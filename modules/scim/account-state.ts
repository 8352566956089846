/** Deactivation, reactivation and deletion of accounts. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { undoOnError } from '../../db/core/savepoint.ts'
import { deleteAuthorizations } from '../../db/oauth-server/sessions.ts'
import { deleteProviderIdentity, hasOtherAccess } from '../../db/scim/access.ts'
import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import { deleteDeactivation, upsertDeactivation } from '../../db/scim/deactivation.ts'
import { insertAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { findIdentifierOwners } from '../../db/users/identifier-owners.ts'
import { recomputeProviders } from '../../db/users/update-user.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import { ApiError } from '../../schemas/errors.ts'
import { hasServerRole } from '../access/index.ts'
import { recordAudit } from '../audit/index.ts'
import { endLoginsOfUser } from '../saml/index.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { deleteUserAsAdmin, verifyEmail } from '../users/index.ts'
import { hasVerifiedEmailDomain, isAccountOfTenant } from './accounts.ts'
import { type AccountClaims, toProviderName } from './claims.ts'
import {
  joinOrganization,
  type ProvisioningRequest,
  scimClientInfo,
  setMembershipActive,
} from './membership.ts'

/**
 * Sessions, flows, codes and grants of OAuth clients are revoked in the transaction that stores the state. For a user
 * with an address outside of the verified domains, or a role on the server, only what the organization controls is revoked: the membership, and
 * sign-ins at its provider.
 */
export async function deactivateAccount(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  const { connection, now } = request
  const user = await findUser(trx, userId)
  if (!user || (await isAccountOfTenant(app, trx, connection, user))) {
    await upsertDeactivation(
      trx,
      { user_id: userId, connection_id: connection.sso_provider_id },
      now,
    )
    await revokeAllSessions(app, trx, userId, {}, now)
    await deleteAuthorizations(trx, { user_id: userId })
  } else {
    const { sso_provider_id } = connection
    await endLoginsOfUser(app, trx, { sso_provider_id, user_id: userId }, now)
  }
  await setMembershipActive(app, trx, userId, false, request)
  await recordStateChange(app, trx, 'user_deactivated', userId, request)
}

/** Also reverts the deactivation by another connection, if this one may deactivate the account. */
export async function reactivateAccount(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  await liftDeactivation(app, trx, userId, request)
  await setMembershipActive(app, trx, userId, true, request)
  await recordStateChange(app, trx, 'user_reactivated', userId, request)
}

/** For a user who is provisioned again: the account may have been deactivated before. */
export async function undoEarlierDeactivation(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  if (!(await liftDeactivation(app, trx, userId, request))) return
  await setMembershipActive(app, trx, userId, true, request)
  await recordStateChange(app, trx, 'user_reactivated', userId, request)
}

async function liftDeactivation(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  { connection }: ProvisioningRequest,
): Promise<boolean> {
  const user = await findUser(trx, userId)
  const isControlled = user && (await isAccountOfTenant(app, trx, connection, user))
  return deleteDeactivation(trx, userId, isControlled ? undefined : connection.sso_provider_id)
}

/** Deletes an account that was created for the user and that nothing else uses. The account must be locked. */
export async function deleteUnusedAccount(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  { connection, now }: ProvisioningRequest,
): Promise<void> {
  const user = await findUser(trx, userId)
  if (!user || !(await isOfConnection(app, trx, connection, user))) return
  if (await hasOtherAccess(trx, userId, toProviderName(connection))) return
  const how = { soft: false, namesConstraint: false }
  try {
    await undoOnError(trx, () => deleteUserAsAdmin(app, trx, userId, how, now))
  } catch (error) {
    // A user that rows of the operator reference is kept.
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    await revokeAllSessions(app, trx, userId, {}, now)
  }
}

/** A linked account keeps its own sign-in methods. */
export async function unlinkAccount(
  trx: Trx,
  userId: string,
  { connection, now }: ProvisioningRequest,
): Promise<void> {
  if (!connection.has_saml) return
  await deleteProviderIdentity(trx, userId, toProviderName(connection))
  await recomputeProviders(trx, userId, now)
}

/**
 * Follows a changed address of an account that was created for the user, where the domain of the address is verified
 * for the connection.
 */
export async function followEmail(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { email }: AccountClaims,
  request: ProvisioningRequest,
): Promise<void> {
  const { connection, now } = request
  if (!email || email === user.email) return
  if (!(await isOfConnection(app, trx, connection, user))) return
  if (!user.is_sso_user) {
    if (!(await hasVerifiedEmailDomain(trx, connection, email))) return
    const owners = await findIdentifierOwners(trx, [email], app.config.AUTH_JWT_AUD)
    if (owners.length > 0) return
  }
  const proof = { columns: { email }, clearTokens: true }
  const changed = await verifyEmail(app, trx, user.id, proof, now)
  if (!user.is_sso_user) await insertAutoconfirmed(trx, user.id, email, now, 'scim')
  await joinOrganization(app, trx, changed, request)
}

/**
 * False for an account whose user confirmed an address outside of the verified domains or a number, removed the address,
 * or has a server role.
 */
async function isOfConnection(
  app: FastifyInstance,
  trx: Trx,
  connection: ScimConnectionRow,
  user: UserRecord,
): Promise<boolean> {
  if (await isAccountOfTenant(app, trx, connection, user)) return true
  const { id, email, email_confirmed_at, phone_confirmed_at } = user
  const hasHolder = !email || email_confirmed_at !== null || phone_confirmed_at !== null
  return !hasHolder && !(await hasServerRole(app, trx, id))
}

export async function recordStateChange(
  { audit }: FastifyInstance,
  trx: Trx,
  action: 'user_provisioned' | 'user_deprovisioned' | 'user_deactivated' | 'user_reactivated',
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  const { actor, ip } = scimClientInfo(request)
  const user = await findUser(trx, userId)
  const traits = {
    user_id: userId,
    user_email: user?.email ?? '',
    connection_id: request.connection.sso_provider_id,
  }
  await recordAudit(audit, trx, action, actor, { ip, now: request.now, traits })
}

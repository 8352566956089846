/** Deactivation, reactivation and deletion of accounts. */
import type { Trx } from '../../db/core/database.ts'
import { undoOnError } from '../../db/core/savepoint.ts'
import { deleteAuthorizations } from '../../db/oauth-server/sessions.ts'
import { deleteProviderIdentity, hasOtherAccess } from '../../db/scim/access.ts'
import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import { deleteDeactivation, upsertDeactivation } from '../../db/scim/deactivation.ts'
import { findIdentifierOwners } from '../../db/users/identifier-owners.ts'
import { recomputeProviders } from '../../db/users/providers.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { ApiError } from '../../schemas/errors.ts'
import { recordAudit } from '../audit/index.ts'
import { endLoginsOfUser } from '../saml/index.ts'
import { revokeAllSessions } from '../sessions/index.ts'
import { deleteUserAsAdmin, verifyEmail } from '../users/index.ts'
import { hasVerifiedEmailDomain } from './accounts.ts'
import { type AccountClaims, toProviderName } from './claims.ts'
import { type ProvisioningRequest, scimClientInfo, setMembershipActive } from './membership.ts'

type StateDeps = Deps<'audit' | 'config' | 'events' | 'sessions' | 'users'>

/**
 * Sessions, flows, codes and grants of OAuth clients are revoked in the transaction that stores the state. For a user
 * with an address outside of the verified domains, only what the organization controls is revoked: the membership, and
 * sign-ins at its provider.
 */
export async function deactivateAccount(
  deps: StateDeps,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  const { connection, now } = request
  const user = await findUser(trx, userId)
  if (!user || (await isDeactivatable(trx, connection, user))) {
    await upsertDeactivation(
      trx,
      { user_id: userId, connection_id: connection.sso_provider_id },
      now,
    )
    await revokeAllSessions(deps.sessions, trx, userId, {}, now)
    await deleteAuthorizations(trx, { user_id: userId })
  } else {
    const { sso_provider_id } = connection
    await endLoginsOfUser(deps, trx, { sso_provider_id, user_id: userId }, now)
  }
  await setMembershipActive(deps, trx, userId, false, request)
  await recordStateChange(deps, trx, 'user_deactivated', userId, request)
}

/** Also reverts the deactivation by another connection, if this one may deactivate the account. */
export async function reactivateAccount(
  deps: StateDeps,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  await liftDeactivation(trx, userId, request)
  await setMembershipActive(deps, trx, userId, true, request)
  await recordStateChange(deps, trx, 'user_reactivated', userId, request)
}

/** For a user who is provisioned again: the account may have been deactivated before. */
export async function undoEarlierDeactivation(
  deps: StateDeps,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  if (!(await liftDeactivation(trx, userId, request))) return
  await setMembershipActive(deps, trx, userId, true, request)
  await recordStateChange(deps, trx, 'user_reactivated', userId, request)
}

async function liftDeactivation(
  trx: Trx,
  userId: string,
  { connection }: ProvisioningRequest,
): Promise<boolean> {
  const user = await findUser(trx, userId)
  const isControlled = user && (await isDeactivatable(trx, connection, user))
  return deleteDeactivation(trx, userId, isControlled ? undefined : connection.sso_provider_id)
}

/** Deletes an account that was created for the user and that nothing else uses. The account must be locked. */
export async function deleteUnusedAccount(
  deps: StateDeps,
  trx: Trx,
  userId: string,
  { connection, now }: ProvisioningRequest,
): Promise<void> {
  const user = await findUser(trx, userId)
  if (!user || !(await isOfConnection(trx, connection, user))) return
  if (await hasOtherAccess(trx, userId, toProviderName(connection))) return
  const how = { soft: false, namesConstraint: false }
  try {
    await undoOnError(trx, () => deleteUserAsAdmin(deps.users, trx, userId, how, now))
  } catch (error) {
    // The last owner of the server is kept, and so is a user that rows of the operator reference.
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    await revokeAllSessions(deps.sessions, trx, userId, {}, now)
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
  deps: StateDeps,
  trx: Trx,
  user: UserRecord,
  { email }: AccountClaims,
  { connection, now }: ProvisioningRequest,
): Promise<void> {
  if (!email || email === user.email) return
  if (!(await isOfConnection(trx, connection, user))) return
  if (!user.is_sso_user) {
    if (!(await hasVerifiedEmailDomain(trx, connection, email))) return
    const owners = await findIdentifierOwners(trx, [email], deps.config.AUTH_JWT_AUD)
    if (owners.length > 0) return
  }
  await verifyEmail(deps.users, trx, user.id, { columns: { email }, voidsTokens: true }, now)
}

/** False for an account whose user confirmed an address outside of the verified domains. */
async function isOfConnection(
  trx: Trx,
  connection: ScimConnectionRow,
  user: UserRecord,
): Promise<boolean> {
  return !user.email_confirmed_at || isDeactivatable(trx, connection, user)
}

/**
 * False for an account with an address outside of the verified domains, also before it is confirmed: a deactivation
 * would reject the owner of the address, who may confirm it later.
 */
async function isDeactivatable(
  trx: Trx,
  connection: ScimConnectionRow,
  { is_sso_user, email }: UserRecord,
): Promise<boolean> {
  return is_sso_user || !email || hasVerifiedEmailDomain(trx, connection, email)
}

export async function recordStateChange(
  { audit }: Deps<'audit'>,
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

/** The operator's hook for a provisioned user who will join the organization. */
import type { Trx } from '../../db/core/database.ts'
import { findMember } from '../../db/organizations/members.ts'
import { findDeletedScimUser } from '../../db/scim/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { joinHookPayload, permitJoin } from '../organizations/index.ts'
import { findFormerAccount, findLinkable, hasVerifiedEmailDomain } from './accounts.ts'
import type { AccountClaims } from './claims.ts'
import { findJoined, type ProvisioningRequest } from './membership.ts'

/** Called before the transaction. The hook is not called for a user who is a member already. Throws HookError. */
export async function permitProvisionedJoin(
  deps: Deps<'config' | 'db' | 'hooks'>,
  { connection, ip }: ProvisioningRequest,
  claims: AccountClaims,
): Promise<void> {
  const { db, hooks } = deps
  if (!hooks.beforeOrganizationJoin) return
  const organization = await findJoined(deps, db, connection)
  if (!organization) return
  const id = await db.transaction().execute((trx) => findAccount(deps, trx, connection, claims))
  if (id && (await findMember(db, organization.id, id))) return
  const user = { id: id ?? null, email: claims.email }
  await permitJoin(deps, joinHookPayload(organization, user, connection.default_role, 'scim'), ip)
}

/** The account that the user gets, unless it is a new one. */
async function findAccount(
  deps: Deps<'config'>,
  trx: Trx,
  connection: ProvisioningRequest['connection'],
  claims: AccountClaims,
): Promise<string | undefined> {
  const deleted = await findDeletedScimUser(trx, connection.sso_provider_id, claims.userName)
  const former = await findFormerAccount(trx, deleted?.user_id)
  if (former) return former.userId
  const isVerified = await hasVerifiedEmailDomain(trx, connection, claims.email)
  return findLinkable(deps, trx, connection, claims, isVerified)
}

/** The operator's hook for a provisioned user who will join the organization. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findMember } from '../../db/organizations/members.ts'
import { findDeletedScimUser } from '../../db/scim/users.ts'
import { joinHookPayload, permitJoin } from '../organizations/index.ts'
import type { AccountClaims } from './claims.ts'
import { findFormerAccount, findLinkable } from './link-account.ts'
import { findJoined, type ProvisioningRequest } from './membership.ts'

/** Called before the transaction. The hook is not called for a user who is a member already. Throws HookError. */
export async function permitProvisionedJoin(
  app: FastifyInstance,
  { connection, ip }: ProvisioningRequest,
  claims: AccountClaims,
): Promise<void> {
  const { db, hooks } = app
  if (!hooks.beforeOrganizationJoin) return
  const organization = await findJoined(app, db, connection)
  if (!organization) return
  const id = await db.transaction().execute((trx) => findAccount(app, trx, connection, claims))
  if (id && (await findMember(db, organization.id, id))) return
  const user = { id: id ?? null, email: claims.email }
  await permitJoin(app, joinHookPayload(organization, user, connection.default_role, 'scim'), ip)
}

/** The account that the user gets, unless it is a new one. */
async function findAccount(
  app: FastifyInstance,
  trx: Trx,
  connection: ProvisioningRequest['connection'],
  claims: AccountClaims,
): Promise<string | undefined> {
  const deleted = await findDeletedScimUser(trx, connection.sso_provider_id, claims.userName)
  const former = await findFormerAccount(app, trx, connection, claims, deleted)
  return former ?? findLinkable(app, trx, connection, claims)
}

/** Memberships of provisioned users. Members who joined in another way are not changed. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { findMember, type MemberRow } from '../../db/organizations/members.ts'
import { findOrganization, type OrganizationRow } from '../../db/organizations/organizations.ts'
import { findRoleChanges, listAccountIds } from '../../db/scim/access.ts'
import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import { lockUsers } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { adminActor } from '../audit/index.ts'
import { addMember, removeMember, setMemberRole, setMemberStatus } from '../organizations/index.ts'
import { isAccountOfTenant } from './accounts.ts'

/** A request of a client. */
export interface ProvisioningRequest {
  connection: ScimConnectionRow
  ip: string
  now: Date
}

/** The actor in the audit log. */
export const scimClientInfo = ({ connection, ip }: ProvisioningRequest) => ({
  actor: adminActor(`scim:${connection.name}`),
  ip,
})

/** The organization that provisioned users join. */
export async function findJoined(
  { config }: FastifyInstance,
  db: Db,
  { organization_id: id }: ScimConnectionRow,
): Promise<OrganizationRow | undefined> {
  if (!id || !config.AUTH_ORGANIZATIONS_ENABLED) return undefined
  const found = await findOrganization(db, id)
  return found?.scim_join && !found.deleted_at ? found : undefined
}

/**
 * The holder of an address outside of the verified domains is asked whether to join (`listSuggestions`). The user must
 * be locked. Throws organization_limit_reached.
 */
export async function joinOrganization(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  request: ProvisioningRequest,
): Promise<void> {
  const organization = await findJoined(app, trx, request.connection)
  if (!organization || !(await isAccountOfTenant(app, trx, request.connection, user))) return
  const key = { organization_id: organization.id, user_id: user.id }
  const role = request.connection.default_role
  const member = { ...key, role, joined_by: 'scim', connection_id: null } as const
  await addMember(app, trx, member, scimClientInfo(request), request.now)
}

/** Throws last_owner. */
export async function leaveOrganization(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  request: ProvisioningRequest,
): Promise<void> {
  const member = await provisionedMember(trx, userId, request)
  if (!member) return
  const key = { organizationId: member.organization_id, userId }
  await removeMember(app, trx, key, scimClientInfo(request), request.now)
}

/** The last owner remains an active member; the deactivation of the account prevents the sign-in. */
export async function setMembershipActive(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  isActive: boolean,
  request: ProvisioningRequest,
): Promise<void> {
  const member = await provisionedMember(trx, userId, request)
  if (!member) return
  const key = { organizationId: member.organization_id, userId }
  const status = isActive ? 'active' : 'suspended'
  try {
    await setMemberStatus(app, trx, key, status, scimClientInfo(request), request.now)
  } catch (error) {
    if (!isLastOwner(error)) throw error
  }
}

const isLastOwner = (error: unknown): boolean =>
  error instanceof Error && 'errorCode' in error && error.errorCode === 'last_owner'

async function provisionedMember(
  trx: Trx,
  userId: string,
  { connection: { organization_id } }: ProvisioningRequest,
): Promise<MemberRow | undefined> {
  if (!organization_id) return undefined
  const member = await findMember(trx, organization_id, userId)
  return member?.joined_by === 'scim' ? member : undefined
}

/**
 * Locks the accounts of users whose groups will change, before the change: another request may change other groups of
 * the same users, and a deletion locks the account before the groups.
 */
export async function lockMemberAccounts(
  trx: Trx,
  scimUserIds: readonly string[],
  { connection }: ProvisioningRequest,
): Promise<void> {
  if (!connection.organization_id) return
  await lockUsers(trx, await listAccountIds(trx, connection.sso_provider_id, scimUserIds))
}

/** Sets the roles that the groups of these users map to; the accounts must be locked. Throws last_owner. */
export async function applyRoles(
  app: FastifyInstance,
  trx: Trx,
  scimUserIds: readonly string[],
  request: ProvisioningRequest,
): Promise<void> {
  const { connection, now } = request
  if (!connection.organization_id || scimUserIds.length === 0) return
  const changes = await findRoleChanges(trx, connection.sso_provider_id, scimUserIds)
  for (const { organization_id, user_id, role } of changes) {
    const key = { organizationId: organization_id, userId: user_id }
    await setMemberRole(app, trx, key, role, scimClientInfo(request), now)
  }
}

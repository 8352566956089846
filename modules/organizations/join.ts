/** Joining by a verified domain or by a connection. Invitations are in invitations.ts. */
import type { Db, Trx } from '../../db/core/database.ts'
import { findJoinableByDomain } from '../../db/organizations/domains.ts'
import { findOrganization, type OrganizationRow } from '../../db/organizations/organizations.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { JoinHookInput } from '../../plugins/outgoing/hooks/organizations.ts'
import { ApiError, organizationJoinDisabled, organizationNotFound } from '../../schemas/errors.ts'
import type { AuditContext } from '../audit/index.ts'
import { findConfirmedAddress } from './confirmed-address.ts'
import { addMember, type MemberDeps } from './members.ts'
import type { ChangedBy } from './record.ts'

/** Calls the operator's hook, never inside a transaction. Throws HookError when it rejects. */
export async function permitJoin(
  { hooks }: Deps<'hooks'>,
  question: JoinHookInput,
  ip: string,
): Promise<void> {
  await hooks.beforeOrganizationJoin?.(question, ip)
}

/** The organization that the user may join by the domain of their address. */
export async function findJoinable(db: Db, user: UserRecord): Promise<OrganizationRow | undefined> {
  const email = await findConfirmedAddress(db, user)
  if (email === undefined) return undefined
  return findJoinableByDomain(db, email.slice(email.lastIndexOf('@') + 1), user.id)
}

/** Throws organization_join_disabled, organization_limit_reached and HookError. */
export async function permitJoinByDomain(
  deps: Deps<'db' | 'hooks'>,
  user: UserRecord,
  organizationId: string,
  ip: string,
): Promise<void> {
  const found = await findJoinable(deps.db, user)
  if (found?.id !== organizationId) throw organizationJoinDisabled('domain')
  await permitJoin(deps, joinHookPayload(found, user, found.default_role, 'domain'), ip)
}

/** Checks the domain again. Throws organization_join_disabled and organization_limit_reached. */
export async function joinByDomain(
  deps: MemberDeps,
  trx: Trx,
  user: UserRecord,
  organizationId: string,
  by: ChangedBy,
  now: Date,
): Promise<OrganizationRow> {
  const found = await findJoinable(trx, user)
  if (found?.id !== organizationId) throw organizationJoinDisabled('domain')
  const member = { organization_id: found.id, user_id: user.id, role: found.default_role }
  await addMember(deps, trx, { ...member, joined_by: 'domain', connection_id: null }, by, now)
  return found
}

/** Throws organization_not_found. */
export async function findLiveOrganization(db: Db, id: string): Promise<OrganizationRow> {
  const found = await findOrganization(db, id)
  if (!found || found.deleted_at) throw organizationNotFound()
  return found
}

export function joinHookPayload(
  { id, slug, name }: Pick<OrganizationRow, 'id' | 'slug' | 'name'>,
  user: JoinHookInput['user'],
  role: string,
  joinedBy: string,
): JoinHookInput {
  const about = { id: user.id, email: user.email }
  return { organization: { id, slug, name }, user: about, role, joined_by: joinedBy }
}

/**
 * Joins the organization whose verified domain joins automatically. Does nothing when a limit or the hook prevents it.
 */
export async function joinAutomatically(
  deps: MemberDeps & Deps<'db' | 'hooks'>,
  user: UserRecord,
  { ip, now }: AuditContext,
): Promise<void> {
  const found = await findJoinable(deps.db, user)
  if (found?.domain_join !== 'automatic') return
  try {
    await permitJoin(deps, joinHookPayload(found, user, found.default_role, 'domain'), ip)
    await deps.db
      .transaction()
      .execute((trx) => joinByDomain(deps, trx, user, found.id, { actor: user, ip }, now))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

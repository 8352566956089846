/** Invitations: one per organization and address. A token is consumed by deleting its row. */
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/paging.ts'
import type { OrganizationInvitationsTable } from '../tables/organizations.ts'
import { storedPermissions } from './roles.ts'

export type InvitationRow = Selectable<OrganizationInvitationsTable>

/** Replaces an earlier invitation of the address, whose link becomes invalid. Also deletes expired invitations. */
export async function replaceInvitation(trx: Trx, invitation: InvitationRow): Promise<void> {
  const { organization_id, email, ...columns } = invitation
  await trx
    .with('expired', (cte) =>
      cte
        .deleteFrom('postern_organization_invitations')
        .where('organization_id', '=', organization_id)
        .where('email', '<>', email)
        .where('expires_at', '<=', invitation.created_at),
    )
    .insertInto('postern_organization_invitations')
    .values(invitation)
    .onConflict((conflict) => conflict.columns(['organization_id', 'email']).doUpdateSet(columns))
    .execute()
}

/** Newest first, and one more than a page has. */
export function listInvitations(
  db: Db,
  organizationId: string,
  { now, after }: { now: Date; after?: RowCursor | undefined },
  size: number,
) {
  return db
    .selectFrom('postern_organization_invitations')
    .selectAll()
    .select(epochMicroseconds('created_at').as('microseconds'))
    .where('organization_id', '=', organizationId)
    .where('expires_at', '>', now)
    .$if(after !== undefined, (qb) => qb.where(isBeforeRow(after ?? { microseconds: 0, id: '' })))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute()
}

/** Which invitation: by the hash of its token, or by its id for the holder of the address. */
export type InvitationKey = { tokenHash: string } | { id: string; email: string }

const byKey = (db: Db, key: InvitationKey, now: Date) => {
  const found = db
    .selectFrom('postern_organization_invitations')
    .selectAll()
    .where('expires_at', '>', now)
  return 'tokenHash' in key
    ? found.where('token_hash', '=', key.tokenHash)
    : found.where('id', '=', key.id).where('email', '=', key.email)
}

export function findInvitation(
  db: Db,
  key: InvitationKey,
  now: Date,
): Promise<InvitationRow | undefined> {
  return byKey(db, key, now).executeTakeFirst()
}

/** The invitation, for the one transaction that consumes it. */
export function consumeInvitation(
  trx: Trx,
  id: string,
  now: Date,
): Promise<InvitationRow | undefined> {
  return trx
    .deleteFrom('postern_organization_invitations')
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

export function deleteInvitation(
  trx: Trx,
  organizationId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return trx
    .deleteFrom('postern_organization_invitations')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

const isBy =
  (userId: string) => (eb: ExpressionBuilder<Database, 'postern_organization_invitations'>) =>
    eb.or([eb('invited_by', '=', userId), eb('invited_by_admin', '=', userId)])

/** Before the user is deleted: without the reference they would count as invitations of an admin of the server. */
export async function deleteInvitationsBy(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_organization_invitations').where(isBy(userId)).execute()
}

/** Open invitations by this user to one of the roles, or to a custom one with one of the permissions. */
export async function deletePrivilegedInvitationsBy(
  trx: Trx,
  userId: string,
  { roles, permissions }: Record<'roles' | 'permissions', readonly string[]>,
): Promise<void> {
  await trx
    .deleteFrom('postern_organization_invitations')
    .where(isBy(userId))
    .where((eb) => {
      const organization = sql.ref<string>('postern_organization_invitations.organization_id')
      const role = sql.ref<string>('postern_organization_invitations.role')
      const stored = storedPermissions(eb, organization, role)
      return sql<boolean>`(role = any(${[...roles]}::text[]) or ${stored} && ${[...permissions]}::text[])`
    })
    .execute()
}

/** Invitations to an address, with their organizations. */
export function listInvitationsTo(db: Db, email: string, now: Date) {
  return db
    .selectFrom('postern_organization_invitations')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .selectAll('postern_organization_invitations')
    .select(['postern_organizations.slug', 'postern_organizations.name'])
    .where('email', '=', email)
    .where('expires_at', '>', now)
    .where('postern_organizations.deleted_at', 'is', null)
    .where('postern_organizations.invitation_join', '=', true)
    .orderBy('postern_organization_invitations.created_at', 'desc')
    .limit(100)
    .execute()
}

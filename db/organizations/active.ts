/** The active organization of a session, and the claims of access tokens about it. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import { storedPermissions } from './roles.ts'

export interface ActiveOrganization {
  id: string
  slug: string
  role: string
  /** The stored permissions of the role. */
  permissions: string[] | null
}

/** The organization of a token: this one, or with null the active one of the session. */
export interface OrganizationScope {
  organizationId: string | null
}

type Selecting = Pick<ExpressionBuilder<Database, never>, 'selectFrom'>

interface Place {
  sessionId: Expression<string>
  userId: Expression<string>
  /** Null for the active organization. */
  organizationId: Expression<string | null>
}

/** A subquery; null for a user who is not an active member. */
export function activeOrganization(eb: Selecting, { sessionId, userId, organizationId }: Place) {
  const chosen = eb
    .selectFrom('postern_session_organizations')
    .select('postern_session_organizations.organization_id')
    .where(sql<boolean>`postern_session_organizations.session_id = ${sessionId}`)
  return eb
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .select((of) =>
      sql<ActiveOrganization | null>`json_build_object(
        'id', postern_organizations.id, 'slug', postern_organizations.slug,
        'role', postern_organization_members.role, 'permissions', ${storedPermissions(
          of,
          sql.ref('postern_organizations.id'),
          sql.ref('postern_organization_members.role'),
        )})`.as('active'),
    )
    .where(sql<boolean>`postern_organization_members.user_id = ${userId}`)
    .where(
      sql<boolean>`postern_organization_members.organization_id = coalesce(${organizationId}::uuid, ${chosen})`,
    )
    .where('postern_organization_members.status', '=', sql.lit('active'))
    .where('postern_organizations.deleted_at', 'is', null)
}

/**
 * Whether the user is an active member. A scalar subquery: `exists` would be planned as a join, which for a small table
 * reads all rows and is cached.
 */
export function isActiveMember(
  eb: Selecting,
  userId: Expression<string>,
  organizationId: Expression<string | null>,
) {
  const found = eb
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .select(sql<boolean>`true`.as('found'))
    .where(sql<boolean>`postern_organization_members.user_id = ${userId}`)
    .where(sql<boolean>`postern_organization_members.organization_id = ${organizationId}::uuid`)
    .where('postern_organization_members.status', '=', sql.lit('active'))
    .where('postern_organizations.deleted_at', 'is', null)
  return sql<boolean>`coalesce(${found}, false)`
}

const findActive = queryOne((db, value: ParamOf<{ sessionId: string; userId: string }>) =>
  db.selectNoFrom((eb) =>
    activeOrganization(eb, {
      sessionId: value('sessionId'),
      userId: value('userId'),
      organizationId: sql<null>`null`,
    }).as('active'),
  ),
)

export async function findActiveOrganization(
  db: Db,
  sessionId: string,
  userId: string,
): Promise<ActiveOrganization | null> {
  return (await findActive(db, { sessionId, userId }))?.active ?? null
}

/** The membership must exist: a foreign key requires it. */
export async function setActiveOrganization(
  trx: Trx,
  row: { session_id: string; organization_id: string; user_id: string },
): Promise<void> {
  await trx
    .insertInto('postern_session_organizations')
    .values(row)
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(row))
    .execute()
}

export async function clearActiveOrganization(trx: Trx, sessionId: string): Promise<void> {
  await trx
    .deleteFrom('postern_session_organizations')
    .where('session_id', '=', sessionId)
    .execute()
}

/** The organizations of a user. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/row-cursor.ts'
import { matches } from './organizations.ts'
import { storedPermissions } from './roles.ts'

interface MembershipFilter {
  /** Whose active organization is marked. */
  sessionId: string | null
  /** Part of the name or of the slug. */
  search?: string | undefined
  after?: RowCursor | undefined
}

/** Last joined first, and one more than a page has. */
export function listMemberships(
  db: Db,
  userId: string,
  { sessionId, search, after }: MembershipFilter,
  size: number,
) {
  const joined = 'postern_organization_members.created_at'
  return db
    .selectFrom('postern_organization_members')
    .innerJoin('postern_organizations', 'postern_organizations.id', 'organization_id')
    .leftJoin('postern_session_organizations as active', (join) =>
      join
        .onRef('active.organization_id', '=', 'postern_organizations.id')
        .on('active.session_id', '=', sessionId),
    )
    .selectAll('postern_organizations')
    .select([
      'postern_organization_members.role',
      'postern_organization_members.joined_by',
      'postern_organization_members.created_at as joined_at',
      sql<boolean>`active.session_id is not null`.as('is_active'),
      epochMicroseconds(joined).as('microseconds'),
    ])
    .select((eb) =>
      storedPermissions(
        eb,
        sql.ref('postern_organizations.id'),
        sql.ref('postern_organization_members.role'),
      ).as('role_permissions'),
    )
    .where('postern_organization_members.user_id', '=', userId)
    .where('postern_organization_members.status', '=', 'active')
    .where('postern_organizations.deleted_at', 'is', null)
    .$if(search !== undefined, (qb) => qb.where(matches(search ?? '')))
    .$if(after !== undefined, (qb) =>
      qb.where(
        isBeforeRow(after ?? { microseconds: 0, id: '' }, joined, 'postern_organizations.id'),
      ),
    )
    .orderBy(joined, 'desc')
    .orderBy('postern_organizations.id', 'desc')
    .limit(size + 1)
    .execute()
}

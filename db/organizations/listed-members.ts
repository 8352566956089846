/** Members of an organization with their users, as its members see them. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/row-cursor.ts'

interface MemberFilter {
  /** Part of the email or of the name. */
  search?: string | undefined
  role?: string | undefined
  after?: RowCursor | undefined
}

const listed = (db: Db) =>
  db
    .selectFrom('postern_organization_members')
    .innerJoin('users', 'users.id', 'user_id')
    .selectAll('postern_organization_members')
    .select([
      'users.email',
      'users.phone',
      'users.raw_user_meta_data',
      epochMicroseconds('postern_organization_members.created_at').as('microseconds'),
    ])

/** Newest first, and one more than a page has. */
export function listMembers(
  db: Db,
  organizationId: string,
  { search, role, after }: MemberFilter,
  size: number,
) {
  const pattern = `%${(search ?? '').replaceAll(/[\\%_]/g, '\\$&')}%`
  return listed(db)
    .where('organization_id', '=', organizationId)
    .$if(role !== undefined, (qb) => qb.where('postern_organization_members.role', '=', role ?? ''))
    .$if(search !== undefined, (qb) =>
      qb.where(
        sql<boolean>`(users.email ilike ${pattern} or coalesce(users.raw_user_meta_data ->> 'full_name',
          users.raw_user_meta_data ->> 'name') ilike ${pattern})`,
      ),
    )
    .$if(after !== undefined, (qb) =>
      qb.where(
        isBeforeRow(
          after ?? { microseconds: 0, id: '' },
          'postern_organization_members.created_at',
          'postern_organization_members.user_id',
        ),
      ),
    )
    .orderBy('postern_organization_members.created_at', 'desc')
    .orderBy('postern_organization_members.user_id', 'desc')
    .limit(size + 1)
    .execute()
}

export function findListedMember(db: Db, organizationId: string, userId: string) {
  return listed(db)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Reading the audit trail, newest first. */
import { type SqlBool, sql } from 'kysely'

import type { Db } from './database.ts'
import { exactCountLimit } from './user-search.ts'

/** What an entry is looked for by; `text` is part of it, without case. */
export interface AuditSearch {
  scope: 'author' | 'action' | 'type'
  text: string
}

const columns = {
  author: [sql`payload ->> 'actor_username'`, sql`payload ->> 'actor_name'`],
  action: [sql`payload ->> 'action'`],
  type: [sql`payload ->> 'log_type'`],
}

const selectEntries = (db: Db, search: AuditSearch | undefined) =>
  db.selectFrom('audit_log_entries').$if(search !== undefined, (qb) =>
    qb.where((eb) => {
      const { scope, text } = search ?? { scope: 'action', text: '' }
      const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
      return eb.or(columns[scope].map((column) => sql<SqlBool>`${column} ilike ${pattern}`))
    }),
  )

/** One page, and one entry more. */
export function listAuditEntries(
  db: Db,
  search: AuditSearch | undefined,
  { offset, size }: { offset: number; size: number },
) {
  return selectEntries(db, search)
    .select(['id', 'payload', 'created_at', 'ip_address'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(size + 1)
    .execute()
}

/** How many match, up to `exactCountLimit` + 1, and how many entries there are at all by Postgres's statistics. */
export async function countAuditEntries(db: Db, search: AuditSearch | undefined) {
  const counted = selectEntries(db, search)
    .select('id')
    .limit(exactCountLimit + 1)
  return db
    .selectFrom(counted.as('counted'))
    .select((eb) => [
      eb.fn.countAll<number>().as('counted'),
      eb
        .selectFrom('audit_log_entries')
        .select(
          sql<number>`(select reltuples::bigint from pg_class where oid = audit_log_entries.tableoid)`.as(
            'estimated',
          ),
        )
        .limit(1)
        .as('estimated'),
    ])
    .executeTakeFirstOrThrow()
}

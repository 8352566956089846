/** The audit log: inserted with the events of an action, and read newest first. */
import { type Expression, type QueryCreator, type RawBuilder, type SqlBool, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { epochMicroseconds, exactCountLimit, isBeforeRow, type RowCursor } from '../core/paging.ts'
import { executePipelined, type ParamOf } from '../core/statement.ts'
import {
  type EventValues,
  eventInsert,
  eventValues,
  type NewEvent,
  storedUser,
} from '../events/outbox.ts'
import type { AuditPayload } from '../tables/audit.ts'
import { nilUuid } from '../tables/users.ts'

interface AuditEntry {
  payload: AuditPayload
  ip_address: string
}

/** An action for the audit log and the event stream. */
export interface NewAuditLogEntry {
  /** Undefined when audit entries go to the log only. */
  entry: AuditEntry | undefined
  events: readonly NewEvent[]
}

/** An audit entry as parameters of a statement. Without an entry the statement inserts none. */
export interface AuditValues {
  audited: boolean
  /** JSON. */
  auditPayload: string
  auditIp: string
}

export function auditValues(trail: Pick<NewAuditLogEntry, 'entry'> | undefined): AuditValues {
  const entry = trail?.entry
  return {
    audited: entry !== undefined,
    auditPayload: JSON.stringify(entry?.payload ?? {}),
    auditIp: entry?.ip_address ?? '',
  }
}

/**
 * The insert as a CTE for a statement that records itself. Inserts nothing without an entry or when the condition is
 * false.
 */
export function auditInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  value: ParamOf<AuditValues & { now: Date }>,
  condition: Expression<SqlBool>,
) {
  return db
    .insertInto('audit_log_entries')
    .columns(['instance_id', 'id', 'payload', 'created_at', 'ip_address'])
    .expression(
      db
        .selectNoFrom([
          sql`${sql.lit(nilUuid)}::uuid`.as('instance_id'),
          sql`gen_random_uuid()`.as('id'),
          sql`${value('auditPayload')}::json`.as('payload'),
          sql`${value('now')}::timestamptz`.as('created_at'),
          sql`${value('auditIp')}::text`.as('ip_address'),
        ])
        .where(sql<boolean>`${value('audited')}::boolean`)
        .where(condition),
    )
}

const insertRow = executePipelined((db, value: ParamOf<AuditValues & { now: Date }>) =>
  auditInsert(db, value, sql`true`),
)

const insertWithEvents = executePipelined(
  (db, value: ParamOf<AuditValues & EventValues & { now: Date }>) =>
    db
      .with('audited', (eb) => auditInsert(eb, value, sql`true`))
      .with('told', (eb) => eventInsert(eb, value, storedUser(db), sql`true`))
      .selectNoFrom(sql<boolean>`true`.as('written')),
)

/** Sends no statement when there is nothing to write. */
export async function insertAuditEntry(db: Db, trail: NewAuditLogEntry, now: Date): Promise<void> {
  const values = { ...auditValues(trail), now }
  if (trail.events.length > 0) {
    await insertWithEvents(db, { ...values, ...eventValues(trail.events) })
  } else if (trail.entry) await insertRow(db, values)
}

/** Filters of a search; `text` matches any part of an entry, case-insensitively. */
export interface AuditQuery {
  scope: 'author' | 'action' | 'type'
  text: string
}

const columns = {
  author: [sql`payload ->> 'actor_username'`, sql`payload ->> 'actor_name'`],
  action: [sql`payload ->> 'action'`],
  type: [sql`payload ->> 'log_type'`],
}

const selectEntries = (db: Db, search: AuditQuery | undefined) =>
  db.selectFrom('audit_log_entries').$if(search !== undefined, (qb) =>
    qb.where((eb) => {
      const { scope, text } = search ?? { scope: 'action', text: '' }
      const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
      return eb.or(columns[scope].map((column) => sql<SqlBool>`${column} ilike ${pattern}`))
    }),
  )

interface AuditFilter {
  search: AuditQuery | undefined
  /** The user who acted, also by impersonating another, or whom the action affected. */
  userId: string | undefined
  action: string | undefined
  from: Date | undefined
  to: Date | undefined
  after: RowCursor | undefined
}

/** GoTrue's column may be null. */
const payload = sql<AuditPayload>`coalesce(payload, '{}'::json)`.as('payload')

/** The entries after a cursor, and one more; by postern_audit_log_entries_created_at_idx. */
export function listFilteredEntries(db: Db, filter: AuditFilter, size: number) {
  const conditions = toConditions(filter)
  return selectEntries(db, filter.search)
    .select([
      'id',
      payload,
      'created_at',
      'ip_address',
      epochMicroseconds('created_at').as('place'),
    ])
    .$if(conditions.length > 0, (qb) => qb.where((eb) => eb.and(conditions)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute()
}

function toConditions({ userId, action, from, to, after }: AuditFilter): RawBuilder<SqlBool>[] {
  return [
    ...(userId
      ? [
          // Three conditions, each for a separate index.
          sql<SqlBool>`(payload ->> 'actor_id' = ${userId} or payload -> 'traits' ->> 'user_id' = ${userId}
            or payload -> 'act' ->> 'sub' = ${userId})`,
        ]
      : []),
    ...(action ? [sql<SqlBool>`payload ->> 'action' = ${action}`] : []),
    ...(from ? [sql<SqlBool>`created_at >= ${from}`] : []),
    ...(to ? [sql<SqlBool>`created_at <= ${to}`] : []),
    ...(after ? [isBeforeRow(after)] : []),
  ]
}

/** One page, and one entry more. */
export function listAuditEntries(
  db: Db,
  search: AuditQuery | undefined,
  { offset, size }: { offset: number; size: number },
) {
  return selectEntries(db, search)
    .select(['id', payload, 'created_at', 'ip_address'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(size + 1)
    .execute()
}

/** Counts the matches, up to `exactCountLimit` + 1, and estimates the size of the table from Postgres's statistics. */
export async function countAuditEntries(db: Db, search: AuditQuery | undefined) {
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

import { type ColumnType, type Expression, type QueryCreator, type SqlBool, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import {
  type EventValues,
  eventInsert,
  eventValues,
  type NewEvent,
  storedUser,
} from './event-inbox.ts'
import { preparedUnawaited, type ValueOf } from './prepared-statement.ts'
import { nilUuid } from './users.ts'

export interface AuditLogEntriesTable {
  instance_id: string | null
  id: string
  payload: ColumnType<AuditPayload, string, never>
  created_at: Date | null
  ip_address: string
}

export interface AuditPayload {
  actor_id: string
  actor_via_sso: boolean
  actor_username: string
  actor_name?: string
  action: string
  log_type: string
  traits?: Record<string, unknown>
}

export interface AuditEntry {
  payload: AuditPayload
  ip_address: string
}

/** What is written of something that happened: for the trail, and for those who are told. */
export interface TrailEntry {
  /** Undefined where the trail is kept in the log alone. */
  entry: AuditEntry | undefined
  events: readonly NewEvent[]
}

/** An entry as values of a statement; without one the statement adds none. */
export interface AuditValues {
  audited: boolean
  /** JSON. */
  auditPayload: string
  auditIp: string
}

export function auditValues(trail: Pick<TrailEntry, 'entry'> | undefined): AuditValues {
  const entry = trail?.entry
  return {
    audited: entry !== undefined,
    auditPayload: JSON.stringify(entry?.payload ?? {}),
    auditIp: entry?.ip_address ?? '',
  }
}

/**
 * The insert as a building block for a statement that records itself; without an entry, or when the condition is false,
 * it adds none.
 */
export function auditInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  value: ValueOf<AuditValues & { now: Date }>,
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

const insertRow = preparedUnawaited((db, value: ValueOf<AuditValues & { now: Date }>) =>
  auditInsert(db, value, sql`true`),
)

const insertTold = preparedUnawaited(
  (db, value: ValueOf<AuditValues & EventValues & { now: Date }>) =>
    db
      .with('audited', (eb) => auditInsert(eb, value, sql`true`))
      .with('told', (eb) => eventInsert(eb, value, storedUser(db), sql`true`))
      .selectNoFrom(sql<boolean>`true`.as('written')),
)

/** Nothing is asked of the database where there is nothing to write. */
export async function insertAuditEntry(db: Db, trail: TrailEntry, now: Date): Promise<void> {
  const values = { ...auditValues(trail), now }
  if (trail.events.length > 0) await insertTold(db, { ...values, ...eventValues(trail.events) })
  else if (trail.entry) await insertRow(db, values)
}

import { type Expression, type QueryCreator, type SqlBool, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
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

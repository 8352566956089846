/** Opening a session: one statement, which begins with the person it is for. */
import { type QueryCreator, sql } from 'kysely'

import { type AuditValues, auditInsert, auditValues, type TrailEntry } from './audit-log-entries.ts'
import type { Database, Db } from './database.ts'
import { type EventValues, eventInsert, eventValues, storedUser } from './event-inbox.ts'
import { deviceInsert } from './known-devices.ts'
import { preparedRow, type ValueOf } from './prepared-statement.ts'
import type { Aal } from './sessions.ts'

export interface NewSession {
  id: string
  user_id: string
  aal: Aal
  tag: string | null
  user_agent: string | null
  ip: string | null
  not_after: Date | null
  refresh_token_hmac_key: string
}

export interface Opening {
  session: NewSession
  /** How the person proved who they are. */
  method: string
  /** The admin who acts in place of the person. */
  impersonatedBy: string | undefined
  /** The hash that the password was found to match: it must still be the one that is stored. */
  passwordHash: string | undefined
  audit: TrailEntry
  /** Known from now on; null for none. */
  deviceHash: string | null
}

/**
 * The session, how it was opened, the person's last sign-in, the audit entry and the events. False, and nothing of it is written, for
 * somebody who has been deleted, banned or given another password by now: the update waits for whoever changes the
 * person, and then looks at what they left.
 */
export async function insertSession(db: Db, opening: Opening, now: Date): Promise<boolean> {
  const { session, method, deviceHash } = opening
  const values = {
    ...session,
    ...auditValues(opening.audit),
    ...{ method, deviceHash, now },
    impersonatedBy: opening.impersonatedBy ?? null,
    passwordHash: opening.passwordHash ?? null,
  }
  const { events } = opening.audit
  const person =
    events.length > 0
      ? await insertTold(db, { ...values, ...eventValues(events) })
      : await insertOpened(db, values)
  return person !== undefined
}

type Values = NewSession &
  AuditValues & {
    method: string
    impersonatedBy: string | null
    passwordHash: string | null
    deviceHash: string | null
    now: Date
  }

const isOpened = sql<boolean>`exists (select from person)`

function withSession(db: Db, value: ValueOf<Values>) {
  const now = sql`${value('now')}`
  return db
    .with('person', (eb) => touchPerson(eb, value))
    .with('opened', (eb) =>
      eb
        .insertInto('sessions')
        .columns([...sessionColumns, 'created_at', 'updated_at', 'refresh_token_counter'])
        .expression((select) =>
          select
            .selectFrom('person')
            .select(sessionColumns.map((column) => value(column).as(column)))
            .select([now.as('created_at'), now.as('updated_at')])
            .select(sql`0`.as('refresh_token_counter')),
        )
        .returning('sessions.id as session_id'),
    )
    .with('amr', (eb) =>
      eb
        .insertInto('mfa_amr_claims')
        .columns(['id', 'session_id', 'authentication_method', 'created_at', 'updated_at'])
        .expression((select) =>
          select
            .selectFrom('opened')
            .select([sql`gen_random_uuid()`.as('id'), 'opened.session_id'])
            .select(value('method').as('authentication_method'))
            .select([now.as('created_at'), now.as('updated_at')]),
        ),
    )
    .with('impersonated', (eb) =>
      eb
        .insertInto('postern_impersonations')
        .columns(['session_id', 'impersonated_by'])
        .expression((select) =>
          select
            .selectFrom('opened')
            .select(['opened.session_id', value('impersonatedBy').as('impersonated_by')])
            .where(sql<boolean>`${value('impersonatedBy')}::text is not null`),
        ),
    )
    .with('device', (eb) => deviceInsert(eb, value, isOpened))
    .with('audited', (eb) => auditInsert(eb, value, isOpened))
}

const insertOpened = preparedRow((db, value: ValueOf<Values>) =>
  withSession(db, value).selectFrom('person').select('person.id'),
)

const insertTold = preparedRow((db, value: ValueOf<Values & EventValues>) =>
  withSession(db, value)
    .with('told', (eb) => eventInsert(eb, value, storedUser(db), isOpened))
    .selectFrom('person')
    .select('person.id'),
)

const sessionColumns = [
  'id',
  'user_id',
  'aal',
  'tag',
  'user_agent',
  'ip',
  'not_after',
  'refresh_token_hmac_key',
] as const

/** The person's row, locked, if it still is as the proof found it. An admin in their place does not sign in. */
function touchPerson(db: QueryCreator<Database>, value: ValueOf<Values>) {
  const [now, passwordHash] = [value('now'), value('passwordHash')]
  return db
    .updateTable('users')
    .set({
      updated_at: now,
      last_sign_in_at: sql`case when ${value('impersonatedBy')}::text is null then ${now} else users.last_sign_in_at end`,
    })
    .where('users.id', '=', value('user_id'))
    .where('users.deleted_at', 'is', null)
    .where(sql<boolean>`coalesce(users.banned_until <= ${now}, true)`)
    .where(
      sql<boolean>`coalesce(users.encrypted_password = ${passwordHash}, ${passwordHash}::text is null)`,
    )
    .returning('users.id')
}

/** What opening a session writes, for statements that begin with the row of its person. */
import { type Expression, type QueryCreator, sql } from 'kysely'

import { type AuditValues, auditInsert, auditValues, type TrailEntry } from './audit-log-entries.ts'
import type { Database } from './database.ts'
import { type EventValues, eventInsert, eventValues } from './event-inbox.ts'
import { deviceInsert } from './known-devices.ts'
import type { ValueOf } from './prepared-statement.ts'
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

/** What is written only where there is something of it: Postgres opens the table of each for nothing otherwise. */
export type Part = 'impersonated' | 'device' | 'audited' | 'told'

export function partsOf({ impersonatedBy, deviceHash, audit }: Opening): Part[] {
  return [
    ...(impersonatedBy ? ['impersonated' as const] : []),
    ...(deviceHash ? ['device' as const] : []),
    ...(audit.entry ? ['audited' as const] : []),
    ...(audit.events.length > 0 ? ['told' as const] : []),
  ]
}

export type OpeningValues = NewSession &
  AuditValues &
  EventValues & {
    method: string
    impersonatedBy: string | null
    passwordHash: string | null
    deviceHash: string | null
    now: Date
  }

export function openingValues(opening: Opening, now: Date): OpeningValues {
  const { session, method, deviceHash, audit } = opening
  return {
    ...session,
    ...auditValues(audit),
    ...eventValues(audit.events),
    method,
    deviceHash,
    now,
    impersonatedBy: opening.impersonatedBy ?? null,
    passwordHash: opening.passwordHash ?? null,
  }
}

/** A statement that has found or made the person, under this name. */
type WithPerson<Row = { id: string }> = QueryCreator<Database & { person: Row }>

const isOpened = sql<boolean>`exists (select from person)`

/** Adds the session and the other parts. `user` is an expression for the person, as events hold them. */
export function withSession<Row extends { id: string }>(
  db: WithPerson<Row>,
  value: ValueOf<OpeningValues>,
  { parts, user }: { parts: readonly Part[]; user: Expression<unknown> },
): WithPerson<Row> {
  const statement = db
    .with('opened', (eb) => sessionInsert(eb, value))
    .with('amr', (eb) => amrInsert(eb, value))
  const adders: Record<Part, (creator: WithPerson<Row>) => WithPerson<Row>> = {
    impersonated: (of) => of.with('impersonated', (eb) => impersonationInsert(eb, value)),
    device: (of) => of.with('device', (eb) => deviceInsert(eb, value, isOpened)),
    audited: (of) => of.with('audited', (eb) => auditInsert(eb, value, isOpened)),
    told: (of) => of.with('told', (eb) => eventInsert(eb, value, user, isOpened)),
  }
  return parts.reduce<WithPerson<Row>>((creator, part) => adders[part](creator), statement)
}

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

function sessionInsert(db: WithPerson, value: ValueOf<OpeningValues>) {
  const now = value('now')
  return db
    .insertInto('sessions')
    .columns([...sessionColumns, 'created_at', 'updated_at', 'refresh_token_counter'])
    .expression((select) =>
      select
        .selectFrom('person')
        .select(sessionColumns.map((column) => value(column).as(column)))
        .select([now.as('created_at'), now.as('updated_at')])
        .select(sql`0`.as('refresh_token_counter')),
    )
}

function amrInsert(db: WithPerson, value: ValueOf<OpeningValues>) {
  const now = value('now')
  return db
    .insertInto('mfa_amr_claims')
    .columns(['id', 'session_id', 'authentication_method', 'created_at', 'updated_at'])
    .expression((select) =>
      select
        .selectFrom('person')
        .select([sql`gen_random_uuid()`.as('id'), value('id').as('session_id')])
        .select(value('method').as('authentication_method'))
        .select([now.as('created_at'), now.as('updated_at')]),
    )
}

function impersonationInsert(db: WithPerson, value: ValueOf<OpeningValues>) {
  return db
    .insertInto('postern_impersonations')
    .columns(['session_id', 'impersonated_by'])
    .expression((select) =>
      select
        .selectFrom('person')
        .select([
          value('id').as('session_id'),
          sql`${value('impersonatedBy')}::text`.as('impersonated_by'),
        ]),
    )
}

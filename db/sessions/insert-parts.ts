/** The parts of a session insert, as CTEs after the one of the user's row. */
import { type Expression, type QueryCreator, sql } from 'kysely'

import {
  type AuditValues,
  auditInsert,
  auditValues,
  type NewAuditLogEntry,
} from '../audit/audit-log-entries.ts'
import type { Database } from '../core/database.ts'
import type { ParamOf } from '../core/statement.ts'
import { type EventValues, eventInsert, eventValues } from '../events/outbox.ts'
import type { ClientGrant } from '../tables/oauth-server.ts'
import type { Aal } from '../tables/sessions.ts'
import { deviceInsert } from './devices.ts'

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

export interface SessionInsert {
  session: NewSession
  /** For a session of an OAuth client. */
  grant?: ClientGrant | undefined
  /** The authentication method. */
  method: string
  /** The admin who impersonates the user. */
  impersonatedBy: string | undefined
  /** The hash that matched the password. It must still be the stored one. */
  passwordHash: string | undefined
  audit: NewAuditLogEntry
  /** Known from now on; null for none. */
  deviceHash: string | null
  /** The session was created with an SMS code. */
  bySms: boolean
  /** Users may have been deactivated by SCIM. */
  checksProvisioning?: boolean
}

/** Optional parts: Postgres initializes the table of each part in the statement, used or not. */
export type Part = 'impersonated' | 'granted' | 'device' | 'bySms' | 'told' | Condition
/** A condition on the user, without a part of its own. */
type Condition = 'provisioned'

export function listSessionParts(insert: SessionInsert): Part[] {
  const { impersonatedBy, grant, deviceHash, bySms, audit, checksProvisioning } = insert
  return [
    ...(impersonatedBy ? ['impersonated' as const] : []),
    ...(grant ? ['granted' as const] : []),
    ...(deviceHash ? ['device' as const] : []),
    ...(bySms ? ['bySms' as const] : []),
    ...(audit.events.length > 0 ? ['told' as const] : []),
    ...(checksProvisioning ? ['provisioned' as const] : []),
  ]
}

export type SessionInsertValues = NewSession &
  Partial<ClientGrant> &
  AuditValues &
  EventValues & {
    method: string
    impersonatedBy: string | null
    passwordHash: string | null
    deviceHash: string | null
    now: Date
  }

export function sessionInsertValues(opening: SessionInsert, now: Date): SessionInsertValues {
  const { session, grant, method, deviceHash, audit } = opening
  return {
    ...session,
    ...grant,
    ...auditValues(audit),
    ...eventValues(audit.events),
    method,
    deviceHash,
    now,
    impersonatedBy: opening.impersonatedBy ?? null,
    passwordHash: opening.passwordHash ?? null,
  }
}

/** A statement whose CTE of this name has the user. */
type WithUser<Row = { id: string }> = QueryCreator<Database & { target_user: Row }>

const isOpened = sql<boolean>`exists (select from target_user)`

/** Adds the session and the other parts. `user` is an expression for the user in events. */
export function withSession<Row extends { id: string }>(
  db: WithUser<Row>,
  value: ParamOf<SessionInsertValues>,
  { parts, user }: { parts: readonly Part[]; user: Expression<unknown> },
): WithUser<Row> {
  const includes = (part: Part) => parts.includes(part)
  let statement: WithUser<Row> = db
    .with('opened', (eb) => sessionInsert(eb, value, parts))
    .with('amr', (eb) => amrInsert(eb, value))
    .with('audited', (eb) => auditInsert(eb, value, isOpened))
  if (includes('impersonated')) {
    statement = statement.with('impersonated', (eb) => impersonationInsert(eb, value))
  }
  if (includes('granted')) statement = statement.with('granted', (eb) => grantInsert(eb, value))
  if (includes('device')) {
    statement = statement.with('device', (eb) => deviceInsert(eb, value, isOpened))
  }
  if (includes('bySms')) statement = statement.with('by_sms', (eb) => bySmsInsert(eb, value))
  if (includes('told')) {
    statement = statement.with('told', (eb) => eventInsert(eb, value, user, isOpened))
  }
  return statement
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

const clientColumns = ['oauth_client_id', 'scopes', 'factor_id'] as const

function sessionInsert(db: WithUser, value: ParamOf<SessionInsertValues>, parts: readonly Part[]) {
  const now = value('now')
  const columns = [...sessionColumns, ...(parts.includes('granted') ? clientColumns : [])]
  return db
    .insertInto('sessions')
    .columns([...columns, 'created_at', 'updated_at', 'refresh_token_counter'])
    .expression((select) =>
      select
        .selectFrom('target_user')
        .select(columns.map((column) => value(column).as(column)))
        .select([now.as('created_at'), now.as('updated_at')])
        .select(sql`0`.as('refresh_token_counter')),
    )
}

function amrInsert(db: WithUser, value: ParamOf<SessionInsertValues>) {
  const now = value('now')
  return db
    .insertInto('mfa_amr_claims')
    .columns(['id', 'session_id', 'authentication_method', 'created_at', 'updated_at'])
    .expression((select) =>
      select
        .selectFrom('target_user')
        .select([sql`gen_random_uuid()`.as('id'), value('id').as('session_id')])
        .select(value('method').as('authentication_method'))
        .select([now.as('created_at'), now.as('updated_at')]),
    )
}

function grantInsert(db: WithUser, value: ParamOf<SessionInsertValues>) {
  return db
    .insertInto('postern_oauth_sessions')
    .columns(['session_id', 'resources', 'auth_time', 'userinfo_claims'])
    .expression((select) =>
      select
        .selectFrom('target_user')
        .select([
          value('id').as('session_id'),
          sql`${value('resources')}::text[]`.as('resources'),
          sql`${value('auth_time')}::timestamptz`.as('auth_time'),
          sql`${value('userinfo_claims')}::text[]`.as('userinfo_claims'),
        ]),
    )
}

function impersonationInsert(db: WithUser, value: ParamOf<SessionInsertValues>) {
  return db
    .insertInto('postern_impersonations')
    .columns(['session_id', 'impersonated_by'])
    .expression((select) =>
      select
        .selectFrom('target_user')
        .select([
          value('id').as('session_id'),
          sql`${value('impersonatedBy')}::text`.as('impersonated_by'),
        ]),
    )
}

function bySmsInsert(db: WithUser, value: ParamOf<SessionInsertValues>) {
  return db
    .insertInto('postern_session_proofs')
    .columns(['session_id', 'by_sms'])
    .expression((select) =>
      select
        .selectFrom('target_user')
        .select([value('id').as('session_id'), sql.lit(true).as('by_sms')]),
    )
}

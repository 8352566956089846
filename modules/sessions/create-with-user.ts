/** Creates a new user together with their first session. */
import { isDeepStrictEqual } from 'node:util'

import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { NewEvent } from '../../db/events/outbox.ts'
import { insertUserWithSession } from '../../db/sessions/insert-session.ts'
import type { NewUser } from '../../db/users/insert-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { type AuthenticationEvent, buildSession } from './build.ts'
import { type CreatedSession, prepareTokenResponse } from './create.ts'

/**
 * Inserts the user and the session in one statement, outside of transactions or in one; called by
 * `createUserWithSession` of users only. Undefined when another request took the id or an identifier. Throws
 * token_too_large.
 */
export async function createSessionWithUser(
  app: FastifyInstance,
  db: Db,
  { user, events }: { user: NewUser; events: readonly NewEvent[] },
  authentication: AuthenticationEvent,
  now: Date,
): Promise<CreatedSession | undefined> {
  const expected = toRecord(user, now)
  const { opening, facts } = buildSession(app, expected, authentication, now)
  // Before anything is stored: a rejected token must store nothing.
  const opened = await prepareTokenResponse(app, facts, now)
  const audit = { ...opening.audit, events: [...events, ...opening.audit.events] }
  const row = await insertUserWithSession(db, user, { ...opening, audit }, now)
  if (!row) return undefined
  app.telemetry.metrics.count('postern.sign_ins', {
    method: authentication.method,
    outcome: 'accepted',
  })
  // A trigger in the operator's database may have changed the user: the token must have the stored values.
  if (isDeepStrictEqual(withNumbers(row), withNumbers(facts.user))) return opened
  return { ...opened, facts: { ...facts, user: row }, ready: undefined }
}

/** The stored row, unless the database has triggers. */
function toRecord(user: NewUser, now: Date): UserRecord {
  return {
    ...user,
    confirmed_at: user.email_confirmed_at ?? user.phone_confirmed_at,
    invited_at: null,
    confirmation_sent_at: null,
    recovery_sent_at: null,
    email_change: '',
    email_change_sent_at: null,
    email_change_confirm_status: 0,
    phone_change: '',
    phone_change_sent_at: null,
    reauthentication_sent_at: null,
    last_sign_in_at: now,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    identities: [],
    factors: [],
  }
}

/** Compares times by value: those read from Postgres are subclasses of Date. */
function withNumbers(record: UserRecord) {
  const entries: [string, unknown][] = Object.entries(record)
  return new Map(
    entries.map(([name, value]) => [name, value instanceof Date ? value.getTime() : value]),
  )
}

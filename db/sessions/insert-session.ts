/** Creates a session in one statement, which starts with the row of the user. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { type ParamOf, queryOne, queryOneBatched, queryVariants } from '../core/statement.ts'
import { eventUser, storedUser } from '../events/outbox.ts'
import { hasDeactivation } from '../scim/deactivation.ts'
import { type NewRow, type NewUser, newRow, userInsert } from '../users/insert-user.ts'
import { findUser, hasTriggers, type UserRecord, usersTableId } from '../users/users.ts'
import {
  listSessionParts,
  type Part,
  type SessionInsert,
  type SessionInsertValues,
  sessionInsertValues,
  withSession,
} from './insert-parts.ts'

/**
 * Inserts the session, its authentication, the user's last sign-in, the audit entry and the events. Returns false and
 * writes nothing when the user was deleted or banned, or has changed the password: the update waits for concurrent
 * changes of the user and evaluates the result.
 */
export async function insertSession(db: Db, opening: SessionInsert, now: Date): Promise<boolean> {
  return (
    (await opened(listSessionParts(opening))(db, sessionInsertValues(opening, now))) !== undefined
  )
}

const opened = queryVariants((parts: readonly Part[]) =>
  queryOne((db, value: ParamOf<SessionInsertValues>) =>
    withSession(
      db.with('target_user', (eb) =>
        parts.includes('granted')
          ? selectUserForShare(eb, value, parts)
          : touchUser(eb, value, parts),
      ),
      value,
      { parts, user: storedUser(db) },
    )
      .selectFrom('target_user')
      .select('target_user.id'),
  ),
)

/**
 * Locks the row of the user if the authentication is still valid, and sets the last sign-in, except for an
 * impersonation.
 */
function touchUser(
  db: QueryCreator<Database>,
  value: ParamOf<SessionInsertValues>,
  parts: readonly Part[],
) {
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
    .$if(parts.includes('provisioned'), (qb) => qb.where(isNotDeactivated))
    .where(
      sql<boolean>`coalesce(users.encrypted_password = ${passwordHash}, ${passwordHash}::text is null)`,
    )
    .returning('users.id')
}

/** As of the start of the statement: `deleteDeactivatedSession` looks again afterwards. */
const isNotDeactivated = sql<boolean>`not ${hasDeactivation(sql.ref('users.id'))}`

/** Locks the row of the user for a session of an OAuth client, which does not count as a sign-in of the user. */
function selectUserForShare(
  db: QueryCreator<Database>,
  value: ParamOf<SessionInsertValues>,
  parts: readonly Part[],
) {
  return db
    .selectFrom('users')
    .select('users.id')
    .where('users.id', '=', value('user_id'))
    .where('users.deleted_at', 'is', null)
    .where(sql<boolean>`coalesce(users.banned_until <= ${value('now')}, true)`)
    .$if(parts.includes('provisioned'), (qb) => qb.where(isNotDeactivated))
    .forShare()
}

/**
 * Inserts a new user with their first session in one statement, or in two where a trigger may change the user in
 * between. Returns the stored row, or undefined, with nothing written, when another request took the id or an
 * identifier.
 */
export async function insertUserWithSession(
  db: Db,
  user: NewUser,
  opening: SessionInsert,
  now: Date,
): Promise<UserRecord | undefined> {
  const values = { ...sessionInsertValues(opening, now), ...newRow(user, now, now) }
  const found = await newUser(listSessionParts(opening))(db, values)
  if (!found) return undefined
  const { table_id: _table, has_triggers, ...row } = found
  return has_triggers ? findUser(db, user.id) : { ...row, identities: [], factors: [] }
}

const newUser = queryVariants((parts: readonly Part[]) =>
  queryOneBatched((db, value: ParamOf<SessionInsertValues & NewRow>) =>
    withSession(
      db.with('target_user', (eb) => userInsert(eb, value).returning(usersTableId)),
      value,
      { parts, user: sql`(select ${eventUser('target_user')} from target_user)` },
    )
      .selectFrom('target_user')
      .selectAll('target_user')
      .select(hasTriggers('target_user').as('has_triggers')),
  ),
)

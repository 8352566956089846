/** Opening a session: one statement, which begins with the person it is for. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import { eventUser, storedUser } from './event-inbox.ts'
import { type NewRow, type NewUser, newRow, userInsert } from './new-users.ts'
import { preparedFor, preparedRow, preparedSharedRow, type ValueOf } from './prepared-statement.ts'
import {
  type Opening,
  type OpeningValues,
  openingValues,
  type Part,
  partsOf,
  withSession,
} from './session-parts.ts'
import { findUser, type UserRecord } from './users.ts'

/**
 * The session, how it was opened, the person's last sign-in, the audit entry and the events. False, and nothing of it is written, for
 * somebody who has been deleted, banned or given another password by now: the update waits for whoever changes the
 * person, and then looks at what they left.
 */
export async function insertSession(db: Db, opening: Opening, now: Date): Promise<boolean> {
  return (await opened(partsOf(opening))(db, openingValues(opening, now))) !== undefined
}

const opened = preparedFor((parts: readonly Part[]) =>
  preparedRow((db, value: ValueOf<OpeningValues>) =>
    withSession(
      db.with('person', (eb) => touchPerson(eb, value)),
      value,
      { parts, user: storedUser(db) },
    )
      .selectFrom('person')
      .select('person.id'),
  ),
)

/** The person's row, locked, if it still is as the proof found it. An admin in their place does not sign in. */
function touchPerson(db: QueryCreator<Database>, value: ValueOf<OpeningValues>) {
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

/**
 * A person who has not been there before, with their first session, in one statement; a second one where a trigger may
 * have changed them after the first. Returns the row as it is stored; undefined, and nothing is written, when another
 * request took the id or an address first.
 */
export async function insertNewcomer(
  db: Db,
  person: NewUser,
  opening: Opening,
  now: Date,
): Promise<UserRecord | undefined> {
  const values = { ...openingValues(opening, now), ...newRow(person, now, now) }
  const found = await newcomer(partsOf(opening))(db, values)
  if (!found) return undefined
  const { table_id: _table, has_triggers, ...row } = found
  return has_triggers ? findUser(db, person.id) : { ...row, identities: [], factors: [] }
}

/** What triggers do after a statement is not in its answer. Those of foreign keys are internal, and change nothing. */
const hasTriggers = sql<boolean>`exists (select from pg_trigger
  where tgrelid = person.table_id and not tgisinternal)`

const newcomer = preparedFor((parts: readonly Part[]) =>
  preparedSharedRow((db, value: ValueOf<OpeningValues & NewRow>) =>
    withSession(
      db.with('person', (eb) =>
        userInsert(eb, value).returning(sql<number>`users.tableoid`.as('table_id')),
      ),
      value,
      { parts, user: sql`(select ${eventUser('person')} from person)` },
    )
      .selectFrom('person')
      .selectAll('person')
      .select(hasTriggers.as('has_triggers')),
  ),
)

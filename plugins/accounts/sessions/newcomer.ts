/** The first session of somebody who has not been there before, made together with their account. */
import { isDeepStrictEqual } from 'node:util'

import type { Db } from '../../../db/database.ts'
import type { NewEvent } from '../../../db/event-inbox.ts'
import type { NewUser } from '../../../db/new-users.ts'
import { insertNewcomer } from '../../../db/session-open.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { type DraftHouse, draft, type SignInProof } from './draft.ts'
import { type StoredSession, stored } from './open.ts'

type NewcomerHouse = DraftHouse & House<'db' | 'hooks' | 'jwt' | 'telemetry'>

/**
 * Inserts the person and opens their session in one statement, outside of transactions or in one; for `users.enter`
 * alone. Undefined when another request took the id or an address first. Throws token_too_large.
 */
export async function openNewcomer(
  house: NewcomerHouse,
  db: Db,
  { person, events }: { person: NewUser; events: readonly NewEvent[] },
  proof: SignInProof,
  now: Date,
): Promise<StoredSession | undefined> {
  const expected = recordOf(person, now)
  const { opening, facts } = draft(house, expected, proof, now)
  // Before anything is stored: a token that is refused leaves nothing behind.
  const opened = await stored(house, facts, now)
  const audit = { ...opening.audit, events: [...events, ...opening.audit.events] }
  const row = await insertNewcomer(db, person, { ...opening, audit }, now)
  if (!row) return undefined
  house.telemetry.metrics.count('postern.sign_ins', { method: proof.method, outcome: 'accepted' })
  // A trigger in the operator's database may have made somebody else of them: then the token says what is stored.
  if (isDeepStrictEqual(withNumbers(row), withNumbers(facts.person))) return opened
  return { ...opened, facts: { ...facts, person: row }, ready: undefined }
}

/** The row as it is stored, unless the database has triggers. */
function recordOf(person: NewUser, now: Date): UserRecord {
  return {
    ...person,
    confirmed_at: person.email_confirmed_at ?? person.phone_confirmed_at,
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

/** A moment that was read is more than a Date, but the same moment. */
function withNumbers(record: UserRecord) {
  const entries: [string, unknown][] = Object.entries(record)
  return new Map(
    entries.map(([name, value]) => [name, value instanceof Date ? value.getTime() : value]),
  )
}

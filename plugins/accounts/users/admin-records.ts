/** People's records as admins write them: created, changed and deleted without a mail to anybody. */
import type { Trx } from '../../../db/database.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import { deleteUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import { findTaken, softDeleteUser } from '../../../db/users-admin.ts'
import { emailExists, phoneExists, userIdExists } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import { type Change, writeChange } from './admin-change.ts'
import { tellChanges } from './admin-events.ts'
import { type CreateHouse, create, type NewPerson } from './create.ts'
import { lockNamed } from './lock.ts'

/** Stores a draft with an identity for each address. Throws email_exists, phone_exists or user_already_exists. */
export async function createRecord(
  house: CreateHouse,
  trx: Trx,
  draft: NewPerson,
  now: Date,
): Promise<UserRecord> {
  const wanted = { id: draft.approval.userId, email: draft.email, phone: draft.phone }
  await refuseTaken(trx, wanted, null)
  const user = await create(house, trx, draft, now)
  if (user) return user
  // Somebody took an address between the look and the insert, which waited for them to commit.
  await refuseTaken(trx, wanted, null)
  throw userIdExists()
}

/**
 * The person as they were and as they are now. Throws user_not_found, email_exists, phone_exists or metadata_too_large.
 */
export async function changeRecord(
  house: House<'config' | 'events' | 'sessions'>,
  trx: Trx,
  id: string,
  change: Change,
  now: Date,
): Promise<{ before: UserRecord; after: UserRecord }> {
  const before = await lockNamed(trx, id)
  await refuseTaken(trx, { email: change.email, phone: change.phone }, id)
  try {
    await writeChange(house, trx, before, change, now)
  } catch (error) {
    throw toTaken(error)
  }
  const after = await lockNamed(trx, id)
  await tellChanges(house, trx, { before, after }, change, now)
  return { before, after }
}

/** Deletes the person or, softly, all that tells who they were. Throws user_not_found. */
export async function remove(
  { events, sessions }: House<'events' | 'sessions'>,
  trx: Trx,
  id: string,
  { soft }: { soft: boolean },
  now: Date,
): Promise<UserRecord> {
  const user = await lockNamed(trx, id)
  const isRepeat = soft && user.deleted_at !== null
  if (!isRepeat) {
    await sessions.endAll(trx, id, {}, now)
    await (soft ? softDeleteUser(trx, id, now) : deleteUser(trx, id))
  }
  await events.record(trx, 'user.deleted', id, { soft }, now)
  return user
}

type Wanted = Parameters<typeof findTaken>[1]

async function refuseTaken(trx: Trx, { id, email, phone }: Wanted, except: string | null) {
  if (!id && !email && !phone) return
  const taken = await findTaken(trx, { id, email, phone }, except)
  if (taken.email) throw emailExists()
  if (taken.phone) throw phoneExists()
  if (taken.id) throw userIdExists()
}

/** Two requests raced for one address: the unique index told the second. */
function toTaken(error: unknown): unknown {
  if (!isUniqueViolation(error)) return error
  return error.constraint?.includes('phone') ? phoneExists() : emailExists()
}

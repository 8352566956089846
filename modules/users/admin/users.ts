/** Admin operations on users, without emails. */
import { findTaken, softDeleteUser } from '../../../db/admin/soft-delete.ts'
import type { Trx } from '../../../db/core/database.ts'
import { isForeignKeyViolation } from '../../../db/core/foreign-key-violation.ts'
import { isUniqueViolation } from '../../../db/core/unique-violation.ts'
import { checkDeferredConstraints, deleteUser } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { emailExists, phoneExists, userIdExists, userReferenced } from '../../../schemas/errors.ts'
import { requireRemainingAdminOwner } from '../../admins/index.ts'
import { revokeAllSessions } from '../../sessions/index.ts'
import { lockUserById } from '../lock.ts'
import { type CreateUserDeps, createUser, type NewUserInput } from '../sign-up/create-user.ts'
import { type AdminUserChange, writeChange } from './change.ts'
import { emitUserEvents } from './events.ts'
import { leaveOrganizations } from './organizations.ts'

/** Inserts the user with an identity for each identifier. Throws email_exists, phone_exists or user_already_exists. */
export async function createUserAsAdmin(
  deps: CreateUserDeps,
  trx: Trx,
  draft: NewUserInput,
  now: Date,
): Promise<UserRecord> {
  const identifiers = { id: draft.permit.userId, email: draft.email, phone: draft.phone }
  await rejectTaken(trx, identifiers, null)
  const user = await createUser(deps, trx, draft, now)
  if (user) return user
  // Another user got an identifier between the check and the insert, which waited for its commit.
  await rejectTaken(trx, identifiers, null)
  throw userIdExists()
}

/** Returns the user before and after. Throws user_not_found, email_exists, phone_exists or metadata_too_large. */
export async function updateUserAsAdmin(
  deps: Deps<'config' | 'events' | 'sessions'>,
  trx: Trx,
  id: string,
  change: AdminUserChange,
  now: Date,
): Promise<{ before: UserRecord; after: UserRecord }> {
  const before = await lockUserById(trx, id)
  await rejectTaken(trx, { email: change.email, phone: change.phone }, id)
  try {
    await writeChange(deps, trx, before, change, now)
  } catch (error) {
    throw toTaken(error)
  }
  const after = await lockUserById(trx, id)
  await emitUserEvents(deps, trx, { before, after }, change, now)
  return { before, after }
}

/**
 * Deletes the user or, softly, all personal data. Throws user_not_found, last_owner, and conflict while other tables
 * refer to the user; only an admin gets the name of the table.
 */
export async function deleteUserAsAdmin(
  { events, sessions }: Deps<'events' | 'sessions'>,
  trx: Trx,
  id: string,
  { soft, namesConstraint }: { soft: boolean; namesConstraint: boolean },
  now: Date,
): Promise<UserRecord> {
  const user = await lockUserById(trx, id)
  const isRepeat = soft && user.deleted_at !== null
  if (!isRepeat) {
    await requireRemainingAdminOwner(trx, id)
    await leaveOrganizations(sessions, trx, id)
    await revokeAllSessions(sessions, trx, id, {}, now)
    await (soft ? softDeleteUser(trx, id, now) : deleteRow(trx, id, namesConstraint))
  }
  await events.record(trx, 'user.deleted', id, { soft }, now)
  return user
}

/** The operator's tables may refer to users. */
async function deleteRow(trx: Trx, id: string, namesConstraint: boolean): Promise<void> {
  try {
    await deleteUser(trx, id)
    await checkDeferredConstraints(trx)
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    const { constraint, schema, table } = error
    const named = `constraint "${constraint}" of table ${schema}.${table}`
    throw userReferenced(namesConstraint ? named : undefined, error)
  }
}

type NewIdentifiers = Parameters<typeof findTaken>[1]

async function rejectTaken(trx: Trx, { id, email, phone }: NewIdentifiers, except: string | null) {
  if (!id && !email && !phone) return
  const taken = await findTaken(trx, { id, email, phone }, except)
  if (taken.email) throw emailExists()
  if (taken.phone) throw phoneExists()
  if (taken.id) throw userIdExists()
}

/** A concurrent request for the same identifier fails at the unique index. */
function toTaken(error: unknown): unknown {
  if (!isUniqueViolation(error)) return error
  return error.constraint?.includes('phone') ? phoneExists() : emailExists()
}

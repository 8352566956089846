/** Admin operations on users, without emails. */
import type { FastifyInstance } from 'fastify'

import { findTaken, softDeleteUser } from '../../../db/admin/soft-delete.ts'
import type { Trx } from '../../../db/core/database.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../../db/core/errors.ts'
import { deleteInvitationsBy } from '../../../db/organizations/invitations.ts'
import {
  deleteUserMemberships,
  listOwners,
  ownedOrganizations,
} from '../../../db/organizations/members.ts'
import { lockOrganization } from '../../../db/organizations/organizations.ts'
import { checkDeferredConstraints, deleteUser } from '../../../db/users/update-user.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import {
  emailExists,
  lastOrganizationOwner,
  phoneExists,
  userIdExists,
  userReferenced,
} from '../../../schemas/errors.ts'
import { recordAccess } from '../../access/index.ts'
import { requireRemainingAdminOwner } from '../../admins/index.ts'
import { notifyUser } from '../../emails/index.ts'
import { revokeAllSessions } from '../../sessions/index.ts'
import { lockUserById } from '../lock.ts'
import { createUser, type NewUserInput } from '../sign-up/create-user.ts'
import { type AdminUserChange, writeChange } from './change.ts'

/** Inserts the user with an identity for each identifier. Throws email_exists, phone_exists or user_already_exists. */
export async function createUserAsAdmin(
  app: FastifyInstance,
  trx: Trx,
  draft: NewUserInput,
  now: Date,
): Promise<UserRecord> {
  const identifiers = { id: draft.permit.userId, email: draft.email, phone: draft.phone }
  await rejectTaken(trx, identifiers, null)
  const user = await createUser(app, trx, draft, now)
  if (user) return user
  // Another user got an identifier between the check and the insert, which waited for its commit.
  await rejectTaken(trx, identifiers, null)
  throw userIdExists()
}

/** Returns the user before and after. Throws user_not_found, email_exists, phone_exists or metadata_too_large. */
export async function updateUserAsAdmin(
  app: FastifyInstance,
  trx: Trx,
  id: string,
  change: AdminUserChange & { isOwn: boolean },
  now: Date,
): Promise<{ before: UserRecord; after: UserRecord }> {
  const before = await lockUserById(trx, id)
  await rejectTaken(trx, { email: change.email, phone: change.phone }, id)
  try {
    await writeChange(app, trx, before, change, now)
  } catch (error) {
    throw toTaken(error)
  }
  const after = await lockUserById(trx, id)
  await emitUserEvents(app, trx, { before, after }, change, now)
  return { before, after }
}

/**
 * Deletes the user or, softly, all personal data. Throws user_not_found, last_owner, and conflict while other tables
 * refer to the user; only an admin gets the name of the table.
 */
export async function deleteUserAsAdmin(
  app: FastifyInstance,
  trx: Trx,
  id: string,
  { soft, namesConstraint }: { soft: boolean; namesConstraint: boolean },
  now: Date,
): Promise<UserRecord> {
  const user = await lockUserById(trx, id)
  const isRepeat = soft && user.deleted_at !== null
  if (!isRepeat) {
    await requireRemainingAdminOwner(trx, id)
    await leaveOrganizations(app, trx, id)
    await revokeAllSessions(app, trx, id, {}, now)
    await (soft ? softDeleteUser(trx, id, now) : deleteRow(trx, id, namesConstraint))
  }
  await app.events.record(trx, 'user.deleted', id, { soft }, now)
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

// Removes a deleted user from organizations, with the invitations that they sent.

/** The user must be locked. Organizations are locked in one order. Throws last_owner. */
async function leaveOrganizations(
  { config }: FastifyInstance,
  trx: Trx,
  userId: string,
): Promise<void> {
  if (!config.AUTH_ORGANIZATIONS_ENABLED) return
  for (const organizationId of await ownedOrganizations(trx, userId)) {
    await lockOrganization(trx, organizationId)
    const owners = await listOwners(trx, organizationId)
    if (owners.length === 1 && owners[0] === userId) throw lastOrganizationOwner()
  }
  await deleteUserMemberships(trx, userId)
  await deleteInvitationsBy(trx, userId)
}

// Events and notifications of an admin's change; `user.updated` comes with the audit entry.

interface Changed {
  before: UserRecord
  after: UserRecord
}

/** In the transaction of the change. */
async function emitUserEvents(
  app: FastifyInstance,
  trx: Trx,
  { before, after }: Changed,
  { passwordHash, isOwn }: Pick<AdminUserChange, 'passwordHash'> & { isOwn: boolean },
  now: Date,
): Promise<void> {
  const { events } = app
  const { id } = after
  const changed = (name: 'email' | 'phone') => {
    const [previous, current] = [before[name], after[name]]
    if (!current || current === previous) return []
    return events.draft(`${name}.changed`, id, { previous: previous || null, current })
  }
  const drafts = [
    ...(passwordHash ? events.draft('password.changed', id, {}) : []),
    ...changed('email'),
    ...changed('phone'),
    ...banEvents(events, before, after),
  ]
  await events.write(trx, drafts, now)
  await recordCredentials(app, trx, { before, after }, { passwordHash, isOwn }, now)
}

/** The admin's own new credentials authorize no change for a day, as those of every user. */
async function recordCredentials(
  app: FastifyInstance,
  trx: Trx,
  { before: user, after }: Changed,
  { passwordHash, isOwn }: Pick<AdminUserChange, 'passwordHash'> & { isOwn: boolean },
  now: Date,
): Promise<void> {
  const given = { user, isEstablished: !isOwn }
  if (passwordHash) await recordAccess(app, trx, { ...given, grant: { kind: 'password' } }, now)
  if (after.phone && after.phone !== user.phone) {
    const { phone } = after
    await recordAccess(app, trx, { ...given, grant: { kind: 'phone', phone } }, now)
  }
  if (!user.email || !after.email || after.email === user.email) return
  await recordAccess(app, trx, { ...given, grant: { kind: 'email' } }, now)
  const notification = { kind: 'email_changed_notification', OldEmail: user.email } as const
  await notifyUser(app, trx, after, notification, now)
}

function banEvents({ draft }: FastifyInstance['events'], before: UserRecord, after: UserRecord) {
  const [was, is] = [before.banned_until, after.banned_until]
  if (was?.getTime() === is?.getTime()) return []
  if (!is) return draft('user.unbanned', after.id, {})
  return draft('user.banned', after.id, { banned_until: is.toISOString() })
}

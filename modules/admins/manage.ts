/**
 * Changes of the table of admins. The last owner cannot be removed. The user is locked first: a concurrent request of
 * the same user has either committed or sees the change (bearerAuth.reauthorizeAdmin).
 */
import {
  deleteAdmin,
  findAdmin,
  findAdminRole,
  insertAdmin,
  type ListedAdmin,
  lockOwners,
  updateAdminRole,
} from '../../db/admins/admins.ts'
import { deleteFirstAdminLinks } from '../../db/admins/links.ts'
import type { Trx } from '../../db/core/database.ts'
import { deleteImpersonationsBy } from '../../db/sessions/impersonations.ts'
import { lockUser } from '../../db/users/update-user.ts'
import { type AdminRole, includesRole } from '../../schemas/console/admin-role.ts'
import { adminExists, lastOwner, noSuchAdmin } from '../../schemas/errors.ts'

/** Deletes the links for a first admin. Throws admin_exists. */
export async function addAdmin(
  trx: Trx,
  userId: string,
  role: AdminRole,
  now: Date,
): Promise<ListedAdmin> {
  await lockUser(trx, userId)
  const row = { user_id: userId, role, created_at: now, updated_at: now }
  if (!(await insertAdmin(trx, row))) throw adminExists()
  await deleteFirstAdminLinks(trx)
  return findOrThrow(trx, userId)
}

/** Below operator, the admin may no longer impersonate. Throws admin_not_found and last_owner. */
export async function changeAdminRole(
  trx: Trx,
  userId: string,
  role: AdminRole,
  now: Date,
): Promise<{ before: ListedAdmin; after: ListedAdmin }> {
  await lockUser(trx, userId)
  const before = await findOrThrow(trx, userId)
  if (role !== 'owner') await requireRemainingAdminOwner(trx, userId)
  await updateAdminRole(trx, userId, role, now)
  if (!includesRole(role, 'operator')) await deleteImpersonationsBy(trx, userId)
  return { before, after: await findOrThrow(trx, userId) }
}

/** Removes the role and ends the impersonations; the account remains. Throws admin_not_found and last_owner. */
export async function removeAdmin(trx: Trx, userId: string): Promise<ListedAdmin> {
  await lockUser(trx, userId)
  const before = await findOrThrow(trx, userId)
  await requireRemainingAdminOwner(trx, userId)
  await deleteAdmin(trx, userId)
  await deleteImpersonationsBy(trx, userId)
  return before
}

/** The user must be locked. Throws last_owner when the user is the only owner. */
export async function requireRemainingAdminOwner(trx: Trx, userId: string): Promise<void> {
  if ((await findAdminRole(trx, userId)) !== 'owner') return
  const owners = await lockOwners(trx)
  if (owners.length === 1 && owners[0] === userId) throw lastOwner()
}

async function findOrThrow(trx: Trx, userId: string): Promise<ListedAdmin> {
  const admin = await findAdmin(trx, userId)
  if (!admin) throw noSuchAdmin()
  return admin
}

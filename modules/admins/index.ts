/** Admins: adding, changing and removing them, and the links that create one. */
import { createHash, randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import {
  type AdminLink,
  consumeAdminLink,
  deleteAdmin,
  deleteAdminLinksBy,
  deleteAdminLinksFor,
  findAdmin,
  findAdminLink,
  findAdminRole,
  hasAdmins,
  insertAdmin,
  insertAdminLink,
  type ListedAdmin,
  lockFirstAdmin,
  lockOwners,
  updateAdminRole,
} from '../../db/admins/admins.ts'
import type { Db, Trx } from '../../db/core/database.ts'
import { deleteTokens } from '../../db/tokens/one-time-tokens.ts'
import { lockUser, updateUser, withoutSentTokens } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { type AdminRole, includesRole } from '../../schemas/console/admin-role.ts'
import { adminExists, firstAdminLinkInvalid, lastOwner, noSuchAdmin } from '../../schemas/errors.ts'
import { requireProvenHolder } from '../access/index.ts'
import { type EventWriter, endAccessToOthers, revokeAllSessions } from '../sessions/index.ts'

const lifetimeMs = 24 * 3_600_000

interface NewAdminLink extends AdminLink {
  /** The admin who made it; null for a command. */
  createdBy: string | null
}

/** Creates a link. The token is in the fragment, which browsers do not send to servers. */
export async function createAdminLink(
  { config }: Pick<FastifyInstance, 'config'>,
  db: Db,
  { email, role, createdBy }: NewAdminLink,
  now: Date,
): Promise<{ link: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + lifetimeMs)
  const times = { created_at: now, expires_at: expiresAt }
  const row = { email, role, created_by: createdBy, token_hash: hashToken(token), ...times }
  await insertAdminLink(db, row)
  return { link: `${config.AUTH_API_EXTERNAL_URL}/console#first-admin=${token}`, expiresAt }
}

/** Returns the purpose of a link. Throws first_admin_link_invalid. */
export async function findLink(db: Db, token: string, now: Date): Promise<AdminLink> {
  const link = await findAdminLink(db, hashToken(token), now)
  if (!link || (link.email === null && (await hasAdmins(db)))) throw firstAdminLinkInvalid()
  return link
}

/**
 * Makes the user an admin and consumes the link. Throws first_admin_link_invalid, email_not_confirmed and admin_exists.
 */
export async function redeemLink(
  app: FastifyInstance,
  trx: Trx,
  token: string,
  { user, ownSessionId }: { user: UserRecord; ownSessionId?: string | undefined },
  now: Date,
): Promise<ListedAdmin> {
  await lockFirstAdmin(trx)
  const link = await consumeAdminLink(trx, hashToken(token), now)
  if (!link) throw firstAdminLinkInvalid()
  const isForUser = link.email === null ? !(await hasAdmins(trx)) : link.email === user.email
  if (!isForUser) throw firstAdminLinkInvalid()
  await requireProvenHolder(trx, user, { isNamed: link.email === null })
  return addAdmin(app, trx, { userId: user.id, role: link.role, ownSessionId }, now)
}

const hashToken = (token: string): string => createHash('sha256').update(token).digest('base64url')

// Changes of the table of admins. The last owner cannot be removed. The user is locked first: a concurrent request of
// the same user has either committed or sees the change (bearerAuth.reauthorizeAdmin).

interface NewAdmin {
  userId: string
  role: AdminRole
  /** The session in which the user became an admin. */
  ownSessionId?: string | undefined
}

/**
 * Deletes the links for a first admin and others to this address, and ends the sessions, consents, links and codes of the
 * account: those from before may be of another user, or of a tenant whose identity provider opened the account. The
 * caller checks `hasProvenHolder`. Throws admin_exists.
 */
export async function addAdmin(
  app: Pick<FastifyInstance, 'config'> & EventWriter,
  trx: Trx,
  { userId, role, ownSessionId: except }: NewAdmin,
  now: Date,
): Promise<ListedAdmin> {
  await revokeAllSessions(app, trx, userId, { except }, now)
  await voidSentLinks(trx, userId, now)
  const row = { user_id: userId, role, created_at: now, updated_at: now }
  if (!(await insertAdmin(trx, row))) throw adminExists()
  const added = await findOrThrow(trx, userId)
  await deleteAdminLinksFor(trx, added.email)
  return added
}

/**
 * Voids the links and codes of an account that gets a role on the server, and its pending changes. An operator makes
 * links for every account without a role (POST /admin/generate_link), and would open the new admin's with an earlier one.
 */
export async function voidSentLinks(trx: Trx, userId: string, now: Date): Promise<void> {
  await updateUser(trx, userId, withoutSentTokens, now)
  await deleteTokens(trx, userId)
}

/**
 * Below operator, the admin may no longer impersonate, or open accounts by links. Throws admin_not_found and last_owner.
 */
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
  if (!includesRole(role, 'operator')) await endAccessToOthers(trx, userId)
  if (role !== 'owner') await deleteAdminLinksBy(trx, userId)
  return { before, after: await findOrThrow(trx, userId) }
}

/**
 * Removes the role, and ends the impersonations and the links that the admin made; the account remains. Throws
 * admin_not_found and last_owner.
 */
export async function removeAdmin(trx: Trx, userId: string): Promise<ListedAdmin> {
  await lockUser(trx, userId)
  const before = await findOrThrow(trx, userId)
  await requireRemainingAdminOwner(trx, userId)
  await deleteAdmin(trx, userId)
  await deleteAdminLinksBy(trx, userId)
  await endAccessToOthers(trx, userId)
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

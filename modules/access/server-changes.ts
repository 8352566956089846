/** Changes of the server that decide who signs in: settings, identity providers and signing keys. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { listServerOwners } from '../../db/admins/admins.ts'
import type { Trx } from '../../db/core/database.ts'
import { listOwners } from '../../db/organizations/members.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import { findAdminUser } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import type { Notification } from '../emails/send.ts'
import { reserveOwnQuota } from '../otp/index.ts'

/** Settings of limits and sessions are not among them. */
const decisive = /^AUTH_(SITE_URL|URI_ALLOW_LIST|MAILER_\w+|EXTERNAL_\w+)$/

const once = { count: 1, seconds: 3600 }
type ActingAdmin = Pick<FastifyRequest, 'admin'>

/** Tells the owners about those of the settings that decide who signs in. The caller records the audit entry. */
export async function recordSettings(
  app: FastifyInstance,
  trx: Trx,
  by: ActingAdmin,
  values: Readonly<Record<string, string | null>>,
  now: Date,
): Promise<void> {
  const told = Object.entries(values).filter(([name]) => decisive.test(name))
  if (told.length === 0) return
  const change = told.map(([name]) => name).join(', ')
  await recordServerChange(app, trx, by, { change, details: told }, now)
}

interface ServerChange {
  /** The same in all languages. */
  change: string
  /** What makes it the same change; each is told when absent. */
  details?: unknown
}

/**
 * Tells every owner of the server, once an hour for the same change: a program may apply its configuration again and
 * again. The caller records the audit entry.
 */
export async function recordServerChange(
  app: FastifyInstance,
  trx: Trx,
  { admin }: ActingAdmin,
  { change, details }: ServerChange,
  now: Date,
): Promise<void> {
  if (details !== undefined) {
    const counted = { kind: 'server change', of: JSON.stringify([change, details]) }
    if ((await reserveOwnQuota(app, trx, counted, once, now)) > 0) return
  }
  const account = nameUser(await findAdminUser(trx, admin)) || admin?.role || ''
  const kind = 'server_change_notification'
  const notification = { kind, Account: account, Change: change } as const
  await notifyUsers(app, trx, await listServerOwners(trx), { notification }, now)
}

// The notifications of roles and tokens that give access to the server or to an organization. A repeated one is sent
// once an hour: a role can be given and taken any number of times.

/** Tells the account, and every owner of the server, that it has a role there. The caller records the audit entry. */
export async function recordServerRole(
  app: FastifyInstance,
  trx: Trx,
  { userId, role }: { userId: string; role: string },
  now: Date,
): Promise<void> {
  const user = await findUser(trx, userId)
  const notification = {
    kind: 'admin_role_notification',
    Account: nameUser(user),
    Role: role,
  } as const
  const told = [userId, ...(await listServerOwners(trx))]
  await notifyUsers(app, trx, told, { notification, about: [userId, role] }, now)
}

/** Tells every owner of the server about a new token of a SCIM connection. The caller records the audit entry. */
export async function recordScimToken(
  app: FastifyInstance,
  trx: Trx,
  { name: TokenName, connection: ConnectionName }: { name: string; connection: string },
  now: Date,
): Promise<void> {
  const notification = { kind: 'scim_token_notification', TokenName, ConnectionName } as const
  await notifyUsers(app, trx, await listServerOwners(trx), { notification }, now)
}

/**
 * Tells every owner of the server that an admin changed who receives codes and tokens of an OAuth client. The caller
 * records the audit entry.
 */
export async function recordOauthClient(
  app: FastifyInstance,
  trx: Trx,
  { name: ClientName, change: Change }: { name: string; change: string },
  now: Date,
): Promise<void> {
  const notification = { kind: 'oauth_client_notification', ClientName, Change } as const
  await notifyUsers(app, trx, await listServerOwners(trx), { notification }, now)
}

interface OrganizationRole {
  organization: { id: string; name: string }
  userId: string
  role: string
  /** Who gives it. */
  actorId: string
}

/**
 * Tells an account that existed before that it has a role in an organization, unless its user took it; for the role
 * `owner`, the owners are told as well. The caller records the audit entries.
 */
export async function recordOrganizationRole(
  app: FastifyInstance,
  trx: Trx,
  { organization, userId, role, actorId }: OrganizationRole,
  now: Date,
): Promise<void> {
  const isOwnAct = actorId === userId
  if (isOwnAct && role !== 'owner') return
  const user = await findUser(trx, userId)
  // A directory may provision thousands of accounts at once; their users have yet to sign in for the first time.
  if (!user || user.created_at?.getTime() === now.getTime()) return
  const owners = role === 'owner' ? await listOwners(trx, organization.id) : []
  const told = [userId, ...owners].filter((id) => !isOwnAct || id !== userId)
  const notification = {
    kind: 'organization_role_notification',
    Account: nameUser(user),
    OrganizationName: organization.name,
    Role: role,
  } as const
  // The names of roles are free, so that there is any number of them.
  const isLimited = role !== 'owner'
  const about = [organization.id, userId, role]
  await notifyUsers(app, trx, told, { notification, about, isLimited }, now)
}

/** The user in a notification to others. */
const nameUser = (user: UserRecord | undefined): string =>
  user?.email || user?.phone || user?.id || ''

interface RoleMessage {
  notification: Notification
  /** What makes it a repetition; each is sent when absent. */
  about?: readonly string[]
  /** One recipient gets `maxPerHour` of this kind. */
  isLimited?: boolean
}

const hour = 3600

const maxPerHour = 10

/** Tells each of the users once. */
async function notifyUsers(
  app: FastifyInstance,
  trx: Trx,
  ids: readonly string[],
  { notification, about, isLimited = false }: RoleMessage,
  now: Date,
): Promise<void> {
  const { kind } = notification
  const isWithin = async (of: readonly string[], count: number) => {
    const counted = { kind, of: JSON.stringify(of) }
    return (await reserveOwnQuota(app, trx, counted, { count, seconds: hour }, now)) === 0
  }
  // In one order, as the counters are locked.
  for (const id of [...new Set(ids)].toSorted()) {
    if (about && !(await isWithin([id, ...about], 1))) continue
    if (isLimited && !(await isWithin([id], maxPerHour))) continue
    const user = await findUser(trx, id)
    if (user) await notifyUser(app, trx, user, notification, now)
  }
}

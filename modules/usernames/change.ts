/** Setting and changing the username of a user. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import {
  clearPreferredUsername,
  deleteReplaceable,
  findUsername,
  insertUsername,
  releaseUsername,
  setPreferredUsername,
  type Username,
} from '../../db/usernames/usernames.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { usernameChangedRecently, usernameTaken } from '../../schemas/errors.ts'
import { hasConfirmedIdentifier, recordAccess } from '../access/index.ts'
import type { AuditContext } from '../audit/index.ts'
import { countName } from './sign-up.ts'

/** When the user may choose another name; undefined when they may now. */
export function nextUsernameChange(
  { config }: FastifyInstance,
  present: { assigned_at: Date } | undefined,
  now: Date,
): Date | undefined {
  if (!present) return undefined
  const next = present.assigned_at.getTime() + config.AUTH_USERNAMES_CHANGE_INTERVAL * 1000
  return next > now.getTime() ? new Date(next) : undefined
}

/**
 * The user must be locked. The earlier name is held: no other user can take it for a while. Throws
 * username_changed_recently and username_taken.
 */
export async function changeUsername(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  name: Username,
  { ip, network, now }: AuditContext & { network: string },
): Promise<void> {
  const present = await findUsername(trx, user.id)
  if (present?.username === name.username) return
  const next = nextUsernameChange(app, present, now)
  if (next) throw usernameChangedRecently(Math.ceil((next.getTime() - now.getTime()) / 1000))
  const isVerified = await hasConfirmedIdentifier(trx, user)
  const counted = isVerified ? null : await countName(app, trx, network, now)
  await replaceUsername(app, trx, user.id, { ...name, network: counted, by_admin: false }, now)
  await recordAccess(app, trx, { user, grant: { kind: 'username', ...name, ip } }, now)
}

/** The same for an admin: without minimum interval and audit record. Throws username_taken. */
export async function assignUsername(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  name: Username,
  now: Date,
): Promise<void> {
  await replaceUsername(app, trx, userId, { ...name, network: null, by_admin: true }, now)
}

interface ChosenUsername extends Username {
  network: string | null
  by_admin: boolean
}

async function replaceUsername(
  { config }: FastifyInstance,
  trx: Trx,
  userId: string,
  name: ChosenUsername,
  now: Date,
): Promise<void> {
  const present = await findUsername(trx, userId)
  if (present?.username === name.username) return
  const heldUntil = new Date(now.getTime() + config.AUTH_USERNAMES_HOLD * 1000)
  // A name with the same skeleton as the new one is held by the new name itself.
  const isHeld = present && present.skeleton !== name.skeleton
  if (present) await releaseUsername(trx, userId, isHeld ? heldUntil : undefined)
  await deleteReplaceable(trx, name, userId, now)
  if (!(await insertUsername(trx, { ...name, user_id: userId, assigned_at: now }))) {
    throw usernameTaken()
  }
  await setPreferredUsername(trx, userId, name.username, now)
}

/** The name is available immediately. */
export async function removeUsername(trx: Trx, userId: string, now: Date): Promise<void> {
  await releaseUsername(trx, userId)
  await clearPreferredUsername(trx, userId, now)
}

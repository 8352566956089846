/**
 * Accounts that an operator prepared. An operator sets credentials and addresses of every account without a role, and
 * would have those of an owner when an owner gives a role to such an account. So it needs its holder first, or an owner
 * who confirms the address.
 */
import type { FastifyRequest } from 'fastify'

import {
  deletePreparedAccount,
  insertPreparedAccounts,
  isPreparedAccount,
} from '../../db/admins/admins.ts'
import type { Db, Trx } from '../../db/core/database.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { hasProvenHolder, hasProvenIdentifier } from './confirmed-address.ts'

type ActingAdmin = Pick<FastifyRequest, 'adminRole'>

interface AdminChange {
  /** Undefined for a new account. */
  before: UserRecord | undefined
  after: UserRecord
  /** The admin states that the address or number is the holder's. */
  isStatement?: boolean
}

/**
 * After a change of an account by an admin, or a link that an admin got for it. What an operator does to an account
 * with a proven holder is told to the holder, unless it gives the account another address.
 */
export async function recordPreparation(
  trx: Trx,
  { adminRole }: ActingAdmin,
  { before, after, isStatement = false }: AdminChange,
  now: Date,
): Promise<void> {
  if (adminRole === 'owner') {
    if (isStatement) await deletePreparedAccount(trx, after.id)
    return
  }
  const keepsHolder = before && describe(before) === describe(after)
  if (keepsHolder && (await hasProvenHolder(trx, before, { isNamed: false }))) return
  await insertPreparedAccounts(trx, [after.id], now)
}

const describe = ({ email, phone, email_confirmed_at, phone_confirmed_at }: UserRecord): string =>
  JSON.stringify([email, phone, email_confirmed_at !== null, phone_confirmed_at !== null])

/** After an import by an admin. */
export async function recordPreparedImport(
  trx: Trx,
  { adminRole }: ActingAdmin,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  if (adminRole !== 'owner') await insertPreparedAccounts(trx, userIds, now)
}

/**
 * Whether the holder of the address may claim the account by a one-time link: no identifier of it was proven, or an
 * operator prepared it. Nothing that was set before remains then.
 */
export async function isClaimable(db: Db, user: UserRecord): Promise<boolean> {
  return (await isPreparedAccount(db, user.id)) || !(await hasProvenIdentifier(db, user))
}

/** The holder has claimed the account, and everything that was set before is removed. */
export const recordClaim = (trx: Trx, userId: string): Promise<void> =>
  deletePreparedAccount(trx, userId)

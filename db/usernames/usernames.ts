/** Usernames. A name is taken while it is assigned, held or reserved, and so is every name with the same skeleton. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { executePipelined, executeStatement, type ParamOf, queryOne } from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'

/** A name in its canonical form. */
export interface Username {
  username: string
  skeleton: string
}

interface AssignedUsername extends Username {
  assigned_at: Date
}

const current = queryOne((db, value: ParamOf<{ userId: string }>) =>
  db
    .selectFrom('postern_usernames')
    .select(['username', 'skeleton', 'assigned_at'])
    .where('user_id', '=', value('userId'))
    .where('expires_at', 'is', null),
)

/** Returns the username of the user. */
export function findUsername(db: Db, userId: string): Promise<AssignedUsername | undefined> {
  return current(db, { userId })
}

const owner = queryOne((db, value: ParamOf<{ username: string; aud: string }>) =>
  db
    .selectFrom('postern_usernames')
    .innerJoin('users', 'users.id', 'postern_usernames.user_id')
    .select(['users.id', 'users.email', 'users.email_confirmed_at'])
    .select(['users.phone', 'users.phone_confirmed_at'])
    .where('postern_usernames.username', '=', value('username'))
    .where('postern_usernames.expires_at', 'is', null)
    .where('users.aud', '=', value('aud'))
    .where('users.is_sso_user', '=', sql.lit(false)),
)

/** Returns the identifiers of the user with this username. */
export function findUsernameOwner(db: Db, username: string, aud: string) {
  return owner(db, { username, aud })
}

/** Whether no other user has, holds or reserved the name or one with the same skeleton. */
export async function isUsernameFree(
  db: Db,
  { username, skeleton }: Username,
  userId: string | null,
  now: Date,
): Promise<boolean> {
  const other = await db
    .selectFrom('postern_usernames')
    .select('username')
    .where((eb) => eb.or([eb('username', '=', username), eb('skeleton', '=', skeleton)]))
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .$if(userId !== null, (qb) => qb.where(sql<boolean>`user_id is distinct from ${userId}::uuid`))
    .executeTakeFirst()
  return other === undefined
}

/** Deletes expired rows of this name, and names with the same skeleton that the user held. */
export async function deleteReplaceable(
  trx: Trx,
  { username, skeleton }: Username,
  userId: string | null,
  now: Date,
): Promise<void> {
  await trx
    .deleteFrom('postern_usernames')
    .where((eb) => eb.or([eb('username', '=', username), eb('skeleton', '=', skeleton)]))
    .where((eb) => eb.or([eb('expires_at', '<=', now), eb('user_id', '=', userId)]))
    .where('expires_at', 'is not', null)
    .execute()
}

/** Deletes the reservation of an address. */
export async function deleteReservation(trx: Trx, reservedFor: string): Promise<void> {
  await trx.deleteFrom('postern_usernames').where('reserved_for', '=', reservedFor).execute()
}

type NewUsername = Username & { assigned_at: Date; network?: string | null; by_admin?: boolean } & (
    | { user_id: string }
    | { reserved_for: string; expires_at: Date }
  )

/** Returns false when the name or one with the same skeleton is taken. */
export async function insertUsername(trx: Trx, row: NewUsername): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('postern_usernames')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Ends the assignment: the name is held for its user until then, or available immediately. */
export async function releaseUsername(trx: Trx, userId: string, until?: Date): Promise<void> {
  if (until) {
    await trx
      .updateTable('postern_usernames')
      .set({ expires_at: until })
      .where('user_id', '=', userId)
      .where('expires_at', 'is', null)
      .execute()
    return
  }
  await trx
    .deleteFrom('postern_usernames')
    .where('user_id', '=', userId)
    .where('expires_at', 'is', null)
    .execute()
}

/** Counts the names that clients of the network chose since then and whose users are not verified. */
export function countUnverifiedUsernames(trx: Trx, network: string, since: Date) {
  return trx
    .selectFrom('postern_usernames')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('assigned_at').as('oldest')])
    .where('network', '=', network)
    .where('assigned_at', '>', since)
    .executeTakeFirstOrThrow()
}

interface Claim {
  userId: string
  reservedFor: string
  isVerified: boolean
  now: Date
}

const claim = executeStatement((db, value: ParamOf<Claim>) =>
  db
    .with('claimed', (eb) =>
      eb
        .updateTable('postern_usernames')
        .set({
          user_id: value('userId'),
          reserved_for: null,
          expires_at: null,
          assigned_at: value('now'),
          network: sql`case when ${value('isVerified')}::boolean then null else network end`,
        })
        .where('reserved_for', '=', value('reservedFor'))
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('users')
              .select('users.id')
              .where('users.id', '=', value('userId'))
              .where('encrypted_password', '<>', sql.lit('')),
          ),
        )
        .where('expires_at', '>', value('now'))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('postern_usernames as present')
                .select('present.username')
                .where('present.user_id', '=', value('userId'))
                .where('present.expires_at', 'is', null),
            ),
          ),
        )
        .returning('postern_usernames.username'),
    )
    .updateTable('users')
    .from('claimed')
    .set({ raw_app_meta_data: withUsername(sql`claimed.username`) })
    .where('users.id', '=', value('userId')),
)

/**
 * Assigns the name that a sign-up reserved for the address, unless the user has a name. Only with the password of the
 * sign-up: it is removed when another user may have signed up with the address.
 */
export async function claimReservedUsername(trx: Trx, claimed: Claim): Promise<void> {
  await claim(trx, claimed)
}

const clear = executePipelined((db, value: ParamOf<{ userId: string; now: Date }>) =>
  db
    .with('cleared', (eb) =>
      eb
        .deleteFrom('postern_usernames')
        .where('user_id', '=', value('userId'))
        .where('expires_at', 'is', null)
        .where('by_admin', '=', sql.lit(false))
        .returning('user_id'),
    )
    .updateTable('users')
    .from('cleared')
    .set({ raw_app_meta_data: withoutUsername(), updated_at: value('now') })
    .whereRef('users.id', '=', 'cleared.user_id'),
)

/** Removes a name that was chosen before the user's address was verified. An admin's stays. */
export async function clearUnverifiedUsername(trx: Trx, userId: string, now: Date): Promise<void> {
  await clear(trx, { userId, now })
}

/** Copies the name to the user's app_metadata, from which tokens take it without another look-up. */
export async function setPreferredUsername(
  trx: Trx,
  userId: string,
  username: string,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ raw_app_meta_data: withUsername(sql`${username}::text`), updated_at: now })
    .where('id', '=', userId)
    .execute()
}

export async function clearPreferredUsername(trx: Trx, userId: string, now: Date): Promise<void> {
  await trx
    .updateTable('users')
    .set({
      raw_app_meta_data: withoutUsername(),
      updated_at: now,
    })
    .where('id', '=', userId)
    .execute()
}

function withoutUsername() {
  return sql<string>`${storedObject(sql`raw_app_meta_data`)} - 'preferred_username'`
}

function withUsername(username: ReturnType<typeof sql>) {
  return sql<string>`${storedObject(sql`raw_app_meta_data`)}
    || jsonb_build_object('preferred_username', ${username})`
}

/** Deletes names that were held or reserved. */
export function deleteExpiredUsernames(db: Db, expiredBefore: Date, limit: number) {
  const old = db
    .selectFrom('postern_usernames')
    .select('username')
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
  return count(db.deleteFrom('postern_usernames').where('username', '=', whereChosen(old, limit)))
}

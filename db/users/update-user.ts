/** Updates, locks and deletes a user's row. */
import { type Expression, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { lockEach, selectEachId } from '../core/requested-ids.ts'
import {
  bindParams,
  executePipelined,
  executeStatement,
  listChangedKeys,
  type ParamOf,
  queryVariants,
} from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'
import type { UserRow } from './users.ts'

/** Columns a caller may set; metadata is merged by `mergeMetadata`. */
export type UserChange = Partial<
  Omit<UserRow, 'id' | 'confirmed_at' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'created_at'>
>

/** Cancels pending changes of email and phone: their tokens cannot be verified any more. */
export const withoutPendingChanges = {
  email_change: '',
  email_change_confirm_status: 0,
  phone_change: '',
} satisfies UserChange

/** What a new password invalidates: pending changes, and links and codes that were sent. */
export const withoutSentTokens = {
  ...withoutPendingChanges,
  confirmation_sent_at: null,
  recovery_sent_at: null,
  email_change_sent_at: null,
  phone_change_sent_at: null,
  reauthentication_sent_at: null,
} satisfies UserChange

type ChangedValues = UserChange & { key: string; now: Date }

const change = (db: Db, value: ParamOf<ChangedValues>, names: readonly (keyof UserChange)[]) =>
  db
    .updateTable('users')
    .set({ ...bindParams(value, names), updated_at: value('now') })
    .where('id', '=', value('key'))

const updateColumns = queryVariants((names: readonly (keyof UserChange)[]) =>
  executeStatement((db, value: ParamOf<ChangedValues>) => change(db, value, names)),
)

export async function updateUser(db: Db, id: string, change: UserChange, now: Date): Promise<void> {
  await updateColumns(listChangedKeys(change))(db, { ...change, key: id, now })
}

/** Timestamps only, which no constraint can reject. */
export type UserTimes = Pick<UserChange, 'confirmation_sent_at' | 'recovery_sent_at' | 'invited_at'>

const recordTimes = queryVariants((names: readonly (keyof UserTimes)[]) =>
  executePipelined((db, value: ParamOf<ChangedValues>) => change(db, value, names)),
)

/** Not awaited inside a transaction. */
export async function updateUserTimestamps(db: Db, id: string, times: UserTimes, now: Date) {
  await recordTimes(listChangedKeys(times))(db, { ...times, key: id, now })
}

const lockById = executePipelined((db, value: ParamOf<{ id: string }>) =>
  db.selectFrom('users').select('id').where('id', '=', value('id')).forUpdate(),
)

/**
 * Locks the row until the transaction ends, which serializes requests about one user. The lock is held when the next
 * statement runs.
 */
export async function lockUser(db: Db, id: string): Promise<void> {
  await lockById(db, { id })
}

/**
 * A CTE that locks the user before other rows of the user: a deletion locks the user first and then its rows in another
 * order, so that the two could deadlock.
 */
export function lockUserShared(db: Pick<Db, 'selectFrom'>, id: Expression<string>) {
  return db.selectFrom('users').select('users.id').where('users.id', '=', id).forKeyShare()
}

const lockAll = executePipelined((db, value: ParamOf<{ ids: readonly string[] }>) =>
  lockEach(
    db,
    selectEachId(db, value('ids')).select('id').distinct().orderBy('id').as('requested'),
  ),
)

/** Locks several users in one order, so that transactions cannot deadlock. */
export async function lockUsers(db: Db, ids: readonly string[]): Promise<void> {
  await lockAll(db, { ids })
}

const deleteById = executeStatement((db, value: ParamOf<{ id: string }>) =>
  db.deleteFrom('users').where('id', '=', value('id')),
)

export async function deleteUser(db: Db, id: string): Promise<boolean> {
  return (await deleteById(db, { id })) > 0
}

/** Checks deferred constraints now, so that a violation is an error of the previous change and not of the commit. */
export async function checkDeferredConstraints(trx: Trx): Promise<void> {
  await sql`set constraints all immediate`.execute(trx)
}

/** Sets app_metadata.provider and .providers from the identities, oldest first. */
export async function recomputeProviders(db: Db, userId: string, now: Date): Promise<void> {
  await db
    .with('listed', (eb) =>
      eb
        .selectFrom('identities')
        .select((select) => ['provider', select.fn.min('created_at').as('first')])
        .where('user_id', '=', userId)
        .groupBy('provider'),
    )
    .updateTable('users')
    .set((eb) => ({
      updated_at: now,
      raw_app_meta_data: sql<string>`${storedObject(sql`raw_app_meta_data`)} || ${eb
        .selectFrom('listed')
        .select(
          sql`jsonb_build_object('provider', (array_agg(provider order by first))[1], 'providers', jsonb_agg(provider order by first))`.as(
            'meta',
          ),
        )}`,
    }))
    .where('id', '=', userId)
    .where((eb) => eb.exists(eb.selectFrom('listed').select('provider')))
    .execute()
}

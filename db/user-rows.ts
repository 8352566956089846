/** Changing, locking and removing a person's row. */
import type { Expression } from 'kysely'

import type { Db } from './database.ts'
import {
  namesIn,
  preparedFor,
  preparedUnawaited,
  preparedWrite,
  type ValueOf,
  valuesOf,
} from './prepared-statement.ts'
import type { UserRow } from './users.ts'
import { eachOf, lockEach } from './wanted-ids.ts'

/** Columns a caller may set; metadata is merged by `mergeMetadata`, never set here. */
export type UserChange = Partial<
  Omit<UserRow, 'id' | 'confirmed_at' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'created_at'>
>

/** Changes of address or number that wait for their proof are given up: nobody can ask for that proof once more. */
export const withoutPendingChanges = {
  email_change: '',
  email_change_confirm_status: 0,
  phone_change: '',
} satisfies UserChange

type ChangedValues = UserChange & { key: string; now: Date }

const change = (db: Db, value: ValueOf<ChangedValues>, names: readonly (keyof UserChange)[]) =>
  db
    .updateTable('users')
    .set({ ...valuesOf(value, names), updated_at: value('now') })
    .where('id', '=', value('key'))

const updateColumns = preparedFor((names: readonly (keyof UserChange)[]) =>
  preparedWrite((db, value: ValueOf<ChangedValues>) => change(db, value, names)),
)

export async function updateUser(db: Db, id: string, change: UserChange, now: Date): Promise<void> {
  await updateColumns(namesIn(change))(db, { ...change, key: id, now })
}

/** Times, which nothing can refuse. */
export type UserTimes = Pick<UserChange, 'confirmation_sent_at' | 'recovery_sent_at' | 'invited_at'>

const noteTimes = preparedFor((names: readonly (keyof UserTimes)[]) =>
  preparedUnawaited((db, value: ValueOf<ChangedValues>) => change(db, value, names)),
)

/** Nobody waits for it inside a transaction. */
export async function noteUserTimes(db: Db, id: string, times: UserTimes, now: Date) {
  await noteTimes(namesIn(times))(db, { ...times, key: id, now })
}

const lockById = preparedUnawaited((db, value: ValueOf<{ id: string }>) =>
  db.selectFrom('users').select('id').where('id', '=', value('id')).forUpdate(),
)

/**
 * Locks the row until the transaction ends, so that two requests about one person take turns. The lock is there when the
 * next statement runs.
 */
export async function lockUser(db: Db, id: string): Promise<void> {
  await lockById(db, { id })
}

/**
 * The beginning of a statement that takes rows of a person: whoever deletes the person holds them first, and then takes
 * these rows in another order, so that the two would wait for each other.
 */
export function holdUser(db: Pick<Db, 'selectFrom'>, id: Expression<string>) {
  return db.selectFrom('users').select('users.id').where('users.id', '=', id).forKeyShare()
}

const lockAll = preparedUnawaited((db, value: ValueOf<{ ids: readonly string[] }>) =>
  lockEach(db, eachOf(db, value('ids')).select('id').distinct().orderBy('id').as('wanted')),
)

/** Locks several at once, always in one order, so that no two requests wait for each other. */
export async function lockUsers(db: Db, ids: readonly string[]): Promise<void> {
  await lockAll(db, { ids })
}

const deleteById = preparedWrite((db, value: ValueOf<{ id: string }>) =>
  db.deleteFrom('users').where('id', '=', value('id')),
)

export async function deleteUser(db: Db, id: string): Promise<boolean> {
  return (await deleteById(db, { id })) > 0
}

/** Whether a GoTrue reads this database, too, and the end of that in either direction. */
import { sql } from 'kysely'

import type { Db, Trx } from './database.ts'
import { limitLockWaits } from './lock-waits.ts'

export interface TakeoverTable {
  only_row: boolean
  state: TakeoverState
  began_at: Date
  finished_at: Date | null
}

/** 'shared' while a GoTrue may come back; 'own' where none was, or none is wanted any more. */
export type TakeoverState = 'shared' | 'own'

export async function findTakeover(
  db: Db,
): Promise<Pick<TakeoverTable, 'state' | 'began_at' | 'finished_at'>> {
  return db
    .selectFrom('postern_takeover')
    .select(['state', 'began_at', 'finished_at'])
    .executeTakeFirstOrThrow()
}

/** No way back is wanted: typed codes are no longer where GoTrue would look for them. */
export async function finishTakeover(db: Db): Promise<void> {
  await db.updateTable('postern_takeover').set({ state: 'own', finished_at: sql`now()` }).execute()
  await db
    // In the order of lockUsers.
    .with('held', (eb) =>
      eb
        .selectFrom('users')
        .select('users.id')
        .where(
          sql<boolean>`concat(confirmation_token, recovery_token, reauthentication_token,
            email_change_token_new, email_change_token_current, phone_change_token) <> ''`,
        )
        .orderBy('users.id')
        .forNoKeyUpdate(),
    )
    .updateTable('users')
    .from('held')
    .set({
      confirmation_token: '',
      recovery_token: '',
      reauthentication_token: '',
      email_change_token_new: '',
      email_change_token_current: '',
      phone_change_token: '',
    })
    .whereRef('users.id', '=', 'held.id')
    .execute()
}

/** Sessions in which an admin acts in the place of a person: without our tables nothing would tell them apart. */
export async function deleteImpersonatedSessions(db: Db): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('id', 'in', (eb) => eb.selectFrom('postern_impersonations').select('session_id'))
    .execute()
}

/** Everything of ours: tables, indexes on GoTrue's tables, the queue. What is in GoTrue's tables stays. */
export async function dropOwnObjects(trx: Trx, schema: string, queueSchema: string): Promise<void> {
  await limitLockWaits(trx, { longestMs: 5_000 })
  await sql`drop schema if exists ${sql.id(queueSchema)} cascade`.execute(trx)
  const { rows } = await sql<{ kind: string; name: string }>`
    select relkind as kind, relname as name from pg_class
    where relnamespace = to_regnamespace(quote_ident(${schema})) and relname like 'postern\\_%'
      and relkind in ('r', 'i') order by relkind desc
  `.execute(trx)
  for (const { name } of rows.filter(({ kind }) => kind === 'r')) {
    await sql`drop table ${sql.id(schema, name)} cascade`.execute(trx)
  }
  for (const { name } of rows.filter(({ kind }) => kind === 'i')) {
    await sql`drop index if exists ${sql.id(schema, name)}`.execute(trx)
  }
}

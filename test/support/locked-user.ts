/** Requests that wait for each other in order of arrival. */
import { setTimeout as delay } from 'node:timers/promises'

import type { App } from './server.ts'

/** Locks the user’s row until `release`; requests for it queue. */
export function lockUserRow({ pool }: Pick<App, 'pool'>, id: string) {
  return lockRows(pool, 'select from auth.users where id = $1 for update', [id])
}

/** Deletes a user like the server: sessions immediately and the rest on `release`; requests queue. */
export async function pauseDeletion({ pool }: Pick<App, 'pool'>, id: string) {
  const lock = await lockRows(pool, 'select from auth.users where id = $1 for update', [id])
  await lock.query('delete from auth.sessions where user_id = $1', [id])
  const release = async () => {
    await lock.query('delete from auth.users where id = $1', [id])
    await lock.release()
  }
  return { ...lock, release }
}

/** Locks the session’s row until `release`, like a revocation. */
export function lockSessionShared({ pool }: Pick<App, 'pool'>, id: string) {
  return lockRows(pool, 'select from auth.sessions where id = $1 for update', [id])
}

/** Deletes a session in a transaction that ends with `release`; requests that need the session wait in line. */
export function pauseRevocation({ pool }: Pick<App, 'pool'>, id: string) {
  return lockRows(pool, 'delete from auth.sessions where id = $1', [id])
}

/** Locks the signing keys until `release`; changes of them queue. */
export function lockKeys({ pool }: Pick<App, 'pool'>) {
  const lock = `select pg_advisory_xact_lock(hashtextextended('postern_signing_keys', 0))`
  return lockRows(pool, lock, [])
}

/** Locks the rows of the statement until `release`. */
export async function lockRows(pool: App['pool'], lock: string, values: string[]) {
  const client = await pool.connect()
  await client.query('begin')
  await client.query(lock, values)

  return {
    /** Runs one more statement in the locking transaction. */
    query: (text: string, values: string[]) => client.query(text, values),

    /** Sends a request and returns it once it is the `place`th in the queue, or got its response without waiting. */
    async queue<T>(place: number, send: () => PromiseLike<T>): Promise<{ response: Promise<T> }> {
      let isSettled = false
      const response = Promise.resolve(send()).finally(() => {
        isSettled = true
      })
      while (!isSettled && (await countWaiting()) < place) await delay(5)
      return { response: response }
    },

    async release(): Promise<void> {
      await client.query('commit')
      client.release()
    },
  }

  async function countWaiting(): Promise<number> {
    // Not by the locking client: a transaction sees one state of this view until it ends.
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows[0]?.count ?? 0
  }
}

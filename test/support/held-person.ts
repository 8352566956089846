/** Requests that are made to wait for each other, in the order in which they come. */
import { setTimeout as delay } from 'node:timers/promises'

import type { App } from './server.ts'

/** Holds the person's row until `release`; requests that want it wait in line. */
export function holdPerson({ pool }: Pick<App, 'pool'>, id: string) {
  return hold(pool, 'select from auth.users where id = $1 for update', [id])
}

/** Deletes a person as the server does, their sessions at once and the rest with `release`; requests wait in line. */
export async function holdDeletion({ pool }: Pick<App, 'pool'>, id: string) {
  const held = await hold(pool, 'select from auth.users where id = $1 for update', [id])
  await held.query('delete from auth.sessions where user_id = $1', [id])
  const release = async () => {
    await held.query('delete from auth.users where id = $1', [id])
    await held.release()
  }
  return { ...held, release }
}

/** Holds the session's row until `release`, as whoever is about to end it. */
export function holdSession({ pool }: Pick<App, 'pool'>, id: string) {
  return hold(pool, 'select from auth.sessions where id = $1 for update', [id])
}

/** Deletes a session in a transaction that ends with `release`; requests that need the session wait in line. */
export function holdEndOfSession({ pool }: Pick<App, 'pool'>, id: string) {
  return hold(pool, 'delete from auth.sessions where id = $1', [id])
}

/** Holds the signing keys until `release`; whoever wants to change them waits in line. */
export function holdKeys({ pool }: Pick<App, 'pool'>) {
  const lock = `select pg_advisory_xact_lock(hashtextextended('postern_signing_keys', 0))`
  return hold(pool, lock, [])
}

/** Holds the rows that the statement locks until `release`. */
export async function hold(pool: App['pool'], lock: string, values: string[]) {
  const client = await pool.connect()
  await client.query('begin')
  await client.query(lock, values)

  return {
    /** One more statement of whoever holds. */
    query: (text: string, values: string[]) => client.query(text, values),

    /** Sends a request and returns it, once it waits as the `place`th in the line, or was answered without waiting. */
    async queue<Answer>(
      place: number,
      send: () => PromiseLike<Answer>,
    ): Promise<{ answer: Promise<Answer> }> {
      let isAnswered = false
      const answer = Promise.resolve(send()).finally(() => {
        isAnswered = true
      })
      while (!isAnswered && (await countWaiting()) < place) await delay(5)
      return { answer }
    },

    async release(): Promise<void> {
      await client.query('commit')
      client.release()
    },
  }

  async function countWaiting(): Promise<number> {
    // Not by the client that holds it: a transaction sees one state of this view until it ends.
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows[0]?.count ?? 0
  }
}

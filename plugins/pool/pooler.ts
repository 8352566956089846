/** Which process of Postgres serves a connection, and whether a pooler stands between. */
import type pg from 'pg'

/** The number that was given with the connection, as it has for `pg_backend_pid()`; undefined before it is made. */
export function backendOf(client: pg.ClientBase): number | undefined {
  const id = 'processID' in client ? client.processID : undefined
  return typeof id === 'number' ? id : undefined
}

/** A pooler has given the connection a number of its own, and may give it to somebody else after each transaction. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return backendOf(client) !== rows[0]?.pid
}

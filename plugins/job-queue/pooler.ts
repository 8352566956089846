/** Whether a pooler stands between us and Postgres, and may give a connection to somebody else after each transaction. */
import type pg from 'pg'

/** It has given the connection a process id of its own. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return !('processID' in client) || client.processID !== rows[0]?.pid
}

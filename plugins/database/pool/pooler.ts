/** The Postgres process behind a connection, and whether a pooler is in between. */
import type pg from 'pg'

/** The backend process id from the connection handshake; undefined before the connection is established. */
export function getBackendId(client: pg.ClientBase): number | undefined {
  const id = 'processID' in client ? client.processID : undefined
  return typeof id === 'number' ? id : undefined
}

/** A pooler assigns its own process id, and may give the server connection to another client after each transaction. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return getBackendId(client) !== rows[0]?.pid
}

import pg from 'pg'

import { getBackendId } from '../pool/pooler.ts'

/** A server that takes longer does not respond, and the statement waits for more than a lock. */
const maxWaitMs = 1_000

/** The code of a CancelRequest (PostgreSQL, Frontend/Backend Protocol, Message Formats). */
const cancelRequestCode = 80_877_102

/**
 * Cancels the statement that runs on this connection with a CancelRequest, which poolers forward. pg_cancel_backend would
 * take a pooler's process id for one of Postgres. Resolves when the request was sent, or cannot be sent.
 */
export async function cancelStatement(
  options: pg.ClientConfig,
  client: pg.ClientBase,
): Promise<void> {
  const request = cancelRequest(client)
  if (!request) return
  // New connections may lead to another server than the one that runs the statement.
  const { host, port, ssl } = client instanceof pg.Client ? client : {}
  const messenger = new pg.Client({
    ...options,
    ...(host !== undefined && { connectionString: undefined, host, port, ssl }),
    connectionTimeoutMillis: maxWaitMs,
  })
  const { connection } = messenger
  Object.assign(connection, { startup: () => connection.stream.write(request) })
  // The server closes the connection without a response, which pg reports as a failure to connect.
  await messenger.connect().catch(() => {})
}

/** Undefined for a connection that was never established. */
function cancelRequest(client: pg.ClientBase): Buffer | undefined {
  const processId = getBackendId(client)
  const secret = 'secretKey' in client ? client.secretKey : undefined
  if (processId === undefined || typeof secret !== 'number') return undefined
  const request = Buffer.alloc(16)
  const words = [request.length, cancelRequestCode, processId, secret]
  for (const [index, word] of words.entries()) request.writeInt32BE(word, index * 4)
  return request
}

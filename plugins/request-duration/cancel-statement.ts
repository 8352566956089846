import pg from 'pg'

import { backendOf } from '../pool/pooler.ts'

/** A server that takes longer is not there, and the statement is held up by more than a lock. */
const longestMs = 1_000

/** Of the message that takes the place of a greeting (PostgreSQL's frontend/backend protocol, CancelRequest). */
const cancelRequestCode = 80_877_102

/**
 * Has the statement stopped that runs on this connection, by the way that poolers hand on: with pg_cancel_backend, the
 * number that a pooler gave would be taken for one of Postgres. Resolves when that was done, or cannot be done.
 */
export async function cancelStatement(
  options: pg.ClientConfig,
  client: pg.ClientBase,
): Promise<void> {
  const request = cancelRequest(client)
  if (!request) return
  const messenger = new pg.Client({ ...options, connectionTimeoutMillis: longestMs })
  const { connection } = messenger
  Object.assign(connection, { startup: () => connection.stream.write(request) })
  // The server closes the connection without a word when it has done it, which is a failure to connect.
  await messenger.connect().catch(() => {})
}

/** Undefined for a connection that was never made. */
function cancelRequest(client: pg.ClientBase): Buffer | undefined {
  const processId = backendOf(client)
  const secret = 'secretKey' in client ? client.secretKey : undefined
  if (processId === undefined || typeof secret !== 'number') return undefined
  const request = Buffer.alloc(16)
  const words = [request.length, cancelRequestCode, processId, secret]
  for (const [index, word] of words.entries()) request.writeInt32BE(word, index * 4)
  return request
}

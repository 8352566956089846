/** Servers of tests, each on a port of this machine that was free. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:net'

import type { Ending } from './ending.ts'

/** Listens. The port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return listeningPort(server)
}

/** Listens until the test or the suite ends, closing open connections then. Returns the port. */
export async function serve(
  t: Ending,
  server: Server & { closeAllConnections(): void },
): Promise<number> {
  const port = await listen(server)
  t.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  return port
}

export function listeningPort(server: Server): number {
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object', 'the server does not listen')
  return address.port
}

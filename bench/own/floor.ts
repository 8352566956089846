/** The baseline of a run: floor-server.ts with the measured database. */
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort, loopReporter, type RunningServer, startServer } from './child.ts'

export async function startBaseline(
  started: AsyncDisposableStack,
  databaseUrl: string,
): Promise<RunningServer> {
  const port = await freePort()
  const logFile = join(tmpdir(), `postern-floor-${port}.log`)
  started.defer(() => rm(logFile, { force: true }))
  const program = {
    program: [join(import.meta.dirname, '../floor-server.ts')],
    nodeOptions: ['--import', loopReporter],
    logFile,
    healthPath: '/users/',
  }
  return startServer(started, program, { DATABASE_URL: databaseUrl, PORT: String(port) })
}

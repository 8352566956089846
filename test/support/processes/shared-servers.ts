/** One server per configuration of a suite, closed when the suite ends. */
import { cloneDatabase, type TestDatabase, withoutDrop } from '../database.ts'
import { externalServer } from '../external.ts'
import { type BuildOptions, build } from '../server.ts'
import { type Ending, endingOfSuite } from './ending.ts'

/** Called in a suite; its tests request their servers. */
export const sharedServers = () => shareServers(build)

/**
 * The same on one database, which costs less. Its jobs are handled by any of the servers: for tests that wait for no
 * queued mail or webhook, and read nothing that other tests wrote.
 */
export function serversOnOneDatabase() {
  let shared: Promise<TestDatabase> | undefined
  return shareServers(async (ending, { env = {} }) => {
    shared ??= cloneDatabase(ending)
    return build(ending, { env, database: withoutDrop(await shared) })
  })
}

/** The same with GitHub and GitLab, whose responses each test sets. */
export const sharedExternalServers = () => shareServers(externalServer)

/** Called in a suite: opens a server for each configuration that its tests request. */
export function shareServers<Server>(
  open: (ending: Ending, options: BuildOptions) => Promise<Server>,
) {
  const servers = new Map<string, Promise<Server>>()
  const ending = endingOfSuite()
  return (env: NonNullable<BuildOptions['env']> = {}) => {
    const key = JSON.stringify(env)
    const server = servers.get(key) ?? open(ending, { env })
    servers.set(key, server)
    return server
  }
}

/** One server for each configuration that a suite asks for, closed when the suite ends. */
import { endingOfSuite } from './ending.ts'
import { type BuildOptions, build } from './server.ts'

/** Called in a suite; the tests of the suite ask for their servers. */
export function sharedServers() {
  const servers = new Map<string, ReturnType<typeof build>>()
  const ending = endingOfSuite()
  return (env: NonNullable<BuildOptions['env']> = {}) => {
    const key = JSON.stringify(env)
    const server = servers.get(key) ?? build(ending, { env })
    servers.set(key, server)
    return server
  }
}

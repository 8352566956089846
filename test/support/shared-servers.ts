/** One server for each configuration that a suite asks for, closed when the suite ends. */
import { type Ending, endingOfSuite } from './ending.ts'
import { externalServer } from './external.ts'
import { type BuildOptions, build } from './server.ts'

/** Called in a suite; the tests of the suite ask for their servers. */
export const sharedServers = () => sharing(build)

/** The same in front of GitHub and GitLab, of whom each test says what they answer. */
export const sharedExternalServers = () => sharing(externalServer)

function sharing<Server>(open: (ending: Ending, options: BuildOptions) => Promise<Server>) {
  const servers = new Map<string, Promise<Server>>()
  const ending = endingOfSuite()
  return (env: NonNullable<BuildOptions['env']> = {}) => {
    const key = JSON.stringify(env)
    const server = servers.get(key) ?? open(ending, { env })
    servers.set(key, server)
    return server
  }
}

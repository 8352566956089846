/** One server for each configuration that a suite asks for, closed when the suite ends. */
import { after } from 'node:test'

import { type BuildOptions, build } from './server.ts'

/** Called in a suite; the tests of the suite ask for their servers. */
export function sharedServers() {
  const servers = new Map<string, ReturnType<typeof build>>()
  const closing: (() => Promise<void>)[] = []
  after(async () => {
    for (const close of closing) await close()
  })
  return (env: NonNullable<BuildOptions['env']> = {}) => {
    const key = JSON.stringify(env)
    const server =
      servers.get(key) ?? build({ after: (close) => void closing.push(close) }, { env })
    servers.set(key, server)
    return server
  }
}

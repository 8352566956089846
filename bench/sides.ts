/** The servers of a run: those that were named, or our own; and the floor. */
import type { Side } from './cost.ts'
import { listenerOf, postmaster } from './listener.ts'
import type { Options } from './options.ts'
import { people } from './people.ts'
import { Refused } from './scenario.ts'
import { floor } from './scenarios/floor.ts'
import { mintServiceRole } from './service-role.ts'
import { createTarget } from './target.ts'

export const floorName = 'floor'

/** In the order of the table; the floor last. */
export async function startSides(started: AsyncDisposableStack, options: Options): Promise<Side[]> {
  const { url, against, serverPid, againstPid } = options
  const own = url ? [] : await ownSides(started, options)
  const sides = [
    ...own,
    ...(url ? [await namedSide(options, against ? 'first' : 'server', url, serverPid)] : []),
    ...(against ? [await namedSide(options, 'second', against, againstPid)] : []),
  ]
  const [first] = sides
  const databaseUrl = first?.target.databaseUrl
  if (!options.floor || !first || !databaseUrl) return sides
  return [...sides, await floorSide(started, first, databaseUrl, options)]
}

async function namedSide(
  options: Options,
  name: string,
  url: string,
  givenPid: number | undefined,
): Promise<Side> {
  const { connections, databaseUrl, jwtSecret } = options
  const serviceRole = options.serviceRole ?? (jwtSecret && (await mintServiceRole(jwtSecret)))
  const target = createTarget({ name, url, connections, serviceRole, databaseUrl })
  const pid = givenPid ?? listenerOf(url)
  const postgresPid = options.postgresPid ?? postmaster(databaseUrl)
  return { target, serverPids: pid === undefined ? [] : [pid], postgresPid }
}

/** Loaded on demand: a run against servers that exist needs no embedded Postgres. */
async function ownSides(started: AsyncDisposableStack, options: Options): Promise<Side[]> {
  const { connections } = options
  const { startOwnServer } = await import('./own-server.ts')
  const own = await startOwnServer(options)
  started.defer(own.stop)
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const postgresPid = postmaster(own.databaseUrl)
  return own.sides.map(({ name, url, databaseUrl, serverPids, loop }): Side => {
    const target = createTarget({ name, url, connections, serviceRole, databaseUrl })
    return { target, serverPids, postgresPid, loop }
  })
}

/** It reads people whom the first server has made. */
async function floorSide(
  started: AsyncDisposableStack,
  { target: first, postgresPid }: Side,
  databaseUrl: string,
  { connections }: Options,
): Promise<Side> {
  const { startFloor } = await import('./own/floor.ts')
  try {
    await people(first, connections)
  } catch (error) {
    // The scenarios may make some yet.
    if (!(error instanceof Refused)) throw error
  }
  const { url, pid, loop } = await startFloor(started, databaseUrl)
  const target = createTarget({ name: floorName, url, connections })
  return { target, serverPids: [pid], postgresPid, loop, scenario: floor }
}

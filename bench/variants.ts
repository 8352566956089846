/** The servers of a run: the given ones or our own; and the baseline. */
import { mintServiceRole } from '../server/service-role.ts'
import { findListener, postmaster } from './core/listener.ts'
import { Rejected } from './core/rejected.ts'
import { createTarget } from './core/target.ts'
import { users } from './core/users.ts'
import type { Variant } from './cost.ts'
import type { Options } from './options.ts'
import { floor } from './scenarios/floor.ts'

export const baselineName = 'floor'

/** In the order of the table; the baseline last. */
export async function startVariants(
  started: AsyncDisposableStack,
  options: Options,
): Promise<Variant[]> {
  const { url, against, serverPid, againstPid } = options
  const own = url ? [] : await ownSides(started, options)
  const variants = [
    ...own,
    ...(url ? [await namedVariant(options, against ? 'first' : 'server', url, serverPid)] : []),
    ...(against ? [await namedVariant(options, 'second', against, againstPid)] : []),
  ]
  const [first] = variants
  const databaseUrl = first?.target.databaseUrl
  if (!options.floor || !first || !databaseUrl) return variants
  return [...variants, await baselineVariant(started, first, databaseUrl, options)]
}

async function namedVariant(
  options: Options,
  name: string,
  url: string,
  givenPid: number | undefined,
): Promise<Variant> {
  const { connections, databaseUrl, jwtSecret } = options
  const serviceRole = options.serviceRole ?? (jwtSecret && (await mintServiceRole(jwtSecret)))
  const target = createTarget({ name, url, connections, serviceRole, databaseUrl })
  const pid = givenPid ?? findListener(url)
  const postgresPid = options.postgresPid ?? postmaster(databaseUrl)
  return { target, serverPids: pid === undefined ? [] : [pid], postgresPid }
}

/** Disabled when not measured: what it loads would count as memory of the other scenarios. */
const oauthOn = {
  AUTH_OAUTH_SERVER_ENABLED: 'true',
  AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
}

const usernamesOn = { AUTH_USERNAMES_ENABLED: 'true' }

/** Loaded on demand: a run against existing servers needs no embedded Postgres. */
async function ownSides(started: AsyncDisposableStack, options: Options): Promise<Variant[]> {
  const { connections } = options
  const { startPostern } = await import('./own-server.ts')
  const usesOauth = options.scenarios.some(({ name }) => name.startsWith('oauth-'))
  const env = {
    ...options.env,
    ...(usesOauth && oauthOn),
    ...(options.enumeration && usernamesOn),
  }
  const own = await startPostern({ ...options, env })
  started.defer(own.stop)
  const serviceRole = await mintServiceRole(own.jwtSecret)
  const postgresPid = postmaster(own.databaseUrl)
  return own.variants.map(({ name, url, databaseUrl, serverPids, loop }): Variant => {
    const target = createTarget({ name, url, connections, serviceRole, databaseUrl })
    return { target, serverPids, postgresPid, loop }
  })
}

/** It reads users created by the first server. */
async function baselineVariant(
  started: AsyncDisposableStack,
  { target: first, postgresPid }: Variant,
  databaseUrl: string,
  { connections }: Options,
): Promise<Variant> {
  const { startBaseline } = await import('./own/floor.ts')
  try {
    await users(first, connections)
  } catch (error) {
    // The scenarios may create some later.
    if (!(error instanceof Rejected)) throw error
  }
  const { url, pid, loop } = await startBaseline(started, databaseUrl)
  const target = createTarget({ name: baselineName, url, connections })
  return { target, serverPids: [pid], postgresPid, loop, scenario: floor }
}

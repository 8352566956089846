/**
 * Checks the database: version, privileges, migrations, connections, encryption and clock; the standbys of
 * AUTH_DB_READ_URL; and the functions of hooks.
 */
import { sql } from 'kysely'

import { hookNames } from '../../config/groups/hooks.ts'
import type { Config } from '../../config/groups/index.ts'
import { findCitusSharding, probeCapabilities } from '../../db/core/capabilities.ts'
import {
  findMissingMigrationRights,
  findMissingRights,
  foreignEncoding,
} from '../../db/core/requirements.ts'
import { findProbe } from '../../db/keys/encryption.ts'
import { servesNewer } from '../../db/migrate/applied-migrations.ts'
import { migrationState } from '../../db/migrate/index.ts'
import { createPool } from '../../plugins/database/pool/index.ts'
import { findMismatch, readServerState } from '../../plugins/database/read-db/server-state.ts'
import { DecryptionError } from '../../plugins/security/encryption/index.ts'
import { probe } from '../../plugins/security/encryption-probe.ts'
import { clockSkewMessage } from '../../server/clock.ts'
import { connectionLimitOfLogin, maxConnections } from '../../server/connections.ts'
import { findHookFunction } from '../shared/checks.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  isLocalHost,
  pass,
  warn,
} from './finding.ts'

/** Seconds. Tokens and codes of one replica would be early or late at another. */
const clockSkew = { warn: 1, fail: 30 }

export async function checkDatabase(context: DoctorContext): Promise<DoctorFinding[]> {
  const { config, db } = context
  let before: number
  let facts: Facts
  let notices: string[]
  try {
    const { blocker, ...capabilities } = await probeCapabilities(db)
    if (blocker !== undefined) return [fail(blocker)]
    notices = capabilities.notices
    before = Date.now()
    const schema = config.AUTH_DB_NAMESPACE
    const blockers = [
      ...(await findMissingRights(db, schema)),
      ...(await findCitusSharding(db, schema)),
    ]
    if (blockers.length > 0) return blockers.map(fail)
    facts = await queryFacts(context)
  } catch (error) {
    return [
      fail(
        `The database of DATABASE_URL cannot be used (${describeError(error)}): check that it runs, and that host, user, password and name are correct.`,
      ),
    ]
  }
  const middle = (before + Date.now()) / 2
  const { applied, pending, unknown } = await migrationState(db, config.AUTH_DB_NAMESPACE)
  return [
    pass(`It is Postgres ${facts.version}.`),
    ...(await foreignEncoding(db)).map(fail),
    ...rights(facts, await findMissingMigrationRights(db, config.AUTH_DB_NAMESPACE)),
    migrated(
      applied.length,
      pending.length,
      unknown,
      unknown.length > 0 && (await servesNewer(db, config.AUTH_DB_NAMESPACE)),
    ),
    ...(applied.length > 0 ? await readable(context) : []),
    connections(facts, config),
    ...encrypted(facts, config),
    clock((facts.seconds * 1000 - middle) / 1000),
    ...notices.map(warn),
  ]
}

interface Facts {
  version: number
  login: string
  isSuperuser: boolean
  isEncrypted: boolean
  connections: number
  seconds: number
}

async function queryFacts({ db }: DoctorContext): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select current_setting('server_version_num')::int / 10000 as version,
      current_user as login,
      (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted",
      ${sql.raw(connectionLimitOfLogin)} as connections,
      extract(epoch from clock_timestamp())::float8 as seconds
  `.execute(db)
  const [facts] = rows
  if (!facts) throw new Error('it returned no row')
  return facts
}

function rights({ login, isSuperuser }: Facts, missing: string[]): DoctorFinding[] {
  return [
    ...(missing.length > 0
      ? missing.map(fail)
      : [pass(`The login ${login} has the required privileges.`)]),
    ...(isSuperuser
      ? [
          warn(
            `The login ${login} is a superuser: use a separate role, as in deploy/init-database.sql.`,
          ),
        ]
      : []),
  ]
}

function migrated(
  applied: number,
  pending: number,
  unknown: string[],
  isServed: boolean,
): DoctorFinding {
  if (unknown.length > 0 && pending === 0 && isServed) {
    return warn(
      `The schema was migrated by a newer version (${unknown.join(', ')}), with which this one still works. Upgrade this server.`,
    )
  }
  if (unknown.length > 0) {
    return fail(
      `The schema was migrated by a newer version (${unknown.join(', ')}): start that version.`,
    )
  }
  if (pending === 0) return pass(`All ${applied} migrations are applied.`)
  return warn(`${pending} migrations are pending: the next start or npm run migrate applies them.`)
}

/** A wrong key would prevent the start. */
async function readable({ db, encryption }: DoctorContext): Promise<DoctorFinding[]> {
  const stored = await findProbe(db, probe.id)
  if (stored === undefined) return []
  try {
    encryption.decrypt(probe.id, stored, 'The stored data')
  } catch (error) {
    if (error instanceof DecryptionError) return [fail(error.message)]
    throw error
  }
  return [pass('The encryption key decrypts the stored data.')]
}

function connections({ connections }: Facts, config: Config): DoctorFinding {
  const needed = maxConnections(config, connections) * config.AUTH_WORKERS
  const left = Math.floor(connections / needed)
  if (left > 1) return pass(`It allows ${left} replicas with ${needed} connections each.`)
  const room = `It allows ${connections} connections, and one replica uses up to ${needed}`
  const hint =
    'lower AUTH_DB_MAX_POOL_SIZE, raise max_connections or the connection limit of the login or the database, or use a connection pooler'
  if (left === 1) return warn(`${room}: for a second one, ${hint}.`)
  return fail(`${room}: ${hint}.`)
}

function encrypted({ isEncrypted }: Facts, { DATABASE_URL }: Config): DoctorFinding[] {
  if (isEncrypted) return [pass('The connection is encrypted.')]
  // A Unix socket has no host.
  const hostname = URL.parse(DATABASE_URL)?.hostname ?? ''
  if (hostname === '' || isLocalHost(hostname)) return []
  return [
    warn(
      'The connection is not encrypted: add ?sslmode=verify-full to DATABASE_URL, unless the network is private.',
    ),
  ]
}

function clock(skewSeconds: number): DoctorFinding {
  const seconds = Math.abs(skewSeconds)
  if (seconds < clockSkew.warn) return pass('Its clock agrees with that of this machine.')
  return seconds < clockSkew.fail
    ? warn(clockSkewMessage(skewSeconds))
    : fail(clockSkewMessage(skewSeconds))
}

/** A standby that cannot be used does not fail the check: reads go to the primary. */
export async function checkReplicas({ config }: DoctorContext): Promise<DoctorFinding[]> {
  const { DATABASE_URL, AUTH_DB_READ_URL: urls } = config
  return Promise.all(
    urls.map(async (url, index) => {
      const name = `Standby ${index + 1} of AUTH_DB_READ_URL`
      const problem = await findProblem(DATABASE_URL, url)
      return problem === undefined
        ? pass(`${name} is a copy of the primary.`)
        : warn(`${name} is not used, reads go to the primary: ${problem}.`)
    }),
  )
}

async function findProblem(primary: string, replica: string): Promise<string | undefined> {
  const pools = [primary, replica].map((connectionString) =>
    createPool({ connectionString, max: 1, connectTimeoutMs: 3_000, log: { warn() {} } }),
  )
  try {
    const [ofPrimary, ofReplica] = await Promise.all(pools.map(readServerState))
    return ofPrimary && ofReplica && findMismatch(ofPrimary, ofReplica)
  } catch (error) {
    return describeError(error)
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

/** Checks the database functions of hooks: without one, every request with the hook fails. */
export async function checkHooks({ config, db }: DoctorContext): Promise<DoctorFinding[]> {
  const findings = hookNames.flatMap((hook) => {
    const variable = `AUTH_HOOK_${hook}_URI` as const
    const uri = URL.parse(config[variable] ?? '')
    if (!config[`AUTH_HOOK_${hook}_ENABLED`] || uri?.protocol !== 'pg-functions:') return []
    return [checkFunction(db, variable, uri)]
  })
  return Promise.all(findings)
}

async function checkFunction(
  db: DoctorContext['db'],
  variable: string,
  uri: URL,
): Promise<DoctorFinding> {
  const { called, login, state } = await findHookFunction(db, uri)
  if (state === 'missing') {
    return fail(
      `${variable} names the function ${called}, which does not exist with a jsonb argument: create it, or correct the name.`,
    )
  }
  if (state === 'denied') {
    return fail(
      `The login ${login} may not call the function ${called} of ${variable}: grant usage on its schema and execute on the function (docs/hooks.md).`,
    )
  }
  return pass(`The function ${called} of ${variable} may be called.`)
}

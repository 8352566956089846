/** The database: version, rights, migrations, connections, encryption, and whether its clock is ours. */
import { sql } from 'kysely'

import { findProbe } from '../../db/encryption-probe.ts'
import { servesNewer } from '../../db/migrate/schema-floor.ts'
import { migrationState } from '../../db/migrate.ts'
import { findObstacles, foreignEncoding } from '../../db/unusable-database.ts'
import type { Config } from '../../plugins/config/config.ts'
import { DecryptionError } from '../../plugins/encryption.ts'
import { probe } from '../../plugins/encryption-probe.ts'
import { slipSentence } from '../serve/clock.ts'
import { mostConnections, roomForLogin } from '../serve/connections.ts'
import { type Finding, fail, pass, reasonOf, type Surroundings, warn } from './finding.ts'
import { isLocalHost } from './local-host.ts'

const oldestVersion = 15
/** Seconds. Tokens and codes of one replica would be early or late at another. */
const clockSlip = { warn: 1, fail: 30 }

export async function database(surroundings: Surroundings): Promise<Finding[]> {
  const { config, db } = surroundings
  const before = Date.now()
  let facts: Facts
  try {
    const obstacles = await findObstacles(db, config.AUTH_DB_NAMESPACE)
    if (obstacles.length > 0) return obstacles.map(fail)
    facts = await ask(surroundings)
  } catch (error) {
    return [
      fail(
        `The database of DATABASE_URL cannot be used (${reasonOf(error)}): look whether it runs, and whether host, user, password and name are right.`,
      ),
    ]
  }
  const middle = (before + Date.now()) / 2
  const { applied, pending, unknown } = await migrationState(db, config.AUTH_DB_NAMESPACE)
  return [
    version(facts),
    ...(await foreignEncoding(db)).map(fail),
    ...rights(facts, config.AUTH_DB_NAMESPACE),
    migrated(
      applied.length,
      pending.length,
      unknown,
      unknown.length > 0 && (await servesNewer(db, config.AUTH_DB_NAMESPACE)),
    ),
    ...(applied.length > 0 ? await readable(surroundings) : []),
    connections(facts, config),
    ...encrypted(facts, config),
    clock((facts.seconds * 1000 - middle) / 1000),
  ]
}

interface Facts {
  version: number
  login: string
  isSuperuser: boolean
  hasSchema: boolean
  mayCreateSchemas: boolean
  mayCreateTables: boolean
  ownsTables: boolean
  isEncrypted: boolean
  connections: number
  seconds: number
}

async function ask({ db, config }: Surroundings): Promise<Facts> {
  const schema = config.AUTH_DB_NAMESPACE
  const { rows } = await sql<Facts>`
    select current_setting('server_version_num')::int / 10000 as version,
      current_user as login,
      (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
      to_regnamespace(quote_ident(${schema})) is not null as "hasSchema",
      has_database_privilege(current_database(), 'create') as "mayCreateSchemas",
      coalesce(has_schema_privilege(current_user, to_regnamespace(quote_ident(${schema}))::oid, 'create'), false)
        as "mayCreateTables",
      coalesce((select pg_has_role(current_user, relowner, 'usage') from pg_class
        where oid = to_regclass(format('%I.users', ${schema}::text))), true) as "ownsTables",
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted",
      ${sql.raw(roomForLogin)} as connections,
      extract(epoch from clock_timestamp())::float8 as seconds
  `.execute(db)
  const [facts] = rows
  if (!facts) throw new Error('it answered nothing')
  return facts
}

function version({ version }: Facts): Finding {
  if (version >= oldestVersion) return pass(`It is Postgres ${version}.`)
  return fail(`It is Postgres ${version}: ${oldestVersion} is the oldest that works. Upgrade it.`)
}

function rights(facts: Facts, schema: string): Finding[] {
  const { login, isSuperuser, hasSchema, mayCreateSchemas, mayCreateTables, ownsTables } = facts
  const may = hasSchema ? mayCreateTables && ownsTables : mayCreateSchemas
  return [
    may
      ? pass(`The login ${login} may do what it needs to.`)
      : fail(
          hasSchema
            ? `The login ${login} cannot change the schema "${schema}": connect as its owner.`
            : `The login ${login} cannot make the schema "${schema}": make it for it, as deploy/init-database.sql does.`,
        ),
    ...(isSuperuser
      ? [
          warn(
            `The login ${login} is a superuser: use a role of its own, as deploy/init-database.sql makes one.`,
          ),
        ]
      : []),
  ]
}

function migrated(applied: number, pending: number, unknown: string[], isServed: boolean): Finding {
  if (unknown.length > 0 && pending === 0 && isServed) {
    return warn(
      `The schema was migrated by a newer version of this program (${unknown.join(', ')}); this one serves on. Upgrade it.`,
    )
  }
  if (unknown.length > 0) {
    return fail(
      `The schema was migrated by a newer version of this program (${unknown.join(', ')}): start that one.`,
    )
  }
  if (pending === 0) return pass(`All ${applied} migrations are done.`)
  return warn(
    `${pending} migrations are to come: the next start runs them, or npm run migrate does.`,
  )
}

/** A wrong key would stop the start. */
async function readable({ db, encryption }: Surroundings): Promise<Finding[]> {
  const stored = await findProbe(db, probe.id)
  if (stored === undefined) return []
  try {
    encryption.decrypt(probe.id, stored, 'What this database holds')
  } catch (error) {
    if (error instanceof DecryptionError) return [fail(error.message)]
    throw error
  }
  return [pass('The encryption key fits what is stored.')]
}

function connections({ connections }: Facts, config: Config): Finding {
  const wanted = mostConnections(config) * config.AUTH_WORKERS
  const left = Math.floor(connections / wanted)
  if (left > 1) return pass(`It has room for ${left} replicas of ${wanted} connections each.`)
  const room = `It takes ${connections} connections, and one replica uses up to ${wanted}`
  const remedy =
    'lower AUTH_DB_MAX_POOL_SIZE, raise max_connections or the connection limit of the login or the database, or put a pooler between'
  if (left === 1) return warn(`${room}: for a second one, ${remedy}.`)
  return fail(`${room}: ${remedy}.`)
}

function encrypted({ isEncrypted }: Facts, { DATABASE_URL }: Config): Finding[] {
  if (isEncrypted) return [pass('The connection is encrypted.')]
  // A socket of this machine has no host.
  const hostname = URL.parse(DATABASE_URL)?.hostname ?? ''
  if (hostname === '' || isLocalHost(hostname)) return []
  return [
    warn(
      'The connection is not encrypted: add ?sslmode=verify-full to DATABASE_URL, unless its network is yours alone.',
    ),
  ]
}

function clock(slip: number): Finding {
  const seconds = Math.abs(slip)
  if (seconds < clockSlip.warn) return pass('Its clock and ours agree.')
  return seconds < clockSlip.fail ? warn(slipSentence(slip)) : fail(slipSentence(slip))
}

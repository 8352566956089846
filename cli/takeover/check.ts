/** What is found in a database before this server is started on it. Reads only. */
import { type RawBuilder, sql } from 'kysely'

import type { Db } from '../../db/database.ts'
import { findMissingInUse, type MissingFeature, missingFeatures } from '../../db/features-in-use.ts'
import { gotrueVersionsIn, hasTable } from '../../db/gotrue-database.ts'
import { gotrueLevel, gotrueVersions } from '../../db/migrations/gotrue-level.ts'
import { gotrueSecretColumns } from '../../db/stored-secrets.ts'
import type { Config } from '../../plugins/config/config.ts'
import { signingAlgorithm } from '../../plugins/config/signing-algorithm.ts'
import { encryptionKeys, keyId, takenOverKeys } from '../../plugins/encryption/keys.ts'
import { audiences } from './audiences.ts'
import { type Finding, note, ok, stop } from './finding.ts'
import { hooksInUse } from './hooks.ts'
import { templates } from './templates.ts'

export async function examine(db: Db, config: Config): Promise<Finding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  const settings = [
    ok(`The server would answer on port ${config.PORT}.`),
    ok(`New access tokens would be signed with ${signingAlgorithm(config)}.`),
    ...templates(config),
  ]
  if (!(await hasTable(db, schema, 'users'))) {
    return [ok(`The schema "${schema}" has no people: everything will be made.`), ...settings]
  }
  const level = await levels(db, schema)
  return [
    ...level,
    ...(await rights(db, schema)),
    ...(level.some((finding) => finding.level === 'stop')
      ? [note('What the tables hold is looked at when their migrations are current.')]
      : await rows(db, config)),
    ...(await foreignObjects(db, schema)),
    ...(await hooksInUse(db, config)),
    ...settings,
  ]
}

/** By columns that older tables do not have. */
async function rows(db: Db, config: Config): Promise<Finding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  return [
    ...(await ciphertext(db, schema, config)),
    ...(await audiences(db, config)),
    ...(await features(db, config)),
    ...(await contents(db, schema)),
  ]
}

async function levels(db: Db, schema: string): Promise<Finding[]> {
  const versions = await gotrueVersionsIn(db, schema)
  const last = versions.filter((version) => gotrueVersions.includes(version)).at(-1) ?? 'none'
  if (!versions.includes(gotrueLevel)) {
    return [
      stop(
        `GoTrue's migrations end at ${last}, and ${gotrueLevel} is needed: run GoTrue v2.196.0 or later once with "auth migrate".`,
      ),
    ]
  }
  const newer = versions.filter((version) => version > gotrueLevel)
  if (newer.length === 0) return [ok(`GoTrue's migrations are at ${gotrueLevel}.`)]
  return [note(`GoTrue has ${newer.length} newer migrations than are known here; they are kept.`)]
}

async function rights(db: Db, schema: string): Promise<Finding[]> {
  const [row] = await rowsOf<{
    login: string
    database: string
    owns: boolean
    creates: boolean
    makes: boolean
  }>(
    db,
    sql`select current_user as login, current_database() as database,
      has_schema_privilege(current_user, ${schema}, 'create') as creates,
      has_database_privilege(current_database(), 'create')
        or to_regnamespace(quote_ident(${`${schema}_jobs`})) is not null as makes,
      pg_has_role(current_user, relowner, 'usage') as owns
      from pg_class where oid = to_regclass(format('%I.users', ${schema}::text))`,
  )
  if (!row) return []
  const { login, database, owns, creates, makes } = row
  return [
    owns
      ? ok(`The login ${login} owns the tables.`)
      : stop(`The login ${login} does not own the tables: connect as their owner.`),
    ...(creates ? [] : [stop(`Missing right: grant create on schema "${schema}" to "${login}";`)]),
    ...(makes
      ? []
      : [
          stop(
            `Missing schema in ${database}: create schema "${schema}_jobs" authorization "${login}";`,
          ),
        ]),
  ]
}

async function ciphertext(db: Db, schema: string, config: Config): Promise<Finding[]> {
  // A database that this server has been started on is looked at as well, also after `finish`.
  const own = encryptionKeys(config).map(keyId)
  const known = [...own, ...takenOverKeys(config).map(({ id }) => id)]
  const columns = [...gotrueSecretColumns, { table: 'users', column: 'encrypted_password' }]
  const ids = new Set<string>()
  for (const { table, column } of columns) {
    const rows = await rowsOf<{ id: string }>(
      db,
      sql`select distinct substring(${sql.ref(column)} from '"key_id":"([^"]+)"') as id
        from ${sql.id(schema, table)} where ${sql.ref(column)} like '{%'`,
    )
    for (const { id } of rows) if (id) ids.add(id)
  }
  return [...ids].map((id) =>
    known.includes(id)
      ? ok(`Secrets under the key "${id}" can be read.`)
      : stop(
          `Secrets under the key "${id}" cannot be read: add it to AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS.`,
        ),
  )
}

async function features(db: Db, config: Config): Promise<Finding[]> {
  const accepted: readonly MissingFeature[] = config.AUTH_TAKEOVER_ACCEPT_MISSING
  const inUse = await findMissingInUse(db, config.AUTH_DB_NAMESPACE)
  return inUse.map(({ feature, rows }) => {
    const words = `In use and not there yet: ${missingFeatures[feature]} (${rows} rows).`
    return accepted.includes(feature)
      ? note(`${words} Accepted.`)
      : stop(`${words} AUTH_TAKEOVER_ACCEPT_MISSING=${feature} starts without.`)
  })
}

const counted = {
  users: 'true',
  sessions: 'true',
  refresh_tokens: 'not revoked',
  mfa_factors: "status = 'verified'",
  one_time_tokens: 'true',
  flow_state: "created_at > now() - interval '1 hour'",
} as const

async function contents(db: Db, schema: string): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [table, condition] of Object.entries(counted)) {
    const [row] = await rowsOf<{ rows: number; size: string }>(
      db,
      sql`select count(*)::int as rows, pg_size_pretty(pg_total_relation_size(${`${schema}.${table}`}::regclass)) as size
        from ${sql.id(schema, table)} where ${sql.raw(condition)}`,
    )
    findings.push(ok(`${table}: ${row?.rows} in use, ${row?.size}.`))
  }
  const [people] = await rowsOf<{ n: number }>(
    db,
    sql`select count(*)::int as n from ${sql.id(schema, 'users')}`,
  )
  findings.push(
    ok('No table is rewritten; no lock is waited for longer than 50 ms, or held longer than 100.'),
    ok(
      `Ready after some ${readySeconds(people?.n ?? 0)} s: indexes are built beside the traffic, and take longest.`,
    ),
  )
  return findings
}

/** As it was for 500,000 people on two busy cores (docs/takeover.md). */
function readySeconds(people: number): number {
  return 5 + Math.ceil((people * 55) / 500_000)
}

/** What others have hung on GoTrue's tables: it stays, and is worth knowing. */
async function foreignObjects(db: Db, schema: string): Promise<Finding[]> {
  const triggers = await rowsOf<{ name: string }>(
    db,
    sql`select tgname || ' on ' || tgrelid::regclass as name from pg_trigger
      join pg_class on pg_class.oid = tgrelid
      where not tgisinternal and relnamespace = to_regnamespace(quote_ident(${schema}))
        and relname not like 'postern\\_%'`,
  )
  const references = await rowsOf<{ name: string }>(
    db,
    sql`select conname || ' of ' || conrelid::regclass as name from pg_constraint
      join pg_class on pg_class.oid = conrelid
      where contype = 'f' and relnamespace <> to_regnamespace(quote_ident(${schema}))
        and confrelid in (select oid from pg_class where relnamespace = to_regnamespace(quote_ident(${schema})))`,
  )
  return [
    ...triggers.map(({ name }) => note(`The trigger ${name} goes on as it did.`)),
    ...references.map(({ name }) => note(`The foreign key ${name} goes on as it did.`)),
  ]
}

async function rowsOf<Row>(db: Db, query: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Row>`${query}`.execute(db)
  return rows
}

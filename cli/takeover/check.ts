/** Checks a GoTrue database before the first start on it. All changes are rolled back. */
import { type PostgresPool, sql } from 'kysely'

import { hookNames } from '../../config/groups/hooks.ts'
import type { Config } from '../../config/groups/index.ts'
import { signingAlgorithm } from '../../config/rules/keys.ts'
import type { Db } from '../../db/core/database.ts'
import {
  findMissingMigrationRights,
  findMissingRights,
  foreignEncoding,
} from '../../db/core/requirements.ts'
import { countOAuthClients, gotrueVersionsIn, hasTable } from '../../db/gotrue/database.ts'
import { findPolicyFunctions } from '../../db/gotrue/takeover.ts'
import { gotrueSecretColumns } from '../../db/keys/encryption.ts'
import { dryRunMigrations } from '../../db/migrate/apply.ts'
import { gotrueLevel, knownGotrueVersions } from '../../db/migrations/gotrue-level.ts'
import {
  encryptionKeyId,
  encryptionKeys,
  gotrueEncryptionKeys,
} from '../../plugins/security/encryption/keys.ts'
import { describeExpiredMetadata, findHookFunction } from '../shared/checks.ts'
import type { CommandContext } from '../shared/context.ts'
import { audiences, contents, note, ok, stop, type TakeoverFinding } from './contents.ts'

/** Returns what an operator should know before the first start, and the reasons that prevent it. */
export async function checkTakeover(
  context: Pick<CommandContext, 'config' | 'db' | 'pool'>,
): Promise<TakeoverFinding[]> {
  const { config, db, pool } = context
  const schema = config.AUTH_DB_NAMESPACE
  const blockers = [...(await findMissingRights(db, schema)), ...(await foreignEncoding(db))]
  if (blockers.length > 0) return [...blockers.map(stop), ...(await rights(db, schema))]
  if (!(await hasTable(db, schema, 'users'))) {
    const isNew = ok(`The schema "${schema}" has no users: a new installation.`)
    return [isNew, ...(await migrationTrial(pool, schema)), ...settings(config)]
  }
  const level = await levels(db, schema)
  const granted = await rights(db, schema)
  const mayMigrate = ![...level, ...granted].some(isStop)
  return [
    ...level,
    ...granted,
    ...(level.some(isStop)
      ? [note('The contents of the tables are checked once their migrations are current.')]
      : await rows(db, config)),
    // A known blocker would also make the dry run fail.
    ...(mayMigrate ? await migrationTrial(pool, schema) : []),
    ...(await foreignObjects(db, schema)),
    ...(await hooksInUse(db, config)),
    ...settings(config),
  ]
}

function settings(config: Config): TakeoverFinding[] {
  return [
    ok(`The server would listen on port ${config.PORT}.`),
    ok(`New access tokens would be signed with ${signingAlgorithm(config)}.`),
    ...templates(config),
  ]
}

const isStop = ({ level }: TakeoverFinding) => level === 'stop'

/** Uses columns that older tables do not have. */
async function rows(db: Db, config: Config): Promise<TakeoverFinding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  return [
    ...(await ciphertext(db, schema, config)),
    ...(await audiences(db, config)),
    ...(await oauthClients(db, config)),
    ...(await describeExpiredMetadata({ config, db }, new Date())).map(note),
    ...(await contents(db, schema)),
  ]
}

async function levels(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const versions = await gotrueVersionsIn(db, schema)
  const last = versions.filter((version) => knownGotrueVersions.includes(version)).at(-1) ?? 'none'
  if (!versions.includes(gotrueLevel)) {
    return [
      stop(
        `GoTrue's migrations end at ${last}, and ${gotrueLevel} is needed: run GoTrue v2.196.0 or later once with "auth migrate".`,
      ),
    ]
  }
  const newer = versions.filter(
    (version) => version > gotrueLevel && !knownGotrueVersions.includes(version),
  )
  if (newer.length === 0) return [ok(`GoTrue's migrations are at ${last}.`)]
  return [
    note(`GoTrue has ${newer.length} newer migrations than this version supports; they are kept.`),
  ]
}

async function oauthClients(db: Db, config: Config): Promise<TakeoverFinding[]> {
  if (config.AUTH_OAUTH_SERVER_ENABLED) return []
  const clients = await countOAuthClients(db, config.AUTH_DB_NAMESPACE)
  if (clients === 0) return []
  const words = `The database has OAuth clients (${clients}), and the OAuth server is off.`
  return config.AUTH_TAKEOVER_ACCEPT_MISSING.includes('oauth_server')
    ? [note(`${words} Accepted.`)]
    : [
        stop(
          `${words} Set AUTH_OAUTH_SERVER_ENABLED=true, or AUTH_TAKEOVER_ACCEPT_MISSING=oauth_server to start without it.`,
        ),
      ]
}

/**
 * Checks templates that GoTrue fetches from an internal server, which is not allowed here (docs/email-templates.md).
 */
function templates(config: Config): TakeoverFinding[] {
  const addresses = Object.entries(config).filter(
    ([name, value]) =>
      name.startsWith('AUTH_MAILER_TEMPLATES_') && /^http:/i.test(String(value ?? '')),
  )
  return addresses.map(([name]) =>
    note(
      `${name} is not an https URL, so the built-in email would be sent instead: put the template into AUTH_TEMPLATES_DIR, or serve it over https.`,
    ),
  )
}

/** Runs the migrations of the first start in a transaction and rolls it back. */
async function migrationTrial(pool: PostgresPool, schema: string): Promise<TakeoverFinding[]> {
  try {
    const { tried, failure } = await dryRunMigrations(pool, schema)
    if (!failure) {
      return [ok(`${tried} migrations were tried in a transaction and rolled back: all succeed.`)]
    }
    return [stop(`The migration ${failure.migration} fails on this database: ${failure.reason}.`)]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [note(`The migrations could not be tried; run this again: ${reason}`)]
  }
}

/** Checks the privileges of the server's login. */
async function rights(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const { rows } = await sql<{ login: string; owns: boolean }>`
    select current_user as login, pg_has_role(current_user, relowner, 'usage') as owns
    from pg_class where relname = 'users' and relnamespace = to_regnamespace(quote_ident(${schema}))
  `.execute(db)
  const [found] = rows
  if (!found) return []
  const missing = await findMissingMigrationRights(db, schema)
  return [
    ...(found.owns ? [ok(`The login ${found.login} owns the tables.`)] : []),
    ...missing.map(stop),
  ]
}

// Checks the enabled hooks, and whether database functions among them can be called.

/** Shows only the host of a URL: the rest may contain a secret. */
async function hooksInUse(db: Db, config: Config): Promise<TakeoverFinding[]> {
  const findings: TakeoverFinding[] = []
  for (const name of hookNames) {
    const uri = config[`AUTH_HOOK_${name}_URI`]
    if (!config[`AUTH_HOOK_${name}_ENABLED`] || !uri) continue
    const address = new URL(uri)
    findings.push(
      address.protocol === 'pg-functions:'
        ? await functionHook(db, name, address)
        : ok(`The hook ${name} is called at ${address.host}.`),
    )
  }
  return findings
}

async function functionHook(db: Db, name: string, uri: URL): Promise<TakeoverFinding> {
  const { called, login, state } = await findHookFunction(db, uri)
  if (state === 'callable') return ok(`The hook ${name} calls ${called}.`)
  return stop(
    `The hook ${name} calls ${called}, which does not exist with a jsonb argument or may not be called: create it, or "grant execute on function ${called} to ${login};"`,
  )
}

/** Checks that every encryption key in use is configured. */
async function ciphertext(db: Db, schema: string, config: Config): Promise<TakeoverFinding[]> {
  // Includes the keys of this server, also after `finish`.
  const own = encryptionKeys(config).map(encryptionKeyId)
  const known = [...own, ...gotrueEncryptionKeys(config).map(({ id }) => id)]
  const columns = [...gotrueSecretColumns, { table: 'users', column: 'encrypted_password' }]
  const ids = new Set<string>()
  for (const { table, column } of columns) {
    const { rows } = await sql<{ id: string }>`
      select distinct substring(${sql.ref(column)} from '"key_id":"([^"]+)"') as id
      from ${sql.id(schema, table)} where ${sql.ref(column)} like '{%'
    `.execute(db)
    for (const { id } of rows) if (id) ids.add(id)
  }
  return [...ids].map((id) =>
    known.includes(id)
      ? ok(`Secrets under the key "${id}" can be decrypted.`)
      : stop(
          `Secrets under the key "${id}" cannot be decrypted: add it to AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS.`,
        ),
  )
}

/** Lists foreign objects on GoTrue's tables, which are kept. */
async function foreignObjects(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const triggers = await sql<{ name: string }>`
    select tgname || ' on ' || tgrelid::regclass as name from pg_trigger
    join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and relnamespace = to_regnamespace(quote_ident(${schema}))
      and relname not like 'postern\\_%'
  `.execute(db)
  const references = await sql<{ name: string }>`
    select conname || ' of ' || conrelid::regclass as name from pg_constraint
    join pg_class on pg_class.oid = conrelid
    where contype = 'f' and relnamespace <> to_regnamespace(quote_ident(${schema}))
      and confrelid in (select oid from pg_class where relnamespace = to_regnamespace(quote_ident(${schema})))
  `.execute(db)
  const functions = await findPolicyFunctions(db, schema)
  return [
    ...functions.filter(({ isOurs }) => !isOurs).map(({ name }) => note(keptFunction(name))),
    ...triggers.rows.map(({ name }) => note(`The trigger ${name} keeps working.`)),
    ...references.rows.map(({ name }) => note(`The foreign key ${name} keeps working.`)),
  ]
}

const keptFunction = (name: string) =>
  `The function ${name} is kept instead of the one for organizations. Rename it before the first start if policies are to read organizations with it.`

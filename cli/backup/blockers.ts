/** Checks that prevent a restore, run before anything is changed; each result is one sentence for the operator. */
import { sql } from 'kysely'

import type { Db } from '../../db/core/database.ts'
import { DecryptionError, type Encryption } from '../../plugins/security/encryption/index.ts'
import type { Dump } from './dump.ts'

export async function findRestoreBlockers(db: Db, dump: Dump): Promise<string[]> {
  return [
    ...(await contents(db)),
    ...(await version(db, dump)),
    ...(await missingRoles(db, dump)),
    ...(await foreignOwners(db, dump)),
    ...(await missingExtensions(db, dump)),
  ]
}

/** docs/operations.md describes the consequences of a missing key. */
export function missingKey(encryption: Encryption, { probe }: Dump): string[] {
  if (!probe) return []
  try {
    encryption.decrypt(probe.id, probe.value, 'The data in this backup')
    return []
  } catch (error) {
    if (error instanceof DecryptionError) return [error.message]
    throw error
  }
}

/** Without objects of extensions. */
async function contents(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'S', 'f') and nspname !~ '^pg_'
      and nspname <> 'information_schema' and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
    order by 1 limit 3
  `.execute(db)
  if (rows.length === 0) return []
  const names = rows.map(({ name }) => name).join(', ')
  return [
    `The database is not empty (${names}): restore into a new one, created with createdb or "create database".`,
  ]
}

async function version(db: Db, { major }: Dump): Promise<string[]> {
  const { rows } = await sql<{ major: number }>`
    select current_setting('server_version_num')::int / 10000 as major`.execute(db)
  const serverMajor = rows[0]?.major ?? 0
  if (serverMajor >= major) return []
  return [
    `The backup is from Postgres ${major}, but this server is version ${serverMajor}: use version ${major}.`,
  ]
}

/** The attributes that the migrations set. */
const attributes: Record<string, string> = {
  anon: 'nologin noinherit',
  authenticated: 'nologin noinherit',
  service_role: 'nologin noinherit bypassrls',
}

async function missingRoles(db: Db, { roles }: Dump): Promise<string[]> {
  const { rows } = await sql<{ name: string; quoted: string }>`
    select name, quote_ident(name) as quoted from unnest(${roles}::text[]) as wanted (name)
    where not exists (select from pg_roles where rolname = name) order by 1
  `.execute(db)
  return rows.map(
    ({ name, quoted }) =>
      `The role ${name} is missing. Run as an administrator: create role ${quoted} ${attributes[name] ?? 'login'};`,
  )
}

async function foreignOwners(db: Db, { owners }: Dump): Promise<string[]> {
  const { rows } = await sql<{ login: string; owner: string }>`
    select current_user as login, rolname as owner from pg_roles
    where rolname = any(${owners}::text[]) and not pg_has_role(rolname, 'member') order by 2
  `.execute(db)
  return rows.map(
    ({ login, owner }) =>
      `${login} may not assign objects to the role ${owner}: set DATABASE_URL to a login that may, for this command.`,
  )
}

async function missingExtensions(db: Db, { extensions }: Dump): Promise<string[]> {
  const names = extensions.map(({ name }) => name)
  const { rows } = await sql<{ name: string }>`
    select wanted.name from unnest(${names}::text[]) as wanted (name)
    where not exists (select from pg_available_extensions as known where known.name = wanted.name)
  `.execute(db)
  return rows.map(
    ({ name }) => `The extension ${name} is not installed on this server: install its package.`,
  )
}

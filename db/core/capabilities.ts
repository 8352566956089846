/**
 * Probes the database for the features of Postgres that this server needs. Other engines with the same protocol, such
 * as CockroachDB and YugabyteDB, lack some of them.
 */
import { type Kysely, type QueryExecutorProvider, sql } from 'kysely'

const oldestVersion = 15

interface Capabilities {
  /** The reason that prevents the start, as a sentence; undefined without one. */
  blocker: string | undefined
  /** Features that work differently, a sentence each. */
  notices: string[]
}

const table = 'create temporary table postern_probe (id int primary key, name text) on commit drop'

/** Statements by the name of the feature; they are rolled back. */
const needed: Record<string, string[]> = {
  'advisory locks': [
    'select pg_try_advisory_xact_lock(hashtextextended(gen_random_uuid()::text, 0))',
  ],
}
/** Features that need a table. */
const neededOfTables: Record<string, string[]> = {
  'SKIP LOCKED': [table, 'select id from postern_probe for update skip locked'],
  'generated columns': [
    table,
    'alter table postern_probe add lowered text generated always as (lower(name)) stored',
  ],
  'partial unique indexes': [
    table,
    'create unique index postern_probe_idx on postern_probe (name) where id > 0',
  ],
}
const notification = ['listen postern_probe', "select pg_notify('postern_probe', '')"]

/** Changes nothing. */
export async function probeCapabilities<DB>(db: Kysely<DB>): Promise<Capabilities> {
  const { engine, version } = await readEngine(db)
  const missing: string[] = version < oldestVersion ? [`Postgres ${oldestVersion} or newer`] : []
  // A login may lack the privilege, and an engine may lack temporary tables, which are not needed.
  const tables = (await isPossible(db, [table])) === true ? neededOfTables : {}
  for (const [name, statements] of Object.entries({ ...needed, ...tables })) {
    if ((await isPossible(db, statements)) === false) missing.push(name)
  }
  const listens = (await isPossible(db, notification)) !== false
  return {
    blocker:
      missing.length === 0
        ? undefined
        : `It is ${engine} and lacks what this server needs: ${missing.join(', ')}.`,
    notices: [
      ...(listens
        ? []
        : ['The database lacks LISTEN/NOTIFY: changes of other replicas are polled.']),
      ...((await hasTrigrams(db))
        ? []
        : ['The database lacks the extension pg_trgm: users are found by the start of a name.']),
    ],
  }
}

interface Engine {
  /** As in `PostgreSQL 17.2`. */
  engine: string
  version: number
}

async function readEngine<DB>(db: Kysely<DB>): Promise<Engine> {
  const { rows } = await sql<Engine>`
    select split_part(split_part(version(), ' on ', 1), ' (', 1) as engine,
      current_setting('server_version_num')::int / 10000 as version
  `.execute(db)
  const [engine] = rows
  if (!engine) throw new Error('the database does not report its version')
  return engine
}

async function hasTrigrams<DB>(db: Kysely<DB>): Promise<boolean> {
  try {
    const { rows } = await sql`
      select from pg_available_extensions where name = 'pg_trgm'`.execute(db)
    return rows.length > 0
  } catch {
    return false
  }
}

/** SQLSTATEs: feature_not_supported, syntax_error, undefined_function, undefined_object. */
const unsupported = new Set(['0A000', '42601', '42883', '42704'])

const done = new Error('rolled back')

/** Undefined when a statement fails for another reason, such as a missing privilege. */
async function isPossible<DB>(db: Kysely<DB>, statements: string[]): Promise<boolean | undefined> {
  try {
    await db.transaction().execute(async (trx) => {
      for (const statement of statements) await sql.raw(statement).execute(trx)
      throw done
    })
  } catch (error) {
    if (error === done) return true
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return unsupported.has(code) ? false : undefined
  }
  return undefined
}

/**
 * Citus distributes tables and then plans statements itself: it rejects some of this server's statements, and splits
 * others. Returns why the schema cannot be used; nothing without Citus, and for a schema that it does not distribute.
 */
export async function findCitusSharding(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const { rows } = await sql<{ hasCitus: boolean; shardsNewSchemas: boolean }>`
    select to_regclass('pg_dist_partition') is not null as "hasCitus",
      current_setting('citus.enable_schema_based_sharding', true) = 'on'
        and (to_regnamespace(quote_ident(${schema})) is null
          or to_regnamespace(quote_ident(${`${schema}_jobs`})) is null) as "shardsNewSchemas"
  `.execute(db)
  const [citus] = rows
  if (!citus?.hasCitus) return []
  if (citus.shardsNewSchemas) {
    return [
      `Citus would distribute the schema "${schema}" or its job queue: start once while citus.enable_schema_based_sharding is off.`,
    ]
  }
  return (await isDistributed(db, schema))
    ? [
        `Citus distributes tables of the schema "${schema}", and then rejects statements of this server: restore a backup into a database without Citus.`,
      ]
    : []
}

async function isDistributed(db: QueryExecutorProvider, schema: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
    where relnamespace = to_regnamespace(quote_ident(${schema})) limit 1
  `.execute(db)
  return rows.length > 0
}

/** A database for one test file or test: a clone of the migrated template, dropped at the end. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import pg from 'pg'

import { withClient } from '../../server/with-client.ts'
import type { Ending } from './processes/ending.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** A migrated database of its own. Given a test, it is dropped when the test ends. */
export function cloneDatabase(t?: Ending): Promise<TestDatabase> {
  return create(env('TEST_TEMPLATE'), t)
}

/** A database with nothing in it, for what migrations do. */
export function emptyDatabase(t?: Ending): Promise<TestDatabase> {
  return create('template0', t)
}

/** For a server that ends before others on the database. */
export function withoutDrop({ url }: { url: string }): TestDatabase {
  return { url, drop: async () => {} }
}

const made = new Map<string, Promise<void>>()

/**
 * A clone of a database that `make` fills. It is made once in a run, by the first process that needs it, because
 * migrations cost more than ten clones; it is dropped with the template.
 */
export async function cloneOfMade(
  name: string,
  make: () => Promise<TestDatabase>,
  t?: Ending,
): Promise<TestDatabase> {
  const template = `${env('TEST_TEMPLATE')}_${name}`
  const making = made.get(template) ?? makeOnce(template, make)
  made.set(template, making)
  await making
  return create(template, t)
}

async function makeOnce(template: string, make: () => Promise<TestDatabase>): Promise<void> {
  await withClient({ connectionString: env('TEST_ADMIN_URL') }, async (client) => {
    // Until this connection ends.
    await client.query('select pg_advisory_lock(hashtext($1))', [template])
    const there = await client.query('select from pg_database where datname = $1', [template])
    if (there.rowCount !== 0) return
    const { url } = await make()
    await whenFree(`alter database ${new URL(url).pathname.slice(1)} rename to ${template}`)
  })
}

async function create(template: string, t: Ending | undefined): Promise<TestDatabase> {
  const name = `postern_test_${randomBytes(8).toString('hex')}`
  await whenFree(`create database ${name} template ${template} strategy file_copy`)
  const url = new URL(env('TEST_ADMIN_URL'))
  url.pathname = `/${name}`
  // Over a new connection: meanwhile, those of the test end by themselves. A forced end would be an error of theirs.
  const drop = async () => {
    await withClient({ connectionString: env('TEST_ADMIN_URL') }, (client) =>
      client.query(`drop database if exists ${name} with (force)`),
    )
  }
  t?.after(drop)
  return { url: url.href, drop }
}

/**
 * Connections of a test to its database. `end` does not wait for Postgres to close them: the database may be dropped
 * before, and a connection lost by that is no error.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config)
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** A connection of a test, ended with it. The database may be dropped before, and a connection lost by that is no error. */
export async function openClient(t: Ending, config: string | pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config)
  client.on('error', () => {})
  t.after(() => client.end())
  await client.connect()
  return client
}

/** While a session uses the template, also that of a vacuum, Postgres rejects copying and renaming it. */
async function whenFree(statement: string, attempt = 0): Promise<void> {
  try {
    await admin(statement)
  } catch (error) {
    const inUse = error instanceof pg.DatabaseError && error.code === '55006'
    if (!inUse || attempt === 50) throw error
    await delay(20 + Math.random() * 80)
    await whenFree(statement, attempt + 1)
  }
}

let adminPool: pg.Pool | undefined

/** Few connections per process: connecting costs more than most statements. They do not keep the process alive. */
async function admin(statement: string): Promise<void> {
  adminPool ??= openPool({
    connectionString: env('TEST_ADMIN_URL'),
    max: 3,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  await adminPool.query(statement)
}

function env(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set: start tests by node test/run.ts`)
  return value
}

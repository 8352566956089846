/** What another engine with Postgres’s protocol lacks, made by a connection that rejects statements. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

import { probeCapabilities } from '../../db/core/capabilities.ts'
import { migrate } from '../../db/migrate/index.ts'
import { emptyDatabase, openPool } from '../support/database.ts'
import { sharedDatabase } from '../support/processes/shared-database.ts'
import { query } from './sql.ts'

/** A Postgres that rejects statements like an engine that does not support them. */
function engine(url: string, t: TestContext, rejected: RegExp, version?: string) {
  const pool = openPool({ connectionString: url, max: 1, Client: clientWithout(rejected, version) })
  t.after(() => pool.end())
  return { url, pool, db: new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }) }
}

function clientWithout(rejected: RegExp, version: string | undefined): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      this.query = new Proxy(this.query, {
        apply: (run, client, [text, ...more]: [text: string, ...more: unknown[]]) =>
          rejected.test(text)
            ? Promise.reject(Object.assign(new Error('not supported'), { code: '0A000' }))
            : Reflect.apply(run, client, [as(text, version), ...more]),
      })
    }
  }
}

/** What another engine says about itself. */
function as(text: string, version: string | undefined): string {
  if (version === undefined) return text
  return text
    .replaceAll('version()', `'${version}'`)
    .replaceAll("current_setting('server_version_num')", "'130000'")
}

const nothing = /(?!)/

suite('capabilities of the database', () => {
  const database = sharedDatabase(emptyDatabase)
  const engineWithout = async (t: TestContext, rejected: RegExp, version?: string) =>
    engine((await database()).url, t, rejected, version)

  test('reports no missing feature of Postgres and leaves no objects', async (t) => {
    const { db, url } = await engineWithout(t, nothing)
    const before = await query(url, 'select count(*) from pg_class')
    assert.deepEqual(await probeCapabilities(db), { blocker: undefined, notices: [] })
    assert.deepEqual(await query(url, 'select count(*) from pg_class'), before)
  })

  const features: [feature: string, rejected: RegExp][] = [
    ['advisory locks', /advisory/],
    ['SKIP LOCKED', /skip locked/],
    ['generated columns', /generated always/],
    ['partial unique indexes', /unique index .* where/],
  ]
  for (const [feature, rejected] of features) {
    test(`names missing ${feature}`, async (t) => {
      const { db } = await engineWithout(t, rejected)
      const { blocker } = await probeCapabilities(db)
      assert.match(blocker ?? '', new RegExp(`PostgreSQL .* lacks .*needs: ${feature}\\.$`))
    })
  }

  test('names the engine, an old version and all missing features in one sentence', async (t) => {
    const { db } = await engineWithout(t, /advisory|skip locked/, 'CockroachDB CCL v23.1.11 (x86)')
    const { blocker } = await probeCapabilities(db)
    assert.equal(
      blocker,
      'It is CockroachDB CCL v23.1.11 and lacks what this server needs: Postgres 15 or newer, advisory locks, SKIP LOCKED.',
    )
  })

  test('reports missing LISTEN/NOTIFY and pg_trgm as notices', async (t) => {
    const { db } = await engineWithout(t, /listen |pg_available_extensions/)
    const { blocker, notices } = await probeCapabilities(db)
    assert.equal(blocker, undefined)
    assert.match(notices[0] ?? '', /LISTEN\/NOTIFY: .* are polled/)
    assert.match(notices[1] ?? '', /pg_trgm: users are found by the start/)
  })

  test('rejects the start with the missing features before anything is changed', async (t) => {
    const { pool, url } = await engineWithout(t, /advisory/)
    const options = {
      schema: 'auth',
      queueSchema: 'auth_jobs',
      migrateQueue: async () => {},
      indexesUserNames: true,
      log: { info() {}, warn() {} },
    }
    await assert.rejects(migrate(pool, options), /DATABASE_URL cannot be used\. .* advisory locks/)
    const schemas = await query(url, "select 1 from pg_namespace where nspname like 'auth%'")
    assert.deepEqual(schemas, [])
  })
})

/** The catalogue of Citus is simulated here; test/cluster/citus.services.ts runs Citus. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { migrated, query } from './sql.ts'

const catalog = 'create table pg_dist_partition (logicalrelid regclass)'

suite('Citus', () => {
  test('rejects a schema with a distributed table', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, catalog, "insert into pg_dist_partition values ('auth.users')")
    await assert.rejects(migrated(url), /Citus distributes tables of the schema "auth"/)
  })

  test('rejects the creation of a schema that would be distributed', async (t) => {
    const { url } = await emptyDatabase(t)
    const name = new URL(url).pathname.slice(1)
    const setting = `alter database ${name} set citus.enable_schema_based_sharding = on`
    await query(url, catalog, setting)
    await assert.rejects(migrated(url), /Citus would distribute the schema "auth"/)
    const rows = await query(url, "select from pg_namespace where nspname in ('auth', 'auth_jobs')")
    assert.equal(rows.length, 0)
  })

  test('serves a schema next to distributed ones', async (t) => {
    const { url } = await cloneDatabase(t)
    await query(url, catalog, 'create schema other', 'create table other.users (id int)')
    await query(url, "insert into pg_dist_partition values ('other.users')")
    await migrated(url)
  })
})

/** A Postgres with Citus, whose programs TEST_POSTGRES_BIN names. Citus is not part of this repository. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { migrated, query } from '../db/sql.ts'
import { bin, startPostgresServer } from '../services/postgres.ts'
import { startLoad } from '../support/cluster/load.ts'
import { findLosses, nothing } from '../support/cluster/losses.ts'
import { clusterSettings } from '../support/cluster/settings.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { startServerProcess } from '../support/processes/server-process.ts'

const hasCitus = existsSync(join(bin ?? '', '../lib/citus.so'))
const skip = !hasCitus && 'TEST_POSTGRES_BIN names no Postgres with Citus'

suite('Postgres with Citus', { skip }, () => {
  test('serves a schema that is not distributed and rejects a distributed schema', async (context) => {
    const t = lastFirst(context)
    const url = await startCitus(t)
    const mail = await startMailServer(t)
    const env = { ...mail.env, ...clusterSettings, DATABASE_URL: url }
    const server = await startServerProcess(t, env)
    const load = startLoad({ urls: [server.url], mail, clients: 2 })
    t.after(load.abort)
    await load.untilStarted()
    await load.stop()
    assert.deepEqual([...load.client.failures, ...load.rejected], [])
    assert.deepEqual((await findLosses(url, load)).lost, nothing)

    await query(url, "select citus_schema_distribute('auth')")
    await assert.rejects(migrated(url), /Citus distributes tables of the schema "auth"/)
    await query(url, 'alter role postgres set citus.enable_schema_based_sharding = on')
    await assert.rejects(migrated(url, 'other'), /Citus would distribute the schema "other"/)
  })
})

/** One node, which is coordinator and worker. */
async function startCitus(t: Ending): Promise<string> {
  const { url, port, ...server } = await startPostgresServer(t)
  await server.sql('alter system set shared_preload_libraries = citus')
  await server.sql('alter system set wal_level = logical')
  await server.stop('fast')
  await server.start()
  await query(
    url,
    'create extension citus',
    `select citus_set_coordinator_host('127.0.0.1', ${port})`,
    `select citus_set_node_property('127.0.0.1', ${port}, 'shouldhaveshards', true)`,
  )
  return url
}

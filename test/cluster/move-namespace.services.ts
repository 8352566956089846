/** Two namespaces with a server each; deploy/move-namespace.sh moves them between two Postgres servers under load. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'

import { query } from '../db/sql.ts'
import { bin, type PostgresServer, startPostgresServer } from '../services/postgres.ts'
import { missing, startPgbouncer } from '../services/programs.ts'
import { type Observation, observe, report } from '../support/cluster/faults.ts'
import { startLoad } from '../support/cluster/load.ts'
import { findLosses, nothing } from '../support/cluster/losses.ts'
import { newerPgbouncer } from '../support/cluster/newer-pgbouncer.ts'
import { clusterSettings } from '../support/cluster/settings.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { serviceRole, startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'

const run = promisify(execFile)
const script = new URL('../../deploy/move-namespace.sh', import.meta.url).pathname
const skip = missing('pgbouncer') || (!bin && 'not installed: Postgres')
const timeout = 15 * 60_000

suite('namespaces on several Postgres servers', { skip, timeout }, () => {
  test('move to another server and back under load without failed requests or lost data', {
    timeout,
  }, async (context) => {
    const t = lastFirst(context)
    const [first, second] = [await startPublisher(t), await startPublisher(t)]
    await createRoles(second)
    const tenants = [
      await startTenant(t, first, 'north'),
      await startTenant(t, first, 'south'),
    ] as const
    const moves = [
      { tenant: tenants[0], to: second },
      { tenant: tenants[1], to: second },
      { tenant: tenants[0], to: first },
    ]
    const failing = {
      name: 'a move that fails after the old tables were renamed',
      act: () => assert.rejects(tenants[0].runScript(second, 'exit 3'), { code: 3 }),
    }
    tenants[0].seen.push(await observe(tenants[0].load, failing))
    for (const { tenant, to } of moves) {
      const name = `${tenant.namespace} moves to ${to === first ? 'the first' : 'the second'}`
      tenant.seen.push(await observe(tenant.load, { name, act: () => tenant.moveTo(to) }))
    }
    for (const { namespace, load, seen, ...tenant } of tenants) {
      await load.stop()
      report(context, load, seen)
      assert.deepEqual([...load.client.failures, ...load.rejected], [], namespace)
      const found = await findLosses(tenant.postgres().url, load, namespace)
      assert.deepEqual(found, { lost: nothing, exchangedTwice: 0 }, namespace)
      assert.deepEqual(await load.countAcceptedAgain(), { refreshTokens: 0, links: 0 }, namespace)
      // An email request creates its user after the response: the last one may still be under way.
      await until(
        async () => (await countListedUsers(tenant.url)) === (await countUsers(tenant, namespace)),
      )
    }
  })
})

/** A server with logical replication. */
async function startPublisher(t: Ending): Promise<PostgresServer> {
  const server = await startPostgresServer(t)
  await server.sql('alter system set wal_level = logical')
  await server.stop('fast')
  await server.start()
  return server
}

/** Those that migrations create once for all databases of a server. */
async function createRoles({ url }: PostgresServer): Promise<void> {
  for (const role of ['anon', 'authenticated', 'service_role']) {
    await query(url, `create role ${role}`)
  }
}

async function startTenant(t: Ending, on: PostgresServer, namespace: string) {
  const mail = await startMailServer(t)
  const pooler = await startPgbouncer(t, on.url, newerPgbouncer().path)
  await beSlow(pooler)
  const prepared = String(newerPgbouncer().path !== undefined)
  const { url } = await startServerProcess(t, {
    ...mail.env,
    ...clusterSettings,
    AUTH_DB_NAMESPACE: namespace,
    AUTH_DB_PREPARED_STATEMENTS: prepared,
    DATABASE_URL: pooler.url,
  })
  const load = startLoad({ urls: [url], mail, clients: 2 })
  t.after(load.abort)
  await load.untilStarted()
  const seen: Observation[] = []
  let postgres = on

  async function runScript(to: PostgresServer, REPOINT: string): Promise<void> {
    const pooled = new URL(pooler.url)
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      FROM: postgres.url,
      TO: to.url,
      POOLER: new URL('/pgbouncer', pooled).href,
      REPOINT,
      SWITCH_TIMEOUT: '25',
    }
    await run(script, [namespace, pooled.pathname.slice(1)], { env })
  }

  return {
    namespace,
    url,
    load,
    seen,
    postgres: () => postgres,
    runScript,
    async moveTo(to: PostgresServer): Promise<void> {
      await runScript(to, `sed -i s/port=${postgres.port}/port=${to.port}/ ${pooler.file}`)
      const moved = [namespace, `${namespace}_jobs`].map((schema) => `moved_${schema}`)
      await query(postgres.url, `drop schema ${moved.join()} cascade`)
      postgres = to
    },
  }
}

/** A busy machine must not fail a test. */
async function beSlow({ file, signal }: Awaited<ReturnType<typeof startPgbouncer>>): Promise<void> {
  const settings = await readFile(file, 'utf8')
  await writeFile(file, settings.replace(/^query_wait_timeout.*$/m, 'query_wait_timeout = 60'))
  signal('SIGHUP')
}

async function countListedUsers(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${await serviceRole()}` }
  const response = await fetch(`${url}/admin/users?per_page=1`, { headers })
  assert.equal(response.status, 200)
  return Number(response.headers.get('x-total-count'))
}

async function countUsers({ postgres }: { postgres: () => PostgresServer }, namespace: string) {
  const [row] = await query(
    postgres().url,
    `select count(*)::int as users from ${namespace}.users where aud = 'authenticated'`,
  )
  return Number(row?.users)
}

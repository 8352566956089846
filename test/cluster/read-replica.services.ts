/** Reads of admins from a streaming standby, whose lag is made by pausing its replay. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { migrated, query } from '../db/sql.ts'
import { bin } from '../services/postgres.ts'
import { adminCall } from '../support/admin.ts'
import { startWithStandby } from '../support/cluster/standby.ts'
import { withoutDrop } from '../support/database.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { until } from '../support/processes/until.ts'
import { type App, build } from '../support/server.ts'
import { adminCreatedUser, newAddress } from '../support/users.ts'

const maxLagSeconds = 3

suite('read replica', { skip: !bin && 'not installed: PostgreSQL' }, () => {
  test('reads from the standby, from the primary above the maximum lag, and from the standby again', async (context) => {
    const t = lastFirst(context)
    const pair = await startMigrated(t)
    const [writer, reader] = [await start(t, pair), await start(t, pair)]
    await until(() => readsStandby(reader))
    await until(() => readsStandby(writer))

    await pair.pauseReplay()
    const email = newAddress()
    await adminCreatedUser(writer, { email })
    assert.ok((await emails(writer)).includes(email), 'an admin reads their own write')
    assert.equal(await readsStandby(writer), false)
    await until(async () => (await emails(reader)).includes(email))
    await until(async () => !(await readsStandby(reader)))

    await pair.resumeReplay()
    for (const app of [writer, reader]) {
      await until(() => readsStandby(app))
      assert.ok((await emails(app)).includes(email))
    }
  })

  test('does not report lag while the primary is idle', async (context) => {
    const t = lastFirst(context)
    const pair = await startMigrated(t)
    const app = await start(t, pair)
    await until(() => readsStandby(app))
    await until(async () => {
      const [row] = await query(
        pair.standby.url,
        `select now() - pg_last_xact_replay_timestamp() > interval '${3 * maxLagSeconds} seconds' as is_idle`,
      )
      return row?.is_idle === true
    })
    await until(() => readsStandby(app))
  })

  test('fails no read while the standby stops responding, is killed and restarts', async (context) => {
    const t = lastFirst(context)
    const pair = await startMigrated(t)
    const app = await start(t, pair)
    await until(() => readsStandby(app))
    const reading = readAllTheTime(app)

    await pair.standby.stall()
    await until(async () => !(await readsStandby(app)))
    await pair.standby.run()
    await until(() => readsStandby(app))
    await pair.standby.stop('immediate')
    await until(async () => !(await readsStandby(app)))
    await pair.standby.start()
    await until(() => readsStandby(app))

    const { reads } = await reading.stop()
    context.diagnostic(`${reads} lists of users, none failed`)
  })

  test('does not read from a standby that was promoted while the primary runs', async (context) => {
    const t = lastFirst(context)
    const pair = await startMigrated(t)
    const lines: string[] = []
    const app = await start(t, pair, lines)
    await until(() => readsStandby(app))
    await pair.standby.promote()
    await until(() => lines.some((line) => line.includes('it is not a standby')))
    const email = newAddress()
    await query(pair.standby.url, 'delete from auth.users')
    await adminCreatedUser(app, { email })
    assert.ok((await emails(app)).includes(email))
  })
})

type Pair = Awaited<ReturnType<typeof startWithStandby>>

async function startMigrated(t: Ending): Promise<Pair> {
  const pair = await startWithStandby(t)
  await migrated(pair.primary.url)
  return pair
}

async function start(t: Ending, { primary, standby }: Pair, lines: string[] = []): Promise<App> {
  const { app } = await build(t, {
    lines,
    database: withoutDrop(primary),
    env: {
      AUTH_DB_READ_URL: standby.url,
      AUTH_DB_READ_MAX_LAG: `${maxLagSeconds}s`,
    },
  })
  return app
}

async function readsStandby(app: App): Promise<boolean> {
  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(
    app.readDb,
  )
  return rows[0]?.standby === true
}

async function emails(app: App): Promise<(string | undefined)[]> {
  const { users } = await adminCall<{ users: { email?: string }[] }>(app, 'GET', '/admin/users')
  return users.map(({ email }) => email)
}

/** Lists users one after another until `stop`, which throws if one failed. */
function readAllTheTime(app: App) {
  let isOver = false
  let reads = 0
  const reading = (async () => {
    while (!isOver) {
      await emails(app)
      reads += 1
    }
  })()
  // Reported by `stop`.
  reading.catch(() => {})
  return {
    async stop() {
      isOver = true
      await reading
      return { reads }
    },
  }
}

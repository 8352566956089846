/**
 * Two servers on a primary with a standby, under load: one finds the primary through HAProxy, the other by the hosts of
 * its connection string.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { bin } from '../services/postgres.ts'
import { missing, startPrimaryBalancer } from '../services/programs.ts'
import { type Fault, type Observation, observe, report } from '../support/cluster/faults.ts'
import { type Load, startLoad } from '../support/cluster/load.ts'
import { findLosses, findMailLosses, nothing } from '../support/cluster/losses.ts'
import { startPostgresCluster } from '../support/cluster/postgres-cluster.ts'
import { clusterSettings } from '../support/cluster/settings.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'

const skip = missing('haproxy') || (!bin && 'not installed: Postgres')
const timeout = 10 * 60_000

suite('failover of Postgres under load', { skip, timeout }, () => {
  test('with synchronous replication, no acknowledged data is lost or consumed twice', {
    timeout,
  }, async (context) => {
    const t = lastFirst(context)
    const { postgres, load } = await startAll(t)
    await postgres.replicateSynchronously()
    const seen = await observeAll(load, [
      { name: 'planned switchover', act: postgres.switchOver },
      { name: 'synchronous again', act: postgres.replicateSynchronously },
      { name: 'kill -9 of the primary', act: postgres.failOver },
    ])
    await load.stop()

    report(context, load, seen)
    const found = await findLosses(postgres.url, load)
    assert.deepEqual(found, { lost: nothing, exchangedTwice: 0 })
    assert.deepEqual(await findMailLosses(postgres.url, load), { lost: 0, twice: 0 })
    assert.deepEqual(load.rejected, [])
    assert.deepEqual(await load.countAcceptedAgain(), { refreshTokens: 0, links: 0 })
    for (const { name, late } of seen) assert.equal(late, 0, name)
  })

  test('with asynchronous replication, a switchover loses no data, and the losses of a crash are counted', {
    timeout,
  }, async (context) => {
    const t = lastFirst(context)
    const { postgres, load } = await startAll(t)
    const planned = await observe(load, { name: 'planned switchover', act: postgres.switchOver })
    assert.deepEqual((await findLosses(postgres.url, load)).lost, nothing)
    await postgres.stopStandby()
    const ahead = load.users.length
    await until(() => load.users.length > ahead + 5)
    const act = postgres.failOverWithLoss
    const crash = await observe(load, { name: 'kill -9, standby behind', act })
    await load.stop()

    report(context, load, [planned, crash])
    const found = await findLosses(postgres.url, load)
    const mails = await findMailLosses(postgres.url, load)
    const again = await load.countAcceptedAgain()
    context.diagnostic(`lost or done twice: ${JSON.stringify({ ...found, mails, again })}`)
    // An email whose record of sending was lost is sent again, so repeated emails are counted as well.
    assert.ok(found.lost.users > 0, 'the standby lacked users')
    assert.equal(planned.late + crash.late, 0)
  })
})

async function startAll(t: Ending) {
  const mail = await startMailServer(t)
  const postgres = await startPostgresCluster(t)
  const balancer = await startPrimaryBalancer(t, postgres.ports)
  const env = { ...mail.env, ...clusterSettings }
  const to = (hosts: string) => `postgres://postgres:x@${hosts}/postgres`
  const hosts = postgres.ports.map((port) => `127.0.0.1:${port}`).join()
  const several = `${to(hosts)}?target_session_attrs=read-write`
  const urls: string[] = []
  for (const DATABASE_URL of [to(`127.0.0.1:${balancer}`), several]) {
    urls.push((await startServerProcess(t, { ...env, DATABASE_URL })).url)
  }
  const load = startLoad({ urls, mail, clients: 4 })
  t.after(load.abort)
  await load.untilStarted()
  return { postgres, load }
}

async function observeAll(load: Load, faults: Fault[]): Promise<Observation[]> {
  const seen: Observation[] = []
  for (const fault of faults) seen.push(await observe(load, fault))
  return seen
}

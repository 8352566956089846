/** A fault of every component in turn, under load and with synchronous replication. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { bin } from '../services/postgres.ts'
import { missing } from '../services/programs.ts'
import { type Fault, type Observation, observe, report } from '../support/cluster/faults.ts'
import { startClusterInstallation } from '../support/cluster/installation.ts'
import { findLosses, findMailLosses, nothing } from '../support/cluster/losses.ts'
import { newerPgbouncer } from '../support/cluster/newer-pgbouncer.ts'
import { lastFirst } from '../support/processes/ending.ts'

const skip = missing('haproxy', 'pgbouncer', 'redis-server') || (!bin && 'not installed: Postgres')
const timeout = 10 * 60_000

type Installation = Awaited<ReturnType<typeof startClusterInstallation>>

/** Of a fault that is not `noticed`, no request fails. */
function listFaults(installation: Installation): (Fault & { noticed: boolean })[] {
  const { postgres, pooler, redis, restartServer } = installation
  return [
    { name: 'a server is killed and started', noticed: true, act: restartServer },
    { name: 'PgBouncer is killed and started', noticed: true, act: () => restart(pooler) },
    { name: 'Redis is stopped', noticed: false, act: () => redis.stop() },
    { name: 'the standby is stopped', noticed: false, act: postgres.stopStandby },
    { name: 'the standby is back', noticed: false, act: postgres.startStandby },
    { name: 'synchronous again', noticed: false, act: postgres.replicateSynchronously },
    { name: 'the primary is switched over', noticed: true, act: postgres.switchOver },
    { name: 'synchronous again', noticed: false, act: postgres.replicateSynchronously },
    { name: 'the primary is killed', noticed: true, act: postgres.failOver },
  ]
}

async function restart({ stop, start }: Installation['pooler']): Promise<void> {
  await stop()
  await start()
}

suite('faults of a cluster under load', { skip, timeout }, () => {
  test('lose no acknowledged write and fail no request outside the window of a fault', {
    timeout,
  }, async (context) => {
    const t = lastFirst(context)
    const newer = newerPgbouncer()
    const installation = await startClusterInstallation(t, newer.path)
    context.diagnostic(newer.path === undefined ? newer.reason : 'with prepared statements')
    const { postgres, load } = installation
    await postgres.replicateSynchronously()
    const seen: Observation[] = []
    for (const { noticed, ...fault } of listFaults(installation)) {
      const observation = await observe(load, fault)
      seen.push(observation)
      const text = JSON.stringify(observation)
      assert.equal(noticed ? observation.late : observation.failed, 0, text)
    }
    await load.stop()

    report(context, load, seen)
    const found = await findLosses(postgres.url, load)
    assert.deepEqual(found, { lost: nothing, exchangedTwice: 0 })
    assert.deepEqual(await findMailLosses(postgres.url, load), { lost: 0, twice: 0 })
    assert.deepEqual(load.rejected, [])
    assert.deepEqual(await load.countAcceptedAgain(), { refreshTokens: 0, links: 0 })
  })
})

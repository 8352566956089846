/**
 * Two releases side by side, under load: replicas of the release before are replaced by this one, one after the other,
 * and the other way round, and nobody notices.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { until } from '../support/until.ts'
import { outage } from './asking.ts'
import { type Installation, startInstallation } from './installation.ts'
import { findLostLives, type Lives, startLives } from './lives.ts'
import { bin } from './postgres.ts'
import { missing } from './programs.ts'
import { fetchRelease, releaseBefore, stopsEarly, unreachable } from './release-before.ts'

const skip =
  missing('git', 'haproxy', 'pgbouncer', 'redis-server') ||
  (!bin && 'not installed: Postgres') ||
  unreachable(releaseBefore)
/** Each step is watched until this many requests were answered after it. */
const watched = 200

interface Step {
  name: string
  act: (installation: Installation, before: string) => Promise<void>
}

/** As docs/operations.md says. */
async function replace({ balancer, stop, start }: Installation, index: number, program?: string) {
  if (stopsEarly) await balancer.take(index, 'drain')
  assert.equal(await stop(index), 0)
  await start(index, program)
  await balancer.take(index, 'ready')
}

const thisOne = (index: number) => (installation: Installation) => replace(installation, index)
const theOneBefore = (index: number) => (installation: Installation, before: string) =>
  replace(installation, index, before)

const steps: Step[] = [
  { name: 'both replicas are of the release before', act: async () => {} },
  { name: 'the first becomes this one, and migrates', act: thisOne(0) },
  { name: 'the one that is left is started anew', act: theOneBefore(1) },
  { name: 'the second becomes this one', act: thisOne(1) },
  { name: 'the first goes back', act: theOneBefore(0) },
  { name: 'this one is started anew beside it', act: thisOne(1) },
  { name: 'the second goes back', act: theOneBefore(1) },
  { name: 'the first becomes this one again', act: thisOne(0) },
  { name: 'and the second', act: thisOne(1) },
]

suite('the release before and this one', { skip, timeout: 10 * 60_000 }, () => {
  test('replicas are replaced one by one, forth and back, and nobody notices', {
    timeout: 10 * 60_000,
  }, async (t) => {
    const before = await fetchRelease(t, releaseBefore)
    const installation = await startInstallation(t, {
      count: 2,
      program: before,
      env: { AUTH_MAILER_AUTOCONFIRM: 'true' },
    })
    const lives = startLives(installation.url, 3)
    t.after(() => lives.stop())
    const rows: string[][] = []
    for (const step of steps) rows.push(await live(step, installation, lives, before))
    await lives.stop()
    rows.push(await deliverAll(installation, lives))
    tell(t, rows)
    assert.deepEqual(
      rows.filter(([, , failed, lost]) => failed !== '0' || lost !== '0'),
      [],
    )
  })
})

/** A row of the table. */
async function live(step: Step, installation: Installation, lives: Lives, before: string) {
  const { asking } = lives
  const since = performance.now()
  const asked = asking.requests
  await step.act(installation, before)
  const from = asking.requests
  await until(() => asking.requests >= from + watched, { seconds: 60 })
  const { refused, kinds } = outage(asking.refusals, since)
  const lost = await findLostLives(installation.postgres.primary.url, lives)
  const row = [step.name, asking.requests - asked, refused, lost, JSON.stringify(kinds)]
  return row.map(String)
}

/** A mail is asked for in one job and written in another, so that only its arrival tells that it is done. */
async function deliverAll({ mail }: Installation, { mailed }: Lives): Promise<string[]> {
  const missed = () => {
    const arrived = new Set(mail.messages.map(({ to }) => to))
    return mailed.filter((address) => !arrived.has(address))
  }
  await until(() => missed().length === 0, { seconds: 120 }).catch(() => {})
  return ['mails arrive', String(mailed.length), '0', String(missed().length), '{}']
}

function tell(t: TestContext, rows: string[][]): void {
  const head = ['Step', 'requests', 'failed', 'lost', 'which']
  for (const row of [head, head.map(() => '---'), ...rows]) t.diagnostic(`| ${row.join(' | ')} |`)
}

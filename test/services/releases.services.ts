/** Two releases side by side under load: replicas are replaced one by one, in both directions, without failures. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { lastFirst } from '../support/processes/ending.ts'
import { until } from '../support/processes/until.ts'
import { type Installation, startInstallation } from './installation.ts'
import { bin } from './postgres.ts'
import { missing } from './programs.ts'
import { databaseBefore, fetchRelease, releaseBefore, unreachable } from './release-before.ts'
import { outage } from './request-loop.ts'
import { type Activity, countLostActivity, startActivity } from './user-activity.ts'

const skip =
  missing('git', 'haproxy', 'pgbouncer', 'redis-server') ||
  (!bin && 'not installed: Postgres') ||
  unreachable(releaseBefore)
/** Each step is observed until this many responses came after it. */
const watched = 200

interface Step {
  name: string
  act: (installation: Installation, before: string) => Promise<void>
}

/** As in docs/operations.md. */
async function replace({ balancer, stop, start }: Installation, index: number, program?: string) {
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
  { name: 'the remaining replica is restarted', act: theOneBefore(1) },
  { name: 'the second becomes this one', act: thisOne(1) },
  { name: 'the first goes back', act: theOneBefore(0) },
  { name: 'this release is restarted next to it', act: thisOne(1) },
  { name: 'the second goes back', act: theOneBefore(1) },
  { name: 'the first becomes this one again', act: thisOne(0) },
  { name: 'and the second', act: thisOne(1) },
]

suite('previous and current release', { skip }, () => {
  test('run side by side while replicas are replaced one by one, in both directions', async (context) => {
    const t = lastFirst(context)
    const before = await fetchRelease(t, releaseBefore)
    const installation = await startInstallation(t, {
      count: 2,
      program: before,
      content: databaseBefore,
      env: { AUTH_MAILER_AUTOCONFIRM: 'true' },
    })
    const activity = startActivity(installation.url, 3)
    t.after(() => activity.stop())
    const rows: string[][] = []
    for (const step of steps) rows.push(await live(step, installation, activity, before))
    await activity.stop()
    rows.push(await deliverAll(installation, activity))
    rows.push(await refreshStored(installation))
    notify(context, rows)
    assert.deepEqual(
      rows.filter(([, , failed, lost]) => failed !== '0' || lost !== '0'),
      [],
    )
  })
})

/** A row of the table. */
async function live(step: Step, installation: Installation, activity: Activity, before: string) {
  const { requester } = activity
  const since = performance.now()
  const requested = requester.requests
  await step.act(installation, before)
  const from = requester.requests
  await until(() => requester.requests >= from + watched, { seconds: 60 })
  const { rejected, kinds } = outage(requester.rejections, since)
  const lost = await countLostActivity(installation.postgres.primary.url, activity)
  const row = [step.name, requester.requests - requested, rejected, lost, JSON.stringify(kinds)]
  return row.map(String)
}

/** An email is requested in one job and sent in another, so only its arrival shows completion. */
async function deliverAll({ mail }: Installation, { mailed }: Activity): Promise<string[]> {
  const missed = () => {
    const arrived = new Set(mail.messages.map(({ to }) => to))
    return mailed.filter((address) => !arrived.has(address))
  }
  await until(() => missed().length === 0, { seconds: 120 }).catch(() => {})
  return ['mails arrive', String(mailed.length), '0', String(missed().length), '{}']
}

/** Sessions of the users that the stored database contains. */
async function refreshStored({ url }: Installation): Promise<string[]> {
  const users: Record<string, { refresh_token: string }> = JSON.parse(
    /^-- (.*)/.exec(databaseBefore)?.[1] ?? '',
  )
  const tokens = Object.values(users).map(({ refresh_token }) => refresh_token)
  const responses = await Promise.all(
    tokens.map((refresh_token) =>
      fetch(`${url}/token?grant_type=refresh_token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refresh_token }),
      }),
    ),
  )
  const lost = responses.filter(({ status }) => status !== 200)
  const kinds = JSON.stringify(lost.map(({ status }) => status))
  return ['stored sessions go on', String(tokens.length), '0', String(lost.length), kinds]
}

function notify(t: TestContext, rows: string[][]): void {
  const head = ['Step', 'requests', 'failed', 'lost', 'which']
  for (const row of [head, head.map(() => '---'), ...rows]) t.diagnostic(`| ${row.join(' | ')} |`)
}

/**
 * Failures and maintenance under load. Three replicas behind HAProxy, with PgBouncer, Redis and two Postgres servers.
 * POSTERN_FAULT_SECONDS is how long each part is observed beyond its end (0); `npm run test:faults` runs it alone.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { lastFirst } from '../support/processes/ending.ts'
import { until } from '../support/processes/until.ts'
import { type Installation, startInstallation } from './installation.ts'
import { type Clients, emailStates, findLosses, startClients } from './journal.ts'
import { bin } from './postgres.ts'
import { missing } from './programs.ts'
import { outage } from './request-loop.ts'

const skip = missing('haproxy', 'pgbouncer', 'redis-server') || (!bin && 'not installed: Postgres')
const watchMs = Number(process.env.POSTERN_FAULT_SECONDS ?? 0) * 1000
/** Recovered when this many consecutive requests succeeded. */
const wellAfter = 60
/** Limit of a part; one that hangs is reported by name. */
const maxActMs = 120_000

interface Part {
  name: string
  /** Whether clients may notice. */
  noticed: boolean
  act: (installation: Installation) => Promise<unknown>
}

/** Documented maintenance: no request fails. */
const planned = (name: string, act: Part['act']): Part => ({ name, noticed: false, act })
/** Failures: some requests may fail, and no acknowledged data is lost. */
const error = (name: string, act: Part['act']): Part => ({ name, noticed: true, act })

const week: Part[] = [
  planned('nothing', async () => {}),
  error('a replica is killed', async ({ replica, start }) => {
    const { child, ended } = replica(0)
    child.kill('SIGKILL')
    await ended
    await start(0)
  }),
  planned('a replica is stopped and started', async ({ stop, start }) => {
    assert.equal(await stop(1), 0)
    await start(1)
  }),
  planned('the signing key is rotated', ({ command }) => command('keys', 'rotate')),
  planned('the encryption key is changed, by its drill', changeEncryptionKey),
  planned(
    'AUTH_JWT_SECRET is changed, replica by replica',
    async ({ env, writeEnv, restartAll }) => {
      await writeEnv({ ...(await env()), AUTH_JWT_SECRET: randomBytes(32).toString('base64url') })
      await restartAll()
    },
  ),
  planned('Redis is stopped, and comes back', async ({ redis }) => {
    await redis.stop()
    await pause(1_000)
    await redis.start()
  }),
  planned('the mail server hangs for a second', async ({ mail }) => {
    mail.behave('hang')
    await pause(1_000)
    mail.behave('accept')
  }),
  planned('a backup is written', ({ backup }) => backup()),
  planned('Postgres stands still for five seconds', async ({ postgres: { primary } }) => {
    await primary.stall()
    await pause(5_000)
    await primary.run()
  }),
  error('PgBouncer is restarted', async ({ pooler }) => {
    await pooler.stop()
    await pooler.start()
  }),
  error('Postgres is restarted', async ({ postgres: { primary } }) => {
    await primary.stop('fast')
    await primary.start()
  }),
  error('Postgres dies, its standby is promoted', async ({ postgres, pooler }) => {
    await postgres.replicateSynchronously()
    await postgres.primary.stop('immediate')
    await postgres.standby.promote()
    await pooler.moveTo('127.0.0.1', String(postgres.standby.port))
  }),
  planned('the replicas are restarted one by one', ({ restartAll }) => restartAll()),
]

/** docs/operations.md, The encryption key. */
async function changeEncryptionKey({ command, restartAll }: Installation): Promise<void> {
  const rotate = () => command('keys', 'encryption', 'rotate', '--write', '.env')
  await rotate()
  await restartAll()
  await rotate()
  await restartAll()
  await command('keys', 'encryption', 'reencrypt')
}

const timeout = 10 * 60_000 + week.length * watchMs

suite('failures and maintenance under load', { skip, timeout }, () => {
  test('lose no acknowledged data', {
    timeout,
  }, async (context) => {
    const t = lastFirst(context)
    const installation = await startInstallation(t)
    const clients = startClients(installation.url, 6)
    t.after(() => clients.stop())
    const rows: string[][] = []
    for (const part of week) rows.push(await live(part, installation, clients))
    await clients.stop()

    const { databaseUrl, lost, emails } = await countLosses(installation, clients)
    const { requester, sessions, mailed } = clients
    notify(context, rows)
    context.diagnostic(
      `${requester.requests} requests, ${sessions.length} sessions, ${mailed.length} mails`,
    )
    context.diagnostic(
      `lost: ${JSON.stringify(lost)}; mails: ${JSON.stringify(emails)} at ${databaseUrl}`,
    )
    assert.deepEqual(lost, { sessions: 0, users: 0, mails: 0 })
  })
})

/** Runs one part until everything has recovered. Returns a row of the table. */
async function live(part: Part, installation: Installation, clients: Clients): Promise<string[]> {
  const since = performance.now()
  const before = clients.requester.requests
  await inTime(part.name, part.act(installation))
  await pause(watchMs)
  const from = clients.requester.requests
  await until(
    () => clients.requester.streak >= wellAfter && clients.requester.requests >= from + wellAfter,
    {
      seconds: 60,
    },
  )
  const { rejected, seconds, kinds } = outage(clients.requester.rejections, since)
  const requested = clients.requester.requests - before
  if (!part.noticed) assert.equal(rejected, 0, `${part.name}: ${JSON.stringify(kinds)}`)
  return [part.name, String(requested), String(rejected), `${seconds} s`, JSON.stringify(kinds)]
}

/** Throws on a timeout. */
async function inTime(name: string, act: Promise<unknown>): Promise<void> {
  const late = async () => {
    await pause(maxActMs, undefined, { ref: false })
    throw new Error(`${name}: not over after ${maxActMs / 1000} s`)
  }
  await Promise.race([act, late()])
}

/** Hanging deliveries may have been accepted: they are kept for the operator instead of being sent twice. */
async function countLosses({ mail, postgres }: Installation, clients: Clients) {
  const databaseUrl = postgres.standby.url
  const found = await findLosses(databaseUrl, clients)
  await until(async () => ((await emailStates(databaseUrl)).queued ?? 0) === 0, { seconds: 120 })
  const emails = await emailStates(databaseUrl)
  const stored = Object.values(emails).reduce((sum, count) => sum + count, 0)
  assert.ok(mail.messages.length >= (emails.sent ?? 0), 'what counts as sent has arrived')
  const lost = { ...found, mails: Math.max(0, clients.mailed.length - stored) }
  return { databaseUrl, lost, emails }
}

function notify(t: TestContext, rows: string[][]): void {
  const head = ['What', 'requests', 'rejected', 'from first to last', 'which']
  for (const row of [head, head.map(() => '---'), ...rows]) t.diagnostic(`| ${row.join(' | ')} |`)
}

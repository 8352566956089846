/**
 * Three replicas behind HAProxy, with PgBouncer, Redis and a pair of Postgres servers, under load, while one part
 * after the other fails. POSTERN_FAULT_SECONDS is how long each fault is watched (6).
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { startMailServer } from '../support/mail-server.ts'
import { startServerProcess, until } from '../support/server-process.ts'
import { findLosses, mailStates, outage, startClients } from './journal.ts'
import { bin, startPostgresPair } from './postgres.ts'
import { missing, startHaproxy, startPgbouncer, startRedis } from './programs.ts'

const skip = missing('haproxy', 'pgbouncer', 'redis-server') || (!bin && 'not installed: Postgres')
const watchMs = Number(process.env.POSTERN_FAULT_SECONDS ?? 6) * 1000

suite('faults under load', { skip, timeout: 30 * 60_000 }, () => {
  test('what was acknowledged is there afterwards, whatever failed', {
    timeout: 600_000,
  }, async (t) => {
    const mail = await startMailServer(t)
    const postgres = await startPostgresPair(t)
    const pooler = await startPgbouncer(t, postgres.url)
    const redis = await startRedis(t)
    const env = {
      ...mail.env,
      DATABASE_URL: pooler.url,
      AUTH_DB_PREPARED_STATEMENTS: 'false',
      AUTH_DB_MAX_POOL_SIZE: '10',
      AUTH_REDIS_URL: redis.url,
      AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true',
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
      AUTH_RATE_LIMIT_ANONYMOUS_USERS: '1000000',
      AUTH_RATE_LIMIT_TOKEN_REFRESH: '1000000',
      AUTH_RATE_LIMIT_OTP: '1000000',
      AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: 'true',
    }
    const replicas = []
    for (let i = 0; i < 3; i++) replicas.push(await startServerProcess(t, env))
    const ports = replicas.map(({ url }) => Number(new URL(url).port))
    const balancer = await startHaproxy(t, ports)
    await until(
      async () => (await fetch(`${balancer.url}/health`).catch(() => undefined))?.ok ?? false,
    )
    const clients = startClients(balancer.url, 8)
    t.after(() => clients.stop())

    async function watch(name: string, fail: () => Promise<unknown>): Promise<number> {
      const since = performance.now()
      const before = clients.requests
      await fail()
      await pause(watchMs)
      const { refused, seconds, kinds } = outage(clients.refusals, since)
      const asked = clients.requests - before
      t.diagnostic(
        `${name}: ${refused} of ${asked} refused within ${seconds} s ${JSON.stringify(kinds)}`,
      )
      return refused
    }

    const [first, second, third] = replicas
    assert.ok(first && second && third)
    assert.equal(await watch('nothing', async () => {}), 0)
    await watch('a replica is killed', async () => first.child.kill('SIGKILL'))
    const again = { ...env, PORT: String(ports[0]) }
    const revived = await startServerProcess(t, again)
    const drained = await watch('a replica is stopped by SIGTERM', async () => {
      second.child.kill('SIGTERM')
      assert.equal(await second.ended, 0)
    })
    assert.equal(drained, 0, 'a replica that stops refuses nobody')
    await startServerProcess(t, { ...env, PORT: String(ports[1]) })
    const withoutRedis = await watch('Redis is stopped', async () => redis.stop())
    assert.equal(withoutRedis, 0, 'nobody is refused for want of Redis')
    await redis.start()
    await watch('the mail server hangs', async () => mail.behave('hang'))
    mail.behave('accept')
    await watch('PgBouncer is restarted', async () => {
      await pooler.stop()
      await pooler.start()
    })
    await watch('Postgres is restarted', async () => {
      await postgres.primary.stop('fast')
      await postgres.primary.start()
    })
    await postgres.replicateSynchronously()
    await watch('Postgres dies and its standby is promoted', async () => {
      await pause(1_000)
      await postgres.primary.stop('immediate')
      await postgres.standby.promote()
      await pooler.moveTo('127.0.0.1', String(postgres.standby.port))
    })
    assert.equal(revived.child.exitCode, null)
    const recovered = performance.now()
    await pause(2_000)
    assert.equal(outage(clients.refusals, recovered).refused, 0, 'all is well again')
    await clients.stop()

    const { mailed, sessions, requests } = clients
    t.diagnostic(`${requests} requests, ${sessions.length} sessions, ${mailed.length} mails`)
    assert.deepEqual(await findLosses(postgres.standby.url, clients), { sessions: 0, people: 0 })
    // Those that hung may have been accepted: they are kept for the operator instead of being sent twice.
    const states = async () => mailStates(postgres.standby.url)
    await until(async () => ((await states()).queued ?? 0) === 0).catch(() => {})
    const found = await states()
    t.diagnostic(`mails: ${JSON.stringify(found)}, arrived ${mail.messages.length}`)
    const kept = Object.values(found).reduce((sum, count) => sum + count, 0)
    assert.ok(kept >= mailed.length, 'no mail is lost')
    assert.ok(mail.messages.length >= (found.sent ?? 0), 'what counts as sent has arrived')
  })
})

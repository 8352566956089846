/** Errors that prevent the start of the server are reported immediately, others are not. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { run } from '../../cli/providers.ts'
import { createPino } from '../../plugins/observability/logger/index.ts'
import { warnOfClock } from '../../server/clock.ts'
import { startServer } from '../../server.ts'
import { testConfig } from '../support/config.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { callCommand } from '../support/processes/command-call.ts'
import { freePort } from '../support/processes/free-port.ts'
import { httpGet } from '../support/processes/server-process.ts'
import { listener, newerSchema, startSettings } from '../support/processes/server-start.ts'
import { startTcpProxy } from '../support/processes/tcp-proxy.ts'
import { functionEnv } from '../support/webhooks/hook-functions.ts'

suite('npm run providers', () => {
  const requested: [args: string[], code: number, output: RegExp][] = [
    [
      ['providers'],
      0,
      /http:\/\/auth\.example\/callback\n\nNo provider is enabled\.\nKnown: apple, /,
    ],
    [
      ['providers', 'google'],
      0,
      /AUTH_EXTERNAL_GOOGLE_REDIRECT_URI=http:\/\/auth\.example\/callback\n/,
    ],
    [['providers', 'goggle'], 1, /goggle is not a known provider\. Known: apple, /],
  ]
  for (const [args, code, output] of requested) {
    test(`"${args.join(' ')}" prints an explanation`, async () => {
      const env = { ...startSettings, DATABASE_URL: 'postgres://unused@127.0.0.1:9/unused' }
      const written = await callCommand(run, args.slice(1), env)
      assert.equal(written.code, code)
      assert.match(written.stdout + written.stderr, output)
    })
  }
})

/** In this process: cli.ts prints these sentences as it prints those of test/processes/npm-start.test.ts. */
suite('server start', () => {
  test('rejects a schema of a newer version', async (t) => {
    await assert.rejects(start({ DATABASE_URL: await newerSchema(t) }), {
      message: /^The schema "auth" was migrated by a newer .*9999-later.*$/,
    })
  })

  test('warns when the pool exceeds the connection limit of Postgres', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const warned = async (size: string, more: Record<string, string> = {}) => {
      const lines: string[] = []
      const env = { DATABASE_URL, AUTH_DB_MAX_POOL_SIZE: size, PORT: '0', ...more }
      const app = await start(env, (line) => void lines.push(line))
      await app.close()
      return lines.join()
    }
    assert.match(
      await warned('5000'),
      /This server may open 5003 connections, but Postgres allows \d+ .*lower AUTH_DB_MAX_POOL_SIZE/,
    )
    assert.doesNotMatch(await warned('4'), /may open/)
    // Database functions have connections of their own.
    assert.match(await warned('5000', functionEnv('SEND_SMS', 'send')), /may open 7503 connections/)
  })

  test('warns about a clock skew to the database', async (t) => {
    const DATABASE_URL = process.env.TEST_ADMIN_URL ?? ''
    for (const [minutes, expected] of [
      [0, undefined],
      [10, 'behind'],
      [-10, 'ahead of'],
    ] as const) {
      const output: string[] = []
      const log = { warn: (line: string) => void output.push(line) }
      const [now, since] = [Date.now() + minutes * 60_000, performance.now()]
      if (minutes !== 0) t.mock.timers.enable({ apis: ['Date'], now })
      await warnOfClock({ DATABASE_URL }, log)
      t.mock.timers.reset()
      // The mocked clock stands still, and a slow machine reads that of the database late.
      const tookSeconds = Math.ceil((performance.now() - since) / 1000)
      const skew = /^The clock of the database is (\d+) s (behind|ahead of) this server:/
      const [, seconds, direction] = skew.exec(output.join()) ?? []
      assert.equal(output.length, expected ? 1 : 0)
      assert.equal(direction, expected)
      if (seconds) assert.ok(Math.abs(Number(seconds) - 600) <= tookSeconds, seconds)
    }
  })

  test('names a missing database as the reason', async () => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.pathname = '/postern_missing'
    await assert.rejects(start({ DATABASE_URL: url.href }), ({ message }: Error) => {
      assert.match(
        message,
        /^The database of DATABASE_URL cannot be used: .*postern_missing.* Check that it runs.*$/,
      )
      return url.password === '' || !message.includes(url.password)
    })
  })

  test('rejects a database without the required TLS immediately', async () => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.searchParams.set('sslmode', 'verify-full')
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    await assert.rejects(start({ DATABASE_URL: url.href }, write), {
      message:
        /does not support SSL connections\. Check sslmode in DATABASE_URL \(docs\/errors\.md\)\.$/,
    })
    // It would warn that it waits.
    assert.doesNotMatch(lines.join(), /waiting/)
  })

  const addresses: Record<string, [env: Record<string, string>, sentence: RegExp]> = {
    'an address of another machine': [
      { AUTH_API_HOST: '192.0.2.1' },
      /^192\.0\.2\.1 is not an address of this machine: set AUTH_API_HOST to one that is\.$/,
    ],
    'a port in use': [
      {},
      /^Port \d+ on 127\.0\.0\.1 is in use by another program: stop it, or.*PORT=\d+\.$/,
    ],
  }
  for (const [what, [env, message]] of Object.entries(addresses)) {
    test(`reports ${what} in one sentence`, async (t) => {
      const { port } = await listener(t)
      const { url: DATABASE_URL } = await cloneDatabase(t)
      await assert.rejects(start({ DATABASE_URL, PORT: String(port), ...env }), { message })
    })
  }

  test('waits for the database and uses it once it is available', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await startTcpProxy(url)
    t.after(proxy.stop)
    proxy.cut()
    const lines: string[] = []
    const waiting = (line: string) => {
      lines.push(line)
      proxy.restore()
    }

    const PORT = String(await freePort())
    const app = await start({ DATABASE_URL: proxy.url, PORT }, waiting)

    t.after(() => app.close())
    assert.match(lines[0] ?? '', /the database .* does not respond yet \(.*\); waiting/)
    assert.equal((await httpGet(`http://127.0.0.1:${PORT}/ready`)).status, 200)
  })

  test('gives up on an unavailable database after half a minute', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 0 })
    const lines: string[] = []
    const waiting = (line: string) => {
      lines.push(line)
      t.mock.timers.setTime(30_000)
    }
    const DATABASE_URL = 'postgres://nobody:secret-word@127.0.0.1:1/none'

    await assert.rejects(start({ DATABASE_URL }, waiting), ({ message }: Error) => {
      assert.match(message, /^The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*$/)
      return !message.includes('secret-word')
    })

    assert.match(
      lines.join(),
      /the database none on 127\.0\.0\.1:1 does not respond yet \(connect ECONNREFUSED/,
    )
    assert.equal(lines.length, 1)
  })
})

/** Collects each warning. */
function start(env: Record<string, string>, write: (line: string) => void = () => {}) {
  return startServer(testConfig({ ...startSettings, ...env }, false), createPino('warn', { write }))
}
